"""Postings of a corpus: the posts of each word, and BM25 scores computed from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from linker.corpus.indexes.id_set import keys_of
from linker.data.types import Article
from linker.models.lexical import lexical_words

K1, B = 1.5, 0.75


class Segment(NamedTuple):
    """Postings of consecutive posts.

    Attributes:
        words: uint64, ascending: hash of each word.
        ends: int64, one per word: end of its postings.
        places: int32, one per posting: index of the post in the segment, ascending for each word.
        counts: int32, one per posting: occurrences of the word in the post.
        lengths: int32, one per post: number of words.
    """

    words: np.ndarray
    ends: np.ndarray
    places: np.ndarray
    counts: np.ndarray
    lengths: np.ndarray

    def kept(self, posts: np.ndarray) -> Segment:
        """Return the segment of some of the posts: bool, one per post."""
        keys, inside = np.repeat(self.words, np.diff(self.ends, prepend=0)), posts[self.places]
        places = (np.cumsum(posts, dtype=np.int32) - 1)[self.places[inside]]
        return segment_of(keys[inside], places, self.counts[inside], self.lengths[posts])

    def joined(self, other: Segment) -> Segment:
        """Return the segment of these posts followed by those of `other`."""
        both = (self, other)
        keys = np.concatenate(
            [np.repeat(segment.words, np.diff(segment.ends, prepend=0)) for segment in both]
        )
        order = np.argsort(keys, kind="stable")
        places = np.concatenate([self.places, other.places + np.int32(len(self.lengths))])
        counts = np.concatenate([segment.counts for segment in both])
        lengths = np.concatenate([segment.lengths for segment in both])
        return segment_of(keys[order], places[order], counts[order], lengths)


class Postings:
    """Postings of all posts of a corpus.

    Attributes:
        segments: the segments, in the order of the posts.
        posts: number of posts.
        stop_words: the stop words that were removed.
    """

    def __init__(self, segments: Sequence[Segment], stop_words: str = "english") -> None:
        self.segments, self.stop_words = segments, stop_words
        self.posts = sum(len(segment.lengths) for segment in segments)
        total = sum(int(segment.lengths.sum(dtype=np.int64)) for segment in segments)
        self._mean_length = total / self.posts if total else 1.0

    @cached_property
    def frequencies(self) -> list[np.ndarray]:
        """Return the document frequencies of each segment's words over all segments: int32."""
        if not self.segments:
            return []
        keys = np.concatenate([segment.words for segment in self.segments])
        counts = np.concatenate([np.diff(segment.ends, prepend=0) for segment in self.segments])
        _, which = np.unique(keys, return_inverse=True)
        total = np.bincount(which, counts).astype(np.int32)[which]
        return np.split(total, np.cumsum([len(segment.words) for segment in self.segments])[:-1])

    def containing(self, keys: np.ndarray) -> np.ndarray:
        """Return the document frequencies of words, by key: int64."""
        found = np.zeros(len(keys), dtype=np.int64)
        for segment in self.segments:
            starts, ends = spans(segment, keys)
            found += ends - starts
        return found

    def scores(self, articles: Sequence[Article], k1: float = K1, b: float = B) -> np.ndarray:
        """Return the mean BM25 score over the articles: float32, one per post; see `BM25Model`."""
        # In alphabetical order for every post, so that equal posts get equal sums.
        words, weights = self._asked(articles)
        if not words:
            return np.zeros(self.posts, dtype=np.float32)
        keys = keys_of(words)[:, 0]
        parts = [
            _part(segment, *spans(segment, keys), weights, self._mean_length, k1, b)
            for segment in self.segments
        ]
        return np.concatenate(parts)

    def terms(self, articles: Sequence[Article], text: str, k1: float = K1, b: float = B) -> dict[str, float]:
        """Return word → its part of a post's BM25 score, for the words that the post shares with the articles."""
        own = lexical_words(text, self.stop_words)
        asked = dict(zip(*self._asked(articles)))
        norm = k1 * ((1 - b) + b * len(own) / self._mean_length)
        return {
            word: float(asked[word] * times / (norm + times))
            for word, times in Counter(own).items()
            if asked.get(word, 0) > 0
        }

    def _asked(self, articles: Sequence[Article]) -> tuple[list[str], np.ndarray]:
        """Return the words of the articles in alphabetical order, and their weights with idf."""
        counts = [Counter(lexical_words(article.full_text, self.stop_words)) for article in articles]
        words = sorted(set().union(*counts))
        containing = self.containing(keys_of(words)[:, 0])
        idf = np.log1p((self.posts - containing + 0.5) / (containing + 0.5))
        idf[containing == 0] = 0
        return words, idf * _query(counts, words, idf)


def _query(counts: Sequence[Counter[str]], words: Sequence[str], idf: np.ndarray) -> np.ndarray:
    """Return the weight of each word, the mean over the articles: 1 + ln n, divided by the root of Σ weight × idf."""
    total = np.zeros(len(words))
    for count in counts:
        weights = np.array([1 + np.log(count[word]) if word in count else 0.0 for word in words])
        scale = np.sqrt(weights @ idf)
        total += weights / (scale or 1)
    return total / len(counts)


def spans(segment: Segment, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where the postings of words begin and end; an unknown word has an empty range."""
    places = np.searchsorted(segment.words, keys)
    found = places < len(segment.words)
    found[found] = segment.words[places[found]] == keys[found]
    starts, ends = np.zeros((2, len(keys)), dtype=np.int64)
    ends[found] = segment.ends[places[found]]
    later = found & (places > 0)
    starts[later] = segment.ends[places[later] - 1]
    return starts, ends


def _part(
    segment: Segment,
    starts: np.ndarray,
    ends: np.ndarray,
    weights: np.ndarray,
    mean_length: float,
    k1: float,
    b: float,
) -> np.ndarray:
    """Return the scores of a segment's posts, summed in float64."""
    pairs = list(zip(starts.tolist(), ends.tolist()))
    places = np.concatenate([segment.places[start:end] for start, end in pairs])
    counts = np.concatenate([segment.counts[start:end] for start, end in pairs])
    norms = k1 * ((1 - b) + b * segment.lengths / mean_length)
    shares = np.repeat(weights, ends - starts) * (counts / (norms[places] + counts))
    return np.bincount(places, shares, minlength=len(segment.lengths)).astype(np.float32)


def segment_of(keys: np.ndarray, places: np.ndarray, counts: np.ndarray, lengths: np.ndarray) -> Segment:
    """Return the segment of postings that are sorted by the keys of their words."""
    last = np.ones(len(keys), dtype=bool)
    last[:-1] = keys[1:] != keys[:-1]
    return Segment(keys[last], np.flatnonzero(last) + 1, places, counts, lengths)
