"""TF-IDF over the posts of a corpus: the cosines of `TfidfModel`, computed from the postings."""

from __future__ import annotations

from collections import Counter
from functools import cached_property, lru_cache

import numpy as np

from linker.corpus.indexes.id_set import keys_of
from linker.corpus.indexes.postings import Postings, Segment, idf_of
from linker.data.types import Article
from linker.models.lexical import lexical_words
from linker.modules.kernels.scoring import add_postings, available, cosines


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
        parts = [np.zeros(0, dtype=np.float32)]
        for segment, squares, (starts, ends) in zip(
            self._postings.segments, self._postings.squares, self._spans
        ):
            products, added = self._sums(segment, starts[asked], ends[asked], of_words)
            parts.append(segment.of_live(_cosines(products, squares, added)))
        return np.concatenate(parts)

    @staticmethod
    def _sums(segment: Segment, starts: np.ndarray, ends: np.ndarray, of_words: np.ndarray) -> np.ndarray:
        """Add up the first numbers of words, times 1 + ln n, and the second ones, times its square: float64, 2 × rows.

        In alphabetical order for every post, so that equal posts get equal sums.
        """
        rows = len(segment.lengths)
        if available():
            sums = np.zeros((2, rows))
            add_postings(segment.places, starts, ends, of_words, sums)
        else:
            places = segment.posts_in(starts, ends)
            sums = np.stack(
                [np.bincount(places, np.repeat(one, ends - starts), minlength=rows) for one in of_words]
            )
        which, repeated = segment.repeated_in(starts, ends)
        places = segment.places[segment.repeated[repeated]]
        times = 1 + np.log(segment.counts[repeated].astype(np.float64))
        for of_rows, one, factors in zip(sums, of_words[:, which], (times, times**2)):
            of_rows += np.bincount(places, one * (factors - 1), minlength=rows)
        return sums

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


def _cosines(products: np.ndarray, squares: np.ndarray, added: np.ndarray) -> np.ndarray:
    """Return the products divided by the root of `squares` + `added`: float32, one per row; 0 where a product is 0."""
    if available():
        scores = np.empty(len(products), dtype=np.float32)
        cosines(products, squares, added, scores)
        return scores
    norms = np.sqrt(squares + added)
    norms[products == 0] = 1
    return (products / norms).astype(np.float32)


@lru_cache(maxsize=64)
def _words_of(text: str, stop_words: str) -> tuple[Counter[str], list[str], np.ndarray]:
    """Return the words of an article with their numbers, in alphabetical order, and their keys, uint64."""
    count = Counter(lexical_words(text, stop_words))
    words = sorted(count)
    return count, words, keys_of(words)[:, 0]
