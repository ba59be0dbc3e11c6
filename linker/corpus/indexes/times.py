"""Times of posts in ascending order, by which scores of elapsed time are found without looking at each post."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linker.corpus.storage.reader import batches
from linker.corpus.storage.shards import Shards
from linker.data.types import Article
from linker.models.elapsed_time import ElapsedTimeModel

TIMES = "times"


class TimesInOrder:
    """When the posts of a corpus were created.

    Args:
        arrays: `values`, float64, ascending: seconds since 1970 in UTC, one per post, NaN where unknown; and `order`,
            int64 or uint32: their indices in the order of the store, none if that order is ascending.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._times, self._order = np.asarray(arrays["values"]), np.asarray(arrays["order"])

    @classmethod
    def of(cls, shards: Shards) -> TimesInOrder:
        """Return the times of the posts of a corpus, which are stored if it has an index.

        Raises:
            LinkerError: if the disk is full.
        """
        if shards.centroids is None:
            return cls(in_order(_times(shards)))
        return cls(shards.joint_arrays(TIMES, shards.posts, lambda: in_order(_times(shards))))

    @staticmethod
    def fit(shards: Shards) -> bool:
        """Return whether the stored times are those of the posts; True if none are stored."""
        stored = shards.stored_joint_arrays(TIMES, shards.posts)
        return stored is None or all(
            np.array_equal(stored.get(name, ()), values, equal_nan=name == "values")
            for name, values in in_order(_times(shards)).items()
        )

    @property
    def known(self) -> bool:
        """Return whether the time of any post is known."""
        return len(self._times) > 0 and not np.isnan(self._times[0])

    def scores(self, model: ElapsedTimeModel, article: Article) -> np.ndarray:
        """Return the scores of all posts, as `ElapsedTimeModel.score_times` does: float32, one per post."""
        scores = model.score_sorted_times(article, self._times)
        if not len(self._order):
            return scores
        found = np.empty_like(scores)
        found[self._order] = scores
        return found


def in_order(times: np.ndarray) -> dict[str, np.ndarray]:
    """Return times in ascending order, see `TimesInOrder`.

    Args:
        times: float64, one per post; NaN where unknown.
    """
    order = np.argsort(times, kind="stable")  # unknown ones are the last
    if np.array_equal(order, np.arange(len(order))):
        return {"values": times, "order": order[:0]}
    return {"values": times[order], "order": order.astype(np.uint32 if len(order) < 1 << 32 else np.int64)}


def _times(shards: Shards) -> np.ndarray:
    """Return when the posts were created: float64, seconds since 1970 in UTC; NaN where unknown."""
    import pyarrow as pa  # of the extra `corpus`

    parts = [np.zeros(0)]
    for batch in batches(shards.dataset, ["created_at"]):
        micros = batch.column("created_at").cast(pa.timestamp("us", "UTC")).cast(pa.int64())
        parts.append(micros.to_numpy(zero_copy_only=False) / 1e6)
    return np.concatenate(parts)
