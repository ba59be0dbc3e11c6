"""TF-IDF over the posts of a corpus: the cosines of `TfidfModel`, computed from the postings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cached_property, lru_cache
from itertools import starmap

import numpy as np

from linker.common.concurrency import in_threads
from linker.corpus.indexes.id_set import keys_of
from linker.corpus.indexes.postings import Postings, Segment, idf_of
from linker.data.types import Article
from linker.models.lexical import least_square, lexical_words
from linker.modules.kernels.scoring import TfidfArrays, available, tfidf

# Scored by one thread at a time.
_SEGMENTS = 8


class TfidfQuery:
    """TF-IDF fitted on all posts of a corpus and on one article, as `TfidfModel.score_independently` does.

    Document frequencies count both. The lengths of the posts' vectors without the article's counts are computed once
    per corpus, `Postings.squares`; each query changes those of the posts that contain a word of the article.

    Args:
        postings: the words of the posts.
        article: the query.
        min_words: see `TfidfModel`.
    """

    def __init__(self, postings: Postings, article: Article, min_words: int) -> None:
        self._postings = postings
        self._least = least_square(min_words, postings.counted + 1)
        self._words, keys, self._frequencies = _words_of(article.full_text, postings.stop_words)
        self._spans, self._known = postings.spans(keys), postings.known(keys)
        self._containing = np.maximum(postings.containing(keys, self._spans), postings.least_count)
        self._idf = idf_of(postings.counted + 1, 1 + self._containing)

    @cached_property
    def _weights(self) -> np.ndarray:
        """Return the article's vector before normalization: float64, one per word."""
        return self._frequencies * self._idf

    @cached_property
    def _length(self) -> float:
        """Return the length of the article's vector."""
        known = self._weights[self._known]
        return float(np.sqrt(known @ known)) or 1.0

    def scores(self) -> np.ndarray:
        """Return the cosines of all posts with the article: float32, 0 to 1."""
        postings = self._postings
        if available():
            scores = np.empty(postings.first_rows[-1], dtype=np.float32)
            self._in_threads(lambda arrays, rows: tfidf(arrays, scores[rows]))
            return postings.of_live(scores)
        of_segments = zip(postings.segments, *self._spans, postings.first_rows)
        return postings.of_live(
            np.concatenate([np.zeros(0, dtype=np.float32), *starmap(self._cosines, of_segments)])
        )

    def scores_at(self, places: np.ndarray) -> np.ndarray:
        """Return the cosines of some posts, bit for bit those of `scores`: float32, one per place.

        Args:
            places: int64, ascending: indices of posts among those that are not deleted.
        """
        if not available():
            return self.scores()[places]
        rows = self._postings.rows_of(places)
        scores = np.empty(len(rows), dtype=np.float32)

        def fill(arrays: TfidfArrays, part: slice) -> None:
            begin, end = np.searchsorted(rows, [part.start, part.stop])
            tfidf(arrays, scores[begin:end], rows[begin:end] - part.start)

        self._in_threads(fill)
        return scores

    def _in_threads(self, fill: Callable[[TfidfArrays, slice], None]) -> None:
        """Call `fill` with the numbers of some segments and with their rows, for all segments."""
        postings, spans = self._postings, self._spans
        of_words, tables, squares = self._of_words, postings.repetition_tables, postings.squares
        first = postings.first_rows.tolist()

        def fill_from(begin: int) -> None:
            end = min(begin + _SEGMENTS, len(first) - 1)
            some, rows = slice(begin, end), slice(first[begin], first[end])
            of_some = (postings.addresses[some], spans.ranges[some], spans.repeats[some])
            fill(TfidfArrays(*of_some, of_words, tables, squares[rows], self._least), rows)

        in_threads(fill_from, range(0, len(first) - 1, _SEGMENTS))

    @cached_property
    def _of_words(self) -> np.ndarray:
        """Return what each word of the article adds to a post: float64, 2 × words.

        The first numbers are parts of the products, which count 1 + ln n times, the second ones changes of the squared
        lengths, which count its square times.
        """
        weights = self._weights
        length = self._length
        before = idf_of(self._postings.counted + 1, self._containing)
        return np.array([weights * self._idf / length, self._idf**2 - before**2])

    def _cosines(self, segment: Segment, ranges: np.ndarray, repeats: np.ndarray, first: int) -> np.ndarray:
        """Return the cosines of the rows of a segment, as the native library computes them: float32.

        The numbers of words are added up in alphabetical order for every post, so that equal posts get equal sums.
        """
        products, added = _sums(segment, ranges, repeats, self._of_words, self._postings.repetition_tables)
        squares = self._postings.squares[first : first + len(products)] + added
        norms = np.sqrt(np.maximum(squares, self._least))
        norms[products == 0] = 1
        return np.asarray(products / norms, dtype=np.float32)

    def terms(self, text: str) -> dict[str, float]:
        """Return the words that a post shares with the article, and their parts of the cosine."""
        length = self._length
        of_article = dict(zip(self._words, (self._weights / length).tolist()))
        count = Counter(lexical_words(text, self._postings.stop_words))
        words = sorted(count)
        keys = keys_of(words)[:, 0]
        containing = np.maximum(self._postings.containing(keys), self._postings.least_count)
        containing += np.array([word in of_article for word in words], dtype=np.int64)
        idf = idf_of(self._postings.counted + 1, containing)
        weights = np.array([1 + np.log(count[word]) for word in words]) * idf
        weights /= np.sqrt(max(weights @ weights, self._least)) or 1
        parts = weights * np.array([of_article.get(word, 0.0) for word in words])
        return {word: float(part) for word, part in zip(words, parts) if part > 0}


def _sums(
    segment: Segment, ranges: np.ndarray, repeats: np.ndarray, of_words: np.ndarray, tables: np.ndarray
) -> np.ndarray:
    """Add up the numbers of words of each row of a segment: float64, 2 × rows; see `TfidfQuery._of_words`."""
    rows = len(segment.lengths)
    starts, ends = ranges.T
    places = segment.posts_in(starts, ends)
    sums = np.stack([np.bincount(places, np.repeat(one, ends - starts), minlength=rows) for one in of_words])
    which, repeated = segment.repeated_in(repeats)
    places = segment.places[segment.repeated[repeated]]
    for of_rows, one, table in zip(sums, of_words[:, which], tables):
        of_rows += np.bincount(places, one * table[segment.counts[repeated]], minlength=rows)
    return sums


@lru_cache(maxsize=64)
def _words_of(text: str, stop_words: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the words of an article in alphabetical order, their keys, uint64, and 1 + ln n, float64."""
    count = Counter(lexical_words(text, stop_words))
    words = sorted(count)
    numbers = np.array([count[word] for word in words], dtype=np.float64)
    return words, keys_of(words)[:, 0], 1 + np.log(numbers)
