"""Postings: the posts of each word, from which BM25 and TF-IDF are computed; of a list of posts or of a corpus."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import count
from typing import NamedTuple

import numpy as np

from linker.common.text_keys import keys_of
from linker.models.features.word_statistics import WordStatistics
from linker.models.features.words import lexical_words

#: By counts of words in other posts, no word of a post is one that occurs in a single text only: words that the other
#: posts do not have, new stories for example, lengthen the vector.
LEAST_COUNT = 2


def postings_of(texts: Sequence[str], stop_words: str) -> dict[str, np.ndarray]:
    """Return the postings of some posts, the arrays of a `Segment`; about 3 bytes per word and post.

    Words are identified by 64-bit hashes.

    Args:
        texts: the texts of the posts.
        stop_words: as for `lexical_words`.
    """
    ids = defaultdict[str, int](count().__next__)
    flat: list[int] = []
    lengths = np.empty(len(texts), dtype=np.int64)
    for i, text in enumerate(texts):
        words = lexical_words(text, stop_words)
        lengths[i] = len(words)
        flat.extend(map(ids.__getitem__, words))
    keys = keys_of(list(ids))[:, 0]
    rank = np.empty(len(ids), dtype=np.int64)
    order = np.argsort(keys)
    rank[order] = np.arange(len(ids))
    pairs = rank[flat] * len(texts) + np.repeat(np.arange(len(texts)), lengths) if flat else np.zeros(0, int)
    pairs, counts = np.unique(pairs, return_counts=True)
    which, places = np.divmod(pairs, max(len(texts), 1))
    repeated = np.flatnonzero(counts > 1)
    return {
        "words": keys[order],
        "ends": _narrow(np.searchsorted(which, np.arange(len(ids)), side="right")),
        "places": _narrow(places),
        "repeated": _narrow(repeated),
        "counts": _narrow(counts[repeated]),
        "lengths": _narrow(lengths),
    }


def _narrow(numbers: np.ndarray) -> np.ndarray:
    """Return numbers ≥ 0 in the narrowest type of `uint16` and `uint32` that holds them."""
    return numbers.astype(np.uint16 if numbers.max(initial=0) < 1 << 16 else np.uint32)


@lru_cache(maxsize=64)
def query_words(text: str, stop_words: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the words of an article in alphabetical order, their keys, uint64, and 1 + ln n, float64."""
    times = Counter(lexical_words(text, stop_words))
    words = sorted(times)
    numbers = np.array([times[word] for word in words], dtype=np.float64)
    return words, keys_of(words)[:, 0], 1 + np.log(numbers)


def bm25_idf(posts: int, containing: np.ndarray) -> np.ndarray:
    """Return Lucene's idf, ln(1 + (N − df + 0.5) / (df + 0.5)), of words in `containing` of the posts; 0 for df 0."""
    return np.where(containing > 0, np.log1p((posts - containing + 0.5) / (containing + 0.5)), 0.0)


def tfidf_idf(texts: int, containing: np.ndarray) -> np.ndarray:
    """Return ln((1 + N) / (1 + df)) + 1 as scikit-learn; 0 for a word of one text, which never matches."""
    return np.where(containing > 1, np.log((1 + texts) / (1 + containing)) + 1, 0.0)


