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
from linker.models.lexical import lexical_words
from linker.modules.kernels.scoring import available, find_words

K1, B = 1.5, 0.75
SQUARES = "squares."


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

    def occurrences(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Return how often the word of each posting in some ranges occurs in its post: float64, range by range."""
        found = np.ones(int((ends - starts).sum()))
        which, at = self.repeated_in(starts, ends)
        shifts = np.cumsum(ends - starts) - ends
        found[self.repeated[at] + shifts[which]] = self.counts[at]
        return found

    def repeated_in(self, starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the postings of repeated words in some ranges, range by range.

        Returns:
            The number of the range and the place in `repeated` of each, int64.
        """
        first, last = np.searchsorted(self.repeated, [starts, ends])
        which = np.repeat(np.arange(len(starts)), last - first)
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


class Postings:
    """Postings of all posts of a corpus.

    Args:
        segments: the segments, in the order of the posts.
        stop_words: the stop words that were removed.
        shards: the posts, which store `squares` if they have an index; None: nothing is stored.

    Attributes:
        segments: the segments.
        posts: number of posts.
        stop_words: the stop words.
    """

    def __init__(
        self, segments: Sequence[Segment], stop_words: str = "english", shards: Shards | None = None
    ) -> None:
        self.segments, self.stop_words, self._shards = segments, stop_words, shards
        lengths = [segment.of_live(segment.lengths) for segment in segments]
        self.posts = sum(map(len, lengths))
        total = sum(int(some.sum(dtype=np.int64)) for some in lengths)
        self._mean_length = total / self.posts if total else 1.0

    @cached_property
    def frequencies(self) -> list[np.ndarray]:
        """Return the document frequencies of each segment's words over all segments: int32."""
        if not self.segments:
            return []
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
        if self._shards is None or self._shards.centroids is None:
            return self._computed_squares()
        stored = self._shards.joint_arrays(
            SQUARES + self.stop_words,
            self._shards.rows,
            lambda: {"values": self._computed_squares()},
        )
        return np.asarray(stored["values"])

    @staticmethod
    def fit(shards: Shards, stop_words: str) -> bool:
        """Return whether the stored `squares` are those of the postings; True if none are stored."""
        stored = shards.stored_joint_arrays(SQUARES + stop_words, shards.rows)
        return stored is None or np.array_equal(
            stored["values"], postings_of(shards, stop_words)._computed_squares()
        )

    def _computed_squares(self) -> np.ndarray:
        found: list[np.ndarray] = [np.zeros(0)]
        for segment, frequencies in zip(self.segments, self.frequencies):
            idf = idf_of(self.posts + 1, frequencies.astype(np.int64))
            weights = np.repeat(idf, np.diff(segment.ends, prepend=0))
            weights[segment.repeated] *= 1 + np.log(segment.counts)
            found.append(np.bincount(segment.places, weights * weights, minlength=len(segment.lengths)))
        return np.concatenate(found)

    @cached_property
    def complete(self) -> bool:
        """Return whether no post is deleted."""
        return all(segment.live is None for segment in self.segments)

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

    def spans(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return where the postings of words begin and end in each segment: int64, segments × words."""
        if available():
            starts, ends = np.empty((2, len(self.segments), len(keys)), dtype=np.int64)
            find_words(self.addresses, np.ascontiguousarray(keys), starts, ends)
            return starts, ends
        found = [spans(segment, keys) for segment in self.segments]
        starts, ends = np.array(found, dtype=np.int64).reshape(-1, 2, len(keys)).swapaxes(0, 1)
        return starts, ends

    def containing(self, keys: np.ndarray, found: tuple[np.ndarray, np.ndarray] | None = None) -> np.ndarray:
        """Return the document frequencies of words, by key: int64; `found`: their `spans`, if they are known."""
        starts, ends = self.spans(keys) if found is None else found
        if self.complete:
            return np.asarray((ends - starts).sum(axis=0, dtype=np.int64))
        total = np.zeros(len(keys), dtype=np.int64)
        for segment, *span in zip(self.segments, starts, ends):
            total += segment.containing(*span)
        return total

    def scores(self, articles: Sequence[Article], k1: float = K1, b: float = B) -> np.ndarray:
        """Return the mean BM25 score over the articles: float32, one per post; see `BM25Model`."""
        # In alphabetical order for every post, so that equal posts get equal sums.
        words, weights, found = self._asked(articles)
        if not words:
            return np.zeros(self.posts, dtype=np.float32)
        parts = [
            _part(segment, starts, ends, weights, self._mean_length, k1, b)
            for segment, starts, ends in zip(self.segments, *found)
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

    def _asked(
        self, articles: Sequence[Article]
    ) -> tuple[list[str], np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """Return the words of the articles in alphabetical order, their weights with idf, and their `spans`."""
        counts = [Counter(lexical_words(article.full_text, self.stop_words)) for article in articles]
        words = sorted(set().union(*counts))
        keys = keys_of(words)[:, 0]
        found = self.spans(keys)
        containing = self.containing(keys, found)
        idf = np.log1p((self.posts - containing + 0.5) / (containing + 0.5))
        idf[containing == 0] = 0
        return words, idf * _query(counts, words, idf), found


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
    return Postings(segments, stop_words, shards)


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
    places, counts = segment.posts_in(starts, ends), segment.occurrences(starts, ends)
    norms = k1 * ((1 - b) + b * segment.lengths / mean_length)
    shares = np.repeat(weights, ends - starts) * (counts / (norms[places] + counts))
    return segment.of_live(np.bincount(places, shares, minlength=len(segment.lengths)).astype(np.float32))
