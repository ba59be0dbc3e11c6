"""Postings of a corpus: the posts of each word, and BM25 scores computed from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from linker.corpus.indexes.id_set import keys_of
from linker.corpus.indexes.words import words_file, words_of
from linker.corpus.storage.shards import Shards
from linker.data.types import Article
from linker.models.independent_tfidf import LEAST_COUNT
from linker.models.lexical import lexical_words
from linker.models.word_statistics import WordStatistics
from linker.modules.kernels.scoring import available, find_words

K1, B = 1.5, 0.75


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
        """Return the segment of arrays from `words_of`; `live` as in the class."""
        found = {
            name: np.asarray(values) for name, values in arrays.items()
        }  # memory-mapped ones are slow to slice
        wide = {name: found.pop(name).astype(np.int64) for name in ("ends", "repeated")}
        return cls(**found, **wide, live=live)

    @property
    def addresses(self) -> list[int]:
        """Return addresses and lengths of the arrays, see `scoring.find_words`; they are valid while the segment is."""
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

    def occurrences(self, ranges: np.ndarray, repeats: np.ndarray) -> np.ndarray:
        """Return how often the word of each posting in some ranges occurs in its post: float64, range by range.

        Args:
            ranges: int64, n × 2: begin and end of the postings.
            repeats: int64, n × 2: begin and end among `repeated`.
        """
        starts, ends = ranges.T
        found = np.ones(int((ends - starts).sum()))
        which, at = self.repeated_in(repeats)
        shifts = np.cumsum(ends - starts) - ends
        found[self.repeated[at] + shifts[which]] = self.counts[at]
        return found

    @staticmethod
    def repeated_in(repeats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of the range and the place in `repeated` of each repeated word in some ranges: int64.

        Args:
            repeats: as for `occurrences`.
        """
        first, last = repeats.T
        which = np.repeat(np.arange(len(first)), last - first)
        return which, np.arange(len(which)) + (first - np.cumsum(last - first) + (last - first))[which]

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

    Attributes:
        segments: the segments.
        posts: number of posts.
        counted: number of posts whose words are counted.
        least_count: number of posts that TF-IDF takes every word to be in at least.
        stop_words: the stop words.
    """

    def __init__(
        self,
        segments: Sequence[Segment],
        stop_words: str = "english",
        statistics: WordStatistics | None = None,
    ) -> None:
        self.segments, self.stop_words = segments, stop_words
        lengths = [segment.of_live(segment.lengths) for segment in segments]
        self.posts = sum(map(len, lengths))
        total = sum(int(some.sum(dtype=np.int64)) for some in lengths)
        self._mean_length = total / self.posts if total else 1.0
        self.counted, self._statistics = self.posts, statistics
        self.least_count = 0 if statistics is None else LEAST_COUNT
        if statistics is not None:
            self.counted, self._mean_length = statistics.posts, statistics.mean_length
            keys = keys_of(list(statistics.frequencies))[:, 0]
            order = np.argsort(keys)
            self._keys, self._counts = keys[order], np.array([*statistics.frequencies.values()], int)[order]

    def counted_by(self, statistics: WordStatistics) -> Postings:
        """Return the same postings with counts of words in other posts."""
        return Postings(self.segments, self.stop_words, statistics)

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
        """Return the squared lengths of the TF-IDF vectors of the segments' rows, with one more text than there are.

        The other text is the article of a query, and has no word: see `TfidfQuery`. float64, one per row.
        """
        found: list[np.ndarray] = [np.zeros(0)]
        for segment, frequencies in zip(self.segments, self.frequencies):
            idf = idf_of(self.counted + 1, np.maximum(frequencies, self.least_count).astype(np.int64))
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

    def rows_of(self, places: np.ndarray) -> np.ndarray:
        """Return the rows, among those of all segments, of posts among those that are not deleted: int64."""
        return places if self.complete else self._live_rows[places]

    @cached_property
    def _live_rows(self) -> np.ndarray:
        """Return the row of each post that is not deleted: int64."""
        return self.of_live(np.arange(self.first_rows[-1]))

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
        """Return the addresses of the segments, see `scoring.find_words`: int64, segments × 10."""
        return np.array([segment.addresses for segment in self.segments], dtype=np.int64).reshape(-1, 10)

    def spans(self, keys: np.ndarray) -> Spans:
        """Return where the postings of words are, by key; an unknown word has empty ranges."""
        shape = (len(self.segments), len(keys), 2)
        found = Spans(np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64))
        if available():
            find_words(self.addresses, np.ascontiguousarray(keys), *found)
            return found
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

    def scores(self, articles: Sequence[Article], k1: float = K1, b: float = B) -> np.ndarray:
        """Return the mean BM25 score over the articles: float32, one per post; see `BM25Model`."""
        # In alphabetical order for every post, so that equal posts get equal sums.
        words, weights, found = self._asked(articles)
        if not words:
            return np.zeros(self.posts, dtype=np.float32)
        parts = [
            _part(segment, ranges, repeats, weights, self._mean_length, k1, b)
            for segment, ranges, repeats in zip(self.segments, *found)
        ]
        return np.concatenate(parts)

    def terms(self, articles: Sequence[Article], text: str, k1: float = K1, b: float = B) -> dict[str, float]:
        """Return word → its part of a post's BM25 score, for the words that the post shares with the articles."""
        own = lexical_words(text, self.stop_words)
        asked = dict(zip(*self._asked(articles)[:2]))
        norm = k1 * ((1 - b) + b * len(own) / self._mean_length)
        return {
            word: float(asked[word] * times / (norm + times))
            for word, times in Counter(own).items()
            if asked.get(word, 0) > 0
        }

    def _asked(self, articles: Sequence[Article]) -> tuple[list[str], np.ndarray, Spans]:
        """Return the words of the articles in alphabetical order, their weights with idf, and their `spans`."""
        counts = [Counter(lexical_words(article.full_text, self.stop_words)) for article in articles]
        words = sorted(set().union(*counts))
        keys = keys_of(words)[:, 0]
        found = self.spans(keys)
        containing = self.containing(keys, found)
        idf = np.log1p((self.counted - containing + 0.5) / (containing + 0.5))
        idf[containing == 0] = 0
        return words, idf * _query(counts, words, np.where(self.known(keys), idf, 0)), found


