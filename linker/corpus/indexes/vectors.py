"""The embeddings of a corpus, memory-mapped: in 8 bits where the model rounds to 8 bits, else float32."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linker.common.errors import DataError
from linker.corpus.storage.array_files import Arrays
from linker.corpus.storage.shards import Shard
from linker.models.embedding_model import eight_bits

VECTORS = "embeddings"


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
            scales[~values.any(axis=1)] = 0  # so that zeros, of texts without known words, loosen no bounds
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

    def rows(self) -> np.ndarray:
        """Return the embeddings of the posts that are not deleted: float32, posts × dim."""
        live = slice(None) if self.live is None else self.live
        values = np.asarray(self.values)[live].astype(np.float32, copy=False)
        return values if self.scales is None else values * self.scales[live, None].astype(np.float32)

    def taken(self, rows: np.ndarray) -> ShardVectors:
        """Return the embeddings in some rows, in memory."""
        scales = None if self.scales is None else np.take(self.scales, rows)
        return ShardVectors(np.take(self.values, rows, axis=0), scales)  # in less time than by an index


class CorpusVectors(tuple[ShardVectors, ...]):
    """The embeddings of a corpus, shard by shard."""

    @cached_property
    def narrow(self) -> bool:
        """Whether all embeddings are stored in 8 bits."""
        return all(shard.values.dtype == np.int8 and shard.scales is not None for shard in self)

    @cached_property
    def _begins(self) -> np.ndarray:
        """Return the first place of each shard, and the number of posts: int64."""
        return np.cumsum([0, *(shard.posts for shard in self)], dtype=np.int64)

    def taken(self, places: np.ndarray) -> list[ShardVectors]:
        """Return the embeddings of some posts, in memory.

        Args:
            places: int64, ascending: indices of posts among those that are not deleted.
        """
        parts = []
        bounds = np.searchsorted(places, self._begins).tolist()
        for shard, begin, start, stop in zip(self, self._begins.tolist(), bounds, bounds[1:]):
            if start < stop:
                rows = places[start:stop] - begin
                parts.append(shard.taken(rows if shard.live is None else np.flatnonzero(shard.live)[rows]))
        return parts


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
    return CorpusVectors(ShardVectors.of(of_shard, shard.live) for shard, of_shard in zip(shards, arrays))


def finite(arrays: Mapping[str, np.ndarray]) -> bool:
    """Return whether stored embeddings are finite numbers."""
    return bool(np.isfinite(arrays.get("scales", arrays["values"])).all())