class Segment(NamedTuple):
    """Postings of the posts of a shard.

    Attributes:
        words: uint64, ascending: hash of each word.
        ends: int64, one per word: end of its postings.
        places: uint16 or uint32, one per posting: row of the post in the shard, ascending for each word.
        repeated: int64, ascending: the postings of words that occur more than once in their post.
        counts: uint16 or uint32, one per repeated posting: occurrences of the word in the post; 1 for all others.
        lengths: uint16 or uint32, one per row: number of words.
        live: bool, one per row: whether the post is not deleted; None: none is.
    """

    words: np.ndarray
    ends: np.ndarray
    places: np.ndarray
    repeated: np.ndarray
    counts: np.ndarray
    lengths: np.ndarray
    live: np.ndarray | None = None

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray], live: np.ndarray | None) -> Segment:
        """Return the segment of arrays from `postings_of`; `live` as in the class."""
        found = {
            name: np.asarray(values) for name, values in arrays.items()
        }  # memory-mapped ones are slow to slice
        wide = {name: found.pop(name).astype(np.int64) for name in ("ends", "repeated")}
        return cls(**found, **wide, live=live)

    @property
    def addresses(self) -> list[int]:
        """Return addresses and lengths of the arrays, see `scoring.tfidf`; they are valid while the segment is."""
        assert all(one.flags.c_contiguous for one in self[:6])  # arrays of files are
        words, ends, places, repeated, counts, lengths = self[:6]
        return [
            words.ctypes.data, len(words), ends.ctypes.data, places.ctypes.data, places.itemsize > 2,
            repeated.ctypes.data, len(repeated), counts.ctypes.data, counts.itemsize > 2, len(lengths),
        ]  # fmt: skip

    def ranges(self, keys: np.ndarray) -> np.ndarray:
        """Return where the postings of words begin and end, by key: int64, words × 2; empty for an unknown word."""
        places = np.searchsorted(self.words, keys)
        found = places < len(self.words)
        found[found] = self.words[places[found]] == keys[found]
        ranges = np.zeros((len(keys), 2), dtype=np.int64)
        ranges[found, 1] = self.ends[places[found]]
        later = found & (places > 0)
        ranges[later, 0] = self.ends[places[later] - 1]
        return ranges

    def repeated_in(self, repeats: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the postings of some words that occur more than once in their post, word by word.

        Args:
            repeats: int64, n × 2: begin and end among `repeated` for each word.

        Returns:
            The number of the word, the row of the post, and the number of occurrences.
        """
        first, last = repeats.T
        which = np.repeat(np.arange(len(first)), last - first)
        at = np.arange(len(which)) + (first - np.cumsum(last - first) + (last - first))[which]
        return which, self.places[self.repeated[at]], self.counts[at]

    def posts_in(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Return the rows of the postings in some ranges, range by range."""
        pairs = zip(starts.tolist(), ends.tolist())
        return np.concatenate([self.places[:0], *(self.places[start:end] for start, end in pairs)])

    def containing(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Return the number of posts that are not deleted in each of some ranges of postings: int64."""
        if self.live is None:
            return ends - starts
        inside = np.concatenate([[0], np.cumsum(self.live[self.posts_in(starts, ends)])])
        stops = np.cumsum(ends - starts)
        counts: np.ndarray = inside[stops] - inside[stops - (ends - starts)]
        return counts

    def of_live(self, values: np.ndarray) -> np.ndarray:
        """Return the values, one per row, of the posts that are not deleted."""
        return values if self.live is None else values[self.live]


class Spans(NamedTuple):
    """Where the postings of words are in each segment.

    Attributes:
        ranges: int64, segments × words × 2: begin and end of the postings.
        repeats: int64, segments × words × 2: begin and end among `Segment.repeated`.
    """

    ranges: np.ndarray
    repeats: np.ndarray


class Postings:
    """Postings of all posts of a corpus.

    Args:
        segments: the segments, in the order of the posts.
        stop_words: the stop words that were removed.
        statistics: counts of words in other posts, which scores are computed with; None: count those of the segments.
        added_texts: number of texts that a query adds to those of the segments: 1, or 0 if they include its article.

    Attributes:
        segments: the segments.
        posts: number of posts.
        mean_length: mean number of words of the posts that are counted, ≥ 1 if there are none.
        counted: number of posts whose words are counted.
        least_count: number of posts that TF-IDF takes every word to be in at least.
        stop_words: the stop words.
    """

    def __init__(
        self,
        segments: Sequence[Segment],
        stop_words: str = "english",
        statistics: WordStatistics | None = None,
        added_texts: int = 1,
    ) -> None:
        self.segments, self.stop_words, self.added_texts = segments, stop_words, added_texts
        lengths = [segment.of_live(segment.lengths) for segment in segments]
        self.posts = sum(map(len, lengths))
        total = sum(int(some.sum(dtype=np.int64)) for some in lengths)
        self.mean_length = total / self.posts if total else 1.0
        self.counted, self._statistics = self.posts, statistics
        self.least_count = 0 if statistics is None else LEAST_COUNT
        if statistics is not None:
            self.counted, self.mean_length = statistics.posts, statistics.mean_length
            keys = keys_of(list(statistics.frequencies))[:, 0]
            order = np.argsort(keys)
            self._keys, self._counts = keys[order], np.array([*statistics.frequencies.values()], int)[order]

    def fitted_to(self, texts: Sequence[str]) -> Postings:
        """Return postings of the posts and then of all articles, by their texts; `self` if `statistics` count words."""
        if self._statistics is not None:
            return self
        articles = Segment.of(postings_of(texts, self.stop_words), None)
        return Postings([*self.segments, articles], self.stop_words, added_texts=0)

    def known(self, keys: np.ndarray) -> np.ndarray:
        """Return which words, by key, count in the length of an article: bool; all that the counted posts contain."""
        if self._statistics is None:
            return np.ones(len(keys), dtype=bool)
        places = np.minimum(np.searchsorted(self._keys, keys), max(len(self._keys) - 1, 0))
        return np.asarray(self._keys[places] == keys) if len(self._keys) else np.zeros(len(keys), dtype=bool)

    @cached_property
    def frequencies(self) -> list[np.ndarray]:
        """Return the document frequencies of each segment's words over all segments: int32."""
        if not self.segments:
            return []
        if self._statistics is not None:
            return [self.containing(segment.words) for segment in self.segments]
        keys = np.concatenate([segment.words for segment in self.segments])
        counts = np.concatenate(
            [
                segment.containing(segment.ends - np.diff(segment.ends, prepend=0), segment.ends)
                for segment in self.segments
            ]
        )
        _, which = np.unique(keys, return_inverse=True)
        total = np.bincount(which, counts).astype(np.int32)[which]
        return np.split(total, np.cumsum([len(segment.words) for segment in self.segments])[:-1])

    @cached_property
    def squares(self) -> np.ndarray:
        """Return the squared lengths of the TF-IDF vectors of the segments' rows, with `added_texts` more texts.

        The other text is the article of a query, and has no word: see `TfidfQuery`. float64, one per row.
        """
        found: list[np.ndarray] = [np.zeros(0)]
        for segment, frequencies in zip(self.segments, self.frequencies):
            idf = tfidf_idf(
                self.counted + self.added_texts, np.maximum(frequencies, self.least_count).astype(np.int64)
            )
            weights = np.repeat(idf, np.diff(segment.ends, prepend=0))
            weights[segment.repeated] *= 1 + np.log(segment.counts)
            found.append(np.bincount(segment.places, weights * weights, minlength=len(segment.lengths)))
        return np.concatenate(found)

    @cached_property
    def complete(self) -> bool:
        """Return whether no post is deleted."""
        return all(segment.live is None for segment in self.segments)

    def of_live(self, values: np.ndarray) -> np.ndarray:
        """Return the values, one per row of all segments, of the posts that are not deleted."""
        if self.complete:
            return values
        of_segments = zip(self.segments, np.split(values, self.first_rows[1:-1]))
        return np.concatenate([segment.of_live(some) for segment, some in of_segments])

    @cached_property
    def first_rows(self) -> np.ndarray:
        """Return the first row of each segment among the rows of all, and their number: int64."""
        return np.cumsum([0, *(len(segment.lengths) for segment in self.segments)], dtype=np.int64)

    @cached_property
    def repetition_tables(self) -> np.ndarray:
        """Return w − 1 and w² − 1, with w = 1 + ln n, by number n of occurrences: float64, 2 × (largest n + 1)."""
        largest = max((int(segment.counts.max(initial=1)) for segment in self.segments), default=1)
        weights = 1 + np.log(np.arange(1, largest + 1, dtype=np.float64))
        return np.stack([np.insert(weights - 1, 0, 0), np.insert(weights**2 - 1, 0, 0)])

    @cached_property
    def addresses(self) -> np.ndarray:
        """Return the addresses of the segments, see `scoring.tfidf`: int64, segments × 10."""
        return np.array([segment.addresses for segment in self.segments], dtype=np.int64).reshape(-1, 10)

    def spans(self, keys: np.ndarray) -> Spans:
        """Return where the postings of words are, by key; an unknown word has empty ranges."""
        shape = (len(self.segments), len(keys), 2)
        found = Spans(np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64))
        for segment, ranges, repeats in zip(self.segments, *found):
            ranges[:] = segment.ranges(keys)
            repeats[:] = np.searchsorted(segment.repeated, ranges)
        return found

    def containing(self, keys: np.ndarray, found: Spans | None = None) -> np.ndarray:
        """Return the document frequencies of words, by key: int64; `found`: their `spans`, if they are known."""
        if self._statistics is not None:
            counts = np.ones(len(keys), dtype=np.int64)
            known = self.known(keys)
            counts[known] = self._counts[np.searchsorted(self._keys, keys[known])]
            return counts
        ranges = (self.spans(keys) if found is None else found).ranges
        if self.complete:
            return np.asarray((ranges[..., 1] - ranges[..., 0]).sum(axis=0, dtype=np.int64))
        total = np.zeros(len(keys), dtype=np.int64)
        for segment, of_segment in zip(self.segments, ranges):
            total += segment.containing(of_segment[:, 0], of_segment[:, 1])
        return total
