"""Partitions of the posts of a corpus by their embeddings, found by k-means, for approximate search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from linker.common.console import track
from linker.common.errors import DataError
from linker.corpus.indexes.vectors import ShardVectors
from linker.corpus.storage.shards import Shard, Shards

PARTITIONS = "partitions."
# As many as take less time to compare with than the posts of some of them.
_MOST = 4_096
_POSTS_PER_PARTITION, _SAMPLED_PER_PARTITION = 256, 64
_ROWS_AT_ONCE, _EPOCHS = 8_192, 5


class Partitions:
    """The posts of a corpus, each in the partition whose centroid is nearest.

    The vectors of posts are their embeddings by several parts of a model, joined, each multiplied with the root of the
    part's weight. Centroids are those of a sample of the posts that were there when `build` ran; posts that are added
    later are assigned to them. Partitions take 2 bytes per post.

    Args:
        shards: the posts.
        vectors: the embeddings by each part, in the order of the shards.
        weights: the weight of each part, above 0.
    """

    def __init__(
        self, shards: Shards, vectors: Sequence[Sequence[ShardVectors]], weights: Sequence[float]
    ) -> None:
        self._shards = shards
        self._roots = [np.float32(weight**0.5) for weight in weights]
        self._of_shards = dict(zip((shard.files.folder for shard in shards), zip(*vectors)))

    @cached_property
    def centroids(self) -> list[np.ndarray]:
        """Return the centroids by each part: float32, partitions × dim of the part."""
        dims = [one.values.shape[1] for one in next(iter(self._of_shards.values()))]
        split = np.split(self._joined, np.cumsum(dims)[:-1], axis=1)
        return [of_part / root for of_part, root in zip(split, self._roots)]

    @cached_property
    def numbers(self) -> np.ndarray:
        """Return the number of the partition of each post, in the order of the store: uint16.

        Raises:
            DataError: if a file is damaged.
            LinkerError: if the disk is full.
        """
        arrays = self._shards.arrays(self._name, "partitioning posts", self._assigned)
        for one in arrays:
            if one["values"].max(initial=0) >= len(self._joined):
                raise DataError(f"{one.path}: damaged; delete it, and it is created again")
        of_shards = [
            np.asarray(one["values"]) if shard.live is None else np.asarray(one["values"])[shard.live]
            for one, shard in zip(arrays, self._shards)
        ]
        return np.concatenate([np.zeros(0, dtype=np.uint16), *of_shards])

    def build(self) -> int:
        """Compute centroids and partitions, in place of those that are there.

        Returns:
            The number of partitions.

        Raises:
            LinkerError: if the disk is full.
        """
        from sklearn.cluster import MiniBatchKMeans

        posts = self._shards.posts
        count = max(1, min(_MOST, posts // _POSTS_PER_PARTITION))
        sample = self._sample(-(-posts // (count * _SAMPLED_PER_PARTITION)))
        k_means = MiniBatchKMeans(count, init="random", n_init=1, random_state=0)
        order = np.random.default_rng(0)
        batches = max(1, len(sample) // max(_ROWS_AT_ONCE, count))
        for _ in track(range(_EPOCHS), "computing partitions", _EPOCHS):
            for rows in np.array_split(order.permutation(len(sample)), batches):
                k_means.partial_fit(sample[rows])
        self._shards.set_centroids(k_means.cluster_centers_.astype(np.float32))
        for name in ("centroids", "numbers"):
            self.__dict__.pop(name, None)
        _ = self.numbers
        for shard in self._shards:
            for name in shard.files.names():
                if name.startswith(PARTITIONS) and name != self._name:
                    shard.files.remove(name)
        return count

    @property
    def _joined(self) -> np.ndarray:
        """Return the centroids: float32, partitions × (sum of the dimensions of the parts)."""
        assert self._shards.centroids is not None  # there is an index
        return np.asarray(self._shards.centroids["values"])

    @property
    def _name(self) -> str:
        """Return the name of the files of partitions, which has the checksum of the centroids."""
        assert self._shards.centroids is not None  # there is an index
        assert self._shards.centroids.path is not None  # it was read
        return PARTITIONS + self._shards.centroids.path.stem.rsplit("-", 1)[1]

    def _sample(self, step: int) -> np.ndarray:
        """Return the joined vectors of every `step`-th post: float32, posts × dim."""
        found = []
        for shard in self._shards:
            rows = (np.arange(shard.rows) if shard.live is None else np.flatnonzero(shard.live))[::step]
            parts = [one.taken(rows).rows() for one in self._of_shards[shard.files.folder]]
            found.append(self._join(parts))
        return np.concatenate(found)

    def _join(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        return np.concatenate([root * rows for root, rows in zip(self._roots, parts)], axis=1)

    def _assigned(self, shard: Shard) -> dict[str, np.ndarray]:
        """Return the number of the nearest centroid for each row of a shard: `values`, uint16."""
        halves = np.vecdot(self._joined, self._joined) / 2
        found = [
            (rows @ self._joined.T - halves).argmax(axis=1).astype(np.uint16) for rows in self._rows(shard)
        ]
        return {"values": np.concatenate([np.zeros(0, dtype=np.uint16), *found])}

    def _rows(self, shard: Shard) -> Iterator[np.ndarray]:
        """Yield the joined vectors of a shard: float32, rows × dim."""
        vectors = self._of_shards[shard.files.folder]
        for start in range(0, shard.rows, _ROWS_AT_ONCE):
            yield self._join([one.rows(start, start + _ROWS_AT_ONCE) for one in vectors])
