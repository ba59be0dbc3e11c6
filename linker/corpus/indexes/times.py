"""Posts sorted by time, to score elapsed time with binary search."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from linker.corpus.storage.reader import batches
from linker.corpus.storage.shards import Shards
from linker.data.types import Article
from linker.models.elapsed_time import ElapsedTimeModel
from linker.modules.kernels.scoring import add_entries

# Few enough for their scores to stay in the CPU's cache.
_BUCKETS = 8_191
_UNKNOWN = np.uint16(_BUCKETS)
_NONE = np.zeros(1, dtype=np.float32)
_FIRST, _LAST = np.array([0]), np.array([_BUCKETS, _BUCKETS + 1])
# Seconds, and share of a bucket, by which rounding may move a post into another one; shortest bucket in seconds.
_MARGIN, _SHORTEST = 1e-3, 0.1


class Times:
    """When the posts of a corpus were created.

    Posts are put into buckets of equal length. The score of most buckets is that of their first and last moment; only
    the posts in the few others are scored one by one.

    Args:
        values: float64, seconds since 1970 in UTC, one per post; NaN where unknown.
    """

    def __init__(self, values: np.ndarray) -> None:
        self._values = np.asarray(values)

    @classmethod
    def of(cls, shards: Shards) -> Times:
        """Return the times of the posts of a corpus."""
        return cls(_read(shards))

    @cached_property
    def known(self) -> bool:
        """Return whether the time of any post is known."""
        return not bool(np.isnan(self._values).all())

    def scores(
        self, model: ElapsedTimeModel, article: Article, places: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the scores of posts, as `ElapsedTimeModel.score_times` does: float32, one per post.

        Args:
            model: the part that scores times.
            article: the query.
            places: int64: indices of the posts; None: all.
        """
        if article.published is None or not self.known:
            return np.zeros(len(self._values) if places is None else len(places), dtype=np.float32)
        values = self._values if places is None else self._values[places]
        of_steps, changes = self._steps(model, article)
        table = _table(of_steps, changes[0])
        # Between its first and last moment, the score changes in one bucket, or in two because of the margin.
        last, first = changes[:, changes[1] < changes[0]]
        table[first] = table[last - 1] = np.nan
        scores = np.zeros(len(values), dtype=np.float32)
        add_entries(table, self.buckets if places is None else self.buckets[places], scores)
        open_ = np.flatnonzero(np.isnan(scores))
        scores[open_] = model.score_times(article, values[open_])
        return scores

    @property
    def buckets(self) -> np.ndarray:
        """Return the bucket of each post: uint16; the last one is that of posts whose time is unknown."""
        return self._buckets[1] if self.known else np.full(len(self._values), _UNKNOWN)

    def _steps(self, model: ElapsedTimeModel, article: Article) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores between steps, see `ElapsedTimeModel.steps`, and 0 where a time is missing.

        And the buckets from which on these scores are those of the first moment, and of the last one: int64, 2 × steps.
        """
        steps, scores = model.steps(article)
        earliest, length = self._buckets[0]
        margin = _MARGIN * (1 + length)
        moments = np.array([[-margin], [length + margin]])  # just before a bucket begins, and after it ends
        changes = np.ceil((steps - earliest - moments) / length).clip(0, _BUCKETS)
        return np.concatenate([scores, _NONE]), changes.astype(np.int64)

    @cached_property
    def _buckets(self) -> tuple[tuple[float, float], np.ndarray]:
        """Return when the first bucket begins and how long each is, in seconds; and that of each post, uint16."""
        earliest, latest = np.nanmin(self._values), np.nanmax(self._values)
        length = max((latest - earliest) / (_BUCKETS - 1), _SHORTEST)
        with np.errstate(invalid="ignore"):  # unknown times
            numbers = ((self._values - earliest) / length).astype(np.uint16)
        numbers[np.isnan(self._values)] = _UNKNOWN
        return (float(earliest), float(length)), numbers


def _table(of_steps: np.ndarray, changes: np.ndarray) -> np.ndarray:
    """Return the score of each bucket, from which on scores change there; see `Times._steps`."""
    begins = np.concatenate([_FIRST, changes, _LAST])
    return np.repeat(of_steps, begins[1:] - begins[:-1])


def _read(shards: Shards) -> np.ndarray:
    """Return when the posts were created: float64, seconds since 1970 in UTC; NaN where unknown."""
    import pyarrow as pa  # of the extra `corpus`

    parts = [np.zeros(0)]
    for batch in batches(shards.dataset, ["created_at"]):
        micros = batch.column("created_at").cast(pa.timestamp("us", "UTC")).cast(pa.int64())
        parts.append(micros.to_numpy(zero_copy_only=False) / 1e6)
    return np.concatenate(parts)
