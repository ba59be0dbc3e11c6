"""The embeddings of a corpus, memory-mapped: in 8 bits where the model rounds to 8 bits, else float32."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from linker.common.errors import DataError
from linker.corpus.storage.array_files import Arrays
from linker.corpus.storage.shards import Shard
from linker.models.embedding_model import eight_bits
from linker.modules.kernels.scoring import available, gather_rows

VECTORS = "embeddings"
# A 127th of 1, rounded up.
_LARGEST_SCALE = 1 / 126
_ROWS_AT_ONCE = 65_536


def packed(vectors: np.ndarray) -> dict[str, np.ndarray]:
    """Return embeddings as they are stored, without loss.

    Args:
        vectors: float32, posts × dim.

    Returns:
        `values` and `scales` (int8, posts × dim, and float16 or float32, one per post) if `eight_bits` rounded the
        embeddings; else `values` alone, float32.
    """
    if len(vectors) and np.isfinite(vectors).all():
        values, scales = eight_bits(vectors)
        if np.array_equal(values * scales[:, None], vectors):
            with np.errstate(over="ignore"):
                half = scales.astype(np.float16)
            return {"values": values, "scales": half if np.array_equal(half, scales) else scales}
    return {"values": vectors.astype(np.float32, copy=False)}


@dataclass(frozen=True)
class ShardVectors:
    """The embeddings of a shard.

    Attributes:
        values: int8 or float32, rows × dim.
        scales: float16 or float32, one per row, which the values are multiplied with; None: 1.
        live: which rows are posts that are not deleted, bool; None: all.
    """

    values: np.ndarray
    scales: np.ndarray | None
    live: np.ndarray | None = None

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray], live: np.ndarray | None = None) -> ShardVectors:
        """Return the embeddings in the arrays of a file; `live` as in the class."""
        return cls(arrays["values"], arrays.get("scales"), live)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def posts(self) -> int:
        """Return the number of posts that are not deleted."""
        return len(self) if self.live is None else int(np.count_nonzero(self.live))

    def rows(self, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Return the embeddings of some rows: float32, rows × dim."""
        values = self.values[start:stop]
        if self.scales is None:
            return np.asarray(values)
        return values.astype(np.float32) * self.scales[start:stop, None].astype(np.float32)

    @cached_property
    def largest(self) -> float:
        """Return a bound on the absolute numbers of the embeddings."""
        if self.scales is None:
            values = np.asarray(self.values)
            return float(max(values.max(initial=0), -values.min(initial=0)))
        scales = np.asarray(self.scales, dtype=np.float32)
        # Embeddings of unit length have no larger factor. Those of texts without known words have, but are zeros.
        usual = scales <= _LARGEST_SCALE
        largest = 128.0 * float(scales[usual].max(initial=0))
        for rows in np.array_split(np.flatnonzero(~usual), 1 + len(scales) // _ROWS_AT_ONCE):
            numbers = np.abs(np.asarray(self.values)[rows].astype(np.float32)) * scales[rows, None]
            largest = max(largest, float(numbers.max(initial=0)))
        return largest

    def taken(self, rows: np.ndarray) -> ShardVectors:
        """Return the embeddings in some rows, in memory."""
        scales = None if self.scales is None else np.take(self.scales, rows)
        return ShardVectors(np.take(self.values, rows, axis=0), scales)  # in less time than by an index


class CorpusVectors(tuple[ShardVectors, ...]):
    """The embeddings of a corpus, shard by shard."""

    @cached_property
    def narrow(self) -> bool:
        """Whether all embeddings are stored in 8 bits."""
        return all(one.values.dtype == np.int8 and one.scales is not None for one in self)

    def taken(self, places: np.ndarray) -> list[ShardVectors]:
        """Return the embeddings of some posts, in memory.

        Args:
            places: int64, ascending: indices of posts among those that are not deleted.
        """
        if self and self.narrow and available():
            values = np.empty((len(places), self[0].values.shape[1]), dtype=np.int8)
            gather_rows(self.addresses(places), values)
            return [ShardVectors(values, self.scales(places))]
        return [self[shard].taken(rows) for shard, rows in self._rows(places)]

    def addresses(self, places: np.ndarray) -> np.ndarray:
        """Return where the embeddings of some posts are, if they are stored in 8 bits: int64, one per place.

        Args:
            places: as for `taken`.

        Returns:
            The addresses, valid while this object is.
        """
        size = self[0].values.shape[1]
        if self._deleted:
            rows_of_shards = [self._addresses[shard] + rows * size for shard, rows in self._rows(places)]
            return np.concatenate([places[:0], *rows_of_shards])
        # At once for all shards: a corpus has hundreds.
        bounds = np.searchsorted(places, self._begins)
        shifts = self._addresses - self._begins[:-1] * size
        found: np.ndarray = places * size + np.repeat(shifts, bounds[1:] - bounds[:-1])
        return found

    def scales(self, places: np.ndarray) -> np.ndarray:
        """Return the scales of some posts, if they are stored in 8 bits: float16 or float32, one per place."""
        return self._scales[places]

    def _rows(self, places: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the number of each shard that has some of the posts at these places, and their rows there."""
        bounds = np.searchsorted(places, self._begins).tolist()
        for shard, (start, stop) in enumerate(pairwise(bounds)):
            if start < stop:
                rows = places[start:stop] - self._begins[shard]
                live = self[shard].live
                yield shard, rows if live is None else np.flatnonzero(live)[rows]

    @cached_property
    def _begins(self) -> np.ndarray:
        """Return the first place of each shard, and the number of posts: int64."""
        return np.cumsum([0, *(one.posts for one in self)], dtype=np.int64)

    @cached_property
    def _deleted(self) -> bool:
        return any(one.live is not None for one in self)

    @cached_property
    def _addresses(self) -> np.ndarray:
        """Return the address of each shard's first row: int64."""
        assert all(one.values.flags.c_contiguous for one in self)  # arrays of files are
        return np.array([one.values.ctypes.data for one in self], dtype=np.int64)

    @cached_property
    def _scales(self) -> np.ndarray:
        scales = [(np.asarray(one.scales), one.live) for one in self]
        return np.concatenate([some if live is None else some[live] for some, live in scales])


def stored_vectors(shard: Shard) -> dict[str, np.ndarray]:
    """Raise: embeddings that are missing are computed by a search, which has the model.

    Raises:
        DataError: always.
    """
    raise DataError(
        f"{shard.files.folder}: the embeddings are missing; search the corpus, which computes them again"
    )


def vectors_of(shards: Iterable[Shard], arrays: Iterable[Arrays]) -> CorpusVectors:
    """Return the embeddings of shards, from the arrays of each."""
    return CorpusVectors(ShardVectors.of(one, shard.live) for shard, one in zip(shards, arrays))


def live_rows(vectors: Iterable[ShardVectors], rows: int) -> Iterator[np.ndarray]:
    """Yield the embeddings of the posts that are not deleted, at most `rows` at a time: float32, posts × dim."""
    for one in vectors:
        for start in range(0, len(one), rows):
            some = one.rows(start, start + rows)
            yield some if one.live is None else some[one.live[start : start + rows]]


def finite(arrays: Mapping[str, np.ndarray]) -> bool:
    """Return whether stored embeddings are finite numbers."""
    values = arrays.get("scales", arrays["values"])
    return bool(np.isfinite(values).all())
