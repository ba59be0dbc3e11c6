"""TF-IDF over the posts of a corpus: the cosines of `TfidfModel`, computed from the postings."""

from __future__ import annotations

from collections import Counter
from functools import cached_property, lru_cache

import numpy as np

from linker.common.concurrency import in_threads
from linker.corpus.indexes.id_set import keys_of
from linker.corpus.indexes.postings import Postings, Segment, idf_of
from linker.data.types import Article
from linker.models.lexical import lexical_words
from linker.modules.kernels.scoring import available, tfidf

# Scored by one thread at a time.
_SEGMENTS = 8


class TfidfQuery:
    """TF-IDF fitted on all posts of a corpus and on one article, as `TfidfModel.score_independently` does.

    Document frequencies count both. The lengths of the posts' vectors without the article's counts are computed once
    per corpus, `Postings.squares`; each query changes those of the posts that contain a word of the article.

    Args:
        postings: the words of the posts.
        article: the query.
    """

    def __init__(self, postings: Postings, article: Article) -> None:
        self._postings = postings
        self._count, self._words, keys = _words_of(article.full_text, postings.stop_words)
        self._spans = postings.spans(keys)
        self._containing = postings.containing(keys, self._spans)
        self._idf = idf_of(postings.posts + 1, 1 + self._containing)

    @cached_property
    def _weights(self) -> np.ndarray:
        """Return the article's vector before normalization: float64, one per word."""
        frequencies = np.array([self._count[word] for word in self._words], dtype=np.float64)
        weights: np.ndarray = (1 + np.log(frequencies)) * self._idf
        return weights

    def scores(self) -> np.ndarray:
        """Return the cosines of all posts with the article: float32, 0 to 1."""
        weights = self._weights
        length = np.sqrt(weights @ weights) or 1.0
        before = idf_of(self._postings.posts + 1, self._containing)
        asked = np.flatnonzero(weights)
        of_words = np.stack(
            [(weights * self._idf)[asked] / length, self._idf[asked] ** 2 - before[asked] ** 2]
        )  # (products and changes of squared lengths, words)
        starts, ends = (np.ascontiguousarray(some[:, asked]) for some in self._spans)
        scores = self._cosines(starts, ends, of_words)
        if self._postings.complete:
            return scores
        of_segments = zip(self._postings.segments, np.split(scores, self._postings.first_rows[1:-1]))
        return np.concatenate([segment.of_live(some) for segment, some in of_segments])

    def _cosines(self, starts: np.ndarray, ends: np.ndarray, of_words: np.ndarray) -> np.ndarray:
        """Return the cosines of all rows: float32.

        The numbers of words are added up in alphabetical order for every post, so that equal posts get equal sums.

        Args:
            starts: int64, segments × words: where the postings begin.
            ends: int64, segments × words: where they end.
            of_words: float64, 2 × words: parts of the products, which count 1 + ln n times, and of the squared
                lengths, which count its square times.
        """
        postings, squares = self._postings, self._postings.squares
        segments, first = postings.segments, postings.first_rows.tolist()
        scores = np.empty(first[-1], dtype=np.float32)
        if available():

            def fill(which: int) -> None:
                some = slice(which, which + _SEGMENTS)
                rows = slice(first[which], first[min(which + _SEGMENTS, len(segments))])
                tfidf(
                    postings.addresses[some], starts[some], ends[some], of_words, postings.repetition_tables,
                    squares[rows], scores[rows],
                )  # fmt: skip

            in_threads(fill, range(0, len(segments), _SEGMENTS))
            return scores
        for segment, start, stop, *span in zip(segments, first, first[1:], starts, ends):
            rows = slice(start, stop)
            products, added = _sums(segment, span[0], span[1], of_words, postings.repetition_tables)
            norms = np.sqrt(squares[rows] + added)
            norms[products == 0] = 1
            scores[rows] = products / norms
        return scores

    def terms(self, text: str) -> dict[str, float]:
        """Return the words that a post shares with the article, and their parts of the cosine."""
        count = Counter(lexical_words(text, self._postings.stop_words))
        words = sorted(count)
        keys = keys_of(words)[:, 0]
        containing = self._postings.containing(keys)
        containing += np.array([word in self._count for word in words], dtype=np.int64)
        idf = idf_of(self._postings.posts + 1, containing)
        weights = np.array([1 + np.log(count[word]) for word in words]) * idf
        weights /= np.sqrt(weights @ weights) or 1
        length = np.sqrt(self._weights @ self._weights) or 1
        of_article = dict(zip(self._words, (self._weights / length).tolist()))
        parts = weights * np.array([of_article.get(word, 0.0) for word in words])
        return {word: float(part) for word, part in zip(words, parts) if part > 0}


def _sums(
    segment: Segment, starts: np.ndarray, ends: np.ndarray, of_words: np.ndarray, tables: np.ndarray
) -> np.ndarray:
    """Add up the numbers of words of each row of a segment: float64, 2 × rows; see `TfidfQuery._cosines`."""
    rows = len(segment.lengths)
    places = segment.posts_in(starts, ends)
    sums = np.stack([np.bincount(places, np.repeat(one, ends - starts), minlength=rows) for one in of_words])
    which, repeated = segment.repeated_in(starts, ends)
    places = segment.places[segment.repeated[repeated]]
    for of_rows, one, table in zip(sums, of_words[:, which], tables):
        of_rows += np.bincount(places, one * table[segment.counts[repeated]], minlength=rows)
    return sums


@lru_cache(maxsize=64)
def _words_of(text: str, stop_words: str) -> tuple[Counter[str], list[str], np.ndarray]:
    """Return the words of an article with their numbers, in alphabetical order, and their keys, uint64."""
    count = Counter(lexical_words(text, stop_words))
    words = sorted(count)
    return count, words, keys_of(words)[:, 0]