def postings_of(shards: Shards, stop_words: str) -> Postings:
    """Return the postings of a corpus; those that are missing are computed and stored.

    Args:
        shards: the posts.
        stop_words: as for `lexical_words`.

    Raises:
        DataError: if a file is damaged.
        LinkerError: if the disk is full.
    """
    arrays = shards.arrays(
        words_file(stop_words), "reading words", lambda shard: words_of(shard.texts(), stop_words)
    )
    segments = [Segment.of(one, shard.live) for one, shard in zip(arrays, shards)]
    return Postings(segments, stop_words)


def _query(counts: Sequence[Counter[str]], words: Sequence[str], idf: np.ndarray) -> np.ndarray:
    """Return the weight of each word, the mean over the articles: 1 + ln n, divided by the root of Σ weight × idf."""
    total = np.zeros(len(words))
    for count in counts:
        weights = np.array([1 + np.log(count[word]) if word in count else 0.0 for word in words])
        scale = np.sqrt(weights @ idf)
        total += weights / (scale or 1)
    return total / len(counts)


def idf_of(texts: int, containing: np.ndarray) -> np.ndarray:
    """Return ln((1 + texts) / (1 + texts with the word)) + 1; 0 for a word of one text, which never matches."""
    idf = np.log((1 + texts) / (1 + containing)) + 1
    return np.where(containing > 1, idf, 0.0)


def _part(
    segment: Segment,
    ranges: np.ndarray,
    repeats: np.ndarray,
    weights: np.ndarray,
    mean_length: float,
    k1: float,
    b: float,
) -> np.ndarray:
    """Return the scores of a segment's posts, summed in float64."""
    starts, ends = ranges.T
    places, counts = segment.posts_in(starts, ends), segment.occurrences(ranges, repeats)
    norms = k1 * ((1 - b) + b * segment.lengths / mean_length)
    shares = np.repeat(weights, ends - starts) * (counts / (norms[places] + counts))
    return segment.of_live(np.bincount(places, shares, minlength=len(segment.lengths)).astype(np.float32))
