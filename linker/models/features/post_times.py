"""Times of posts, and the time elapsed since an article was published."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property

import numpy as np

from linker.data.types import Article, Post

_DAY = 24 * 60 * 60
#: Articles whose time is known were published half a day after the beginning of their day, on average.
_HALF_A_DAY = 0.5
#: Where the logarithmic axis has its finest resolution, in days: the middle of the first day's posts.
_CENTER = 0.9
KNOTS = np.array(
    [-1500, -365, -90, -30, -14, -7, -3, -1.5, -0.75, 0, 0.5, 1, 1.5, 2, 3, 4.5, 7, 12, 22, 50, 120, 300, 700, 1500.0]
)  # fmt: skip
BINS = 250
#: The bin of pairs in which a time is missing.
UNKNOWN = np.uint8(BINS)


class PostTimes:
    """When posts were created.

    They are sorted once, so that the class of each is found by a look-up.

    Args:
        values: float64, seconds since 1970 in UTC, one per post; NaN where unknown.
    """

    def __init__(self, values: np.ndarray) -> None:
        self._values = np.asarray(values, dtype=np.float64)

    @classmethod
    def of(cls, posts: Sequence[Post]) -> PostTimes:
        """Return the times of posts."""
        return cls(_seconds([post.created_at for post in posts]))

    @cached_property
    def known(self) -> bool:
        """Return whether the time of any post is known."""
        return not bool(np.isnan(self._values).all())

    def bins(self, articles: Sequence[Article]) -> np.ndarray:
        """Return the class of elapsed time of each pair, `UNKNOWN` where a time is missing: uint8, articles × posts."""
        bins = np.full((len(articles), len(self._values)), UNKNOWN, dtype=np.uint8)
        if not self.known:
            return bins
        times, rank = self._sorted
        of_sorted = np.full(len(self._values), UNKNOWN, dtype=np.uint8)
        for row, start in enumerate(_started(articles)):
            if not np.isnan(start):
                ends = [0, *np.searchsorted(times, start + _STEPS).tolist(), len(times)]
                of_sorted[: len(times)] = np.repeat(np.arange(BINS, dtype=np.uint8), np.diff(ends))
                np.take(of_sorted, rank, out=bins[row])
        return bins

    @cached_property
    def _sorted(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the known times, ascending, and the place of each post in the order of times: int64."""
        order = np.argsort(self._values, kind="stable")  # unknown ones are last
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.arange(len(order))
        return self._values[order[: np.count_nonzero(~np.isnan(self._values))]], rank


def axis(days: np.ndarray) -> np.ndarray:
    """Map days to a signed logarithmic axis."""
    shifted = days - _CENTER
    return np.asarray(np.sign(shifted) * np.log1p(2 * np.abs(shifted)))


#: Where bins begin and end on that axis, ascending.
LIMITS = np.linspace(axis(KNOTS)[0], axis(KNOTS)[-1], BINS + 1)
_EDGES = _CENTER + np.sign(LIMITS) * np.expm1(np.abs(LIMITS)) / 2  # in days
# Between the bins, in seconds, rounded up to the resolution of times, so that they can be added without rounding.
_STEPS = np.ceil(_EDGES[1:-1] * _DAY * 2.0**22) / 2.0**22


def _started(articles: Sequence[Article]) -> np.ndarray:
    """Seconds since 1970 at the beginning of the articles' days, half a day before a known time; NaN if missing."""
    seconds = _seconds([article.published for article in articles])
    return np.where(
        seconds % _DAY == 0, seconds, seconds - _HALF_A_DAY * _DAY
    )  # midnight: only the day is known


def _seconds(times: Sequence[datetime | None]) -> np.ndarray:
    """Seconds since 1970; NaN for missing times."""
    return np.array([np.nan if time is None else time.timestamp() for time in times], dtype=np.float64)
