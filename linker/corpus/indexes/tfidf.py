"""TF-IDF over the posts of a corpus: the cosines of `TfidfModel`, computed from the postings."""

from __future__ import annotations

from collections import Counter
from functools import cached_property

import numpy as np

from linker.corpus.indexes.id_set import keys_of
from linker.corpus.indexes.postings import Postings, Segment, spans
from linker.data.types import Article
from linker.models.lexical import lexical_words


class TfidfQuery:
    """TF-IDF fitted on all posts of a corpus and on one article, as `TfidfModel.score_independently` does.

    Document frequencies count both, so they cannot be stored: every query reads all postings once, 8 bytes each.

    Args:
        postings: the words of the posts.
        article: the query.
    """

    def __init__(self, postings: Postings, article: Article) -> None:
        self._postings = postings
        self._count = Counter(lexical_words(article.full_text, postings.stop_words))
        self._words = sorted(self._count)
        self._keys = keys_of(self._words)[:, 0]
        self._texts = postings.posts + 1
        self._idf = self._idf_of(1 + postings.containing(self._keys))

    @cached_property
    def _norms(self) -> list[np.ndarray]:
        pairs = zip(self._postings.segments, self._postings.frequencies)
        return [self._norms_of(segment, frequencies) for segment, frequencies in pairs]

    @cached_property
    def _weights(self) -> np.ndarray:
        """Return the article's vector before normalization: float64, one per word."""
        frequencies = np.array([self._count[word] for word in self._words], dtype=np.float64)
        weights: np.ndarray = (1 + np.log(frequencies)) * self._idf
        return weights

    def scores(self) -> np.ndarray:
        """Return the cosines of all posts with the article: float32, 0 to 1."""
        weights = self._weights
        length = np.sqrt(weights @ weights)
        asked = np.flatnonzero(weights)
        parts = [np.zeros(0, dtype=np.float32)]
        for segment, norms in zip(self._postings.segments, self._norms):
            products: np.ndarray = np.zeros(len(segment.lengths))
            if len(asked):
                starts, ends = spans(segment, self._keys[asked])
                # In alphabetical order for every post, so that equal posts get equal sums.
                pairs = list(zip(starts.tolist(), ends.tolist()))
                places = np.concatenate([segment.places[start:end] for start, end in pairs])
                times = np.concatenate([segment.counts[start:end] for start, end in pairs])
                shares = np.repeat((weights * self._idf)[asked] / length, ends - starts)
                products = np.bincount(places, shares * (1 + np.log(times)), minlength=len(products))
            parts.append((products / norms).astype(np.float32))
        return np.concatenate(parts)

    def terms(self, text: str) -> dict[str, float]:
        """Return the words that a post shares with the article, and their parts of the cosine."""
        count = Counter(lexical_words(text, self._postings.stop_words))
        words = sorted(count)
        keys = keys_of(words)[:, 0]
        containing = self._postings.containing(keys)
        containing += np.array([word in self._count for word in words], dtype=np.int64)
        idf = self._idf_of(containing)
        weights = np.array([1 + np.log(count[word]) for word in words]) * idf
        weights /= np.sqrt(weights @ weights) or 1
        length = np.sqrt(self._weights @ self._weights) or 1
        of_article = dict(zip(self._words, (self._weights / length).tolist()))
        parts = weights * np.array([of_article.get(word, 0.0) for word in words])
        return {word: float(part) for word, part in zip(words, parts) if part > 0}

    def _idf_of(self, containing: np.ndarray) -> np.ndarray:
        """Return ln((1 + texts) / (1 + texts with the word)) + 1; 0 for a word of one text, which never matches."""
        idf = np.log((1 + self._texts) / (1 + containing)) + 1
        return np.where(containing > 1, idf, 0.0)

    def _norms_of(self, segment: Segment, frequencies: np.ndarray) -> np.ndarray:
        """Return the lengths of the posts' vectors: float64; 1 for a post without a known word."""
        containing = frequencies.astype(np.int64)
        places = np.minimum(np.searchsorted(segment.words, self._keys), max(len(segment.words) - 1, 0))
        if len(segment.words):
            found = segment.words[places] == self._keys
            containing[places[found]] += 1
        idf = self._idf_of(containing)
        weights = (1 + np.log(segment.counts)) * np.repeat(idf, np.diff(segment.ends, prepend=0))
        squares = np.bincount(segment.places, weights * weights, minlength=len(segment.lengths))
        norms: np.ndarray = np.sqrt(squares)
        norms[norms == 0] = 1
        return norms
