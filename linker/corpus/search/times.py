"""Times of posts in ascending order, by which scores of elapsed time are found without looking at each post."""

from __future__ import annotations

import numpy as np

from linker.data.types import Article
from linker.models.elapsed_time import ElapsedTimeModel


class TimesInOrder:
    """When the posts of a corpus were created.

    Args:
        times: float64, seconds since 1970 in UTC, one per post; NaN where unknown.
    """

    def __init__(self, times: np.ndarray) -> None:
        order = np.argsort(times, kind="stable")  # unknown ones are the last
        self._order = None if np.array_equal(order, np.arange(len(order))) else order
        self._times = times if self._order is None else times[order]

    def scores(self, model: ElapsedTimeModel, article: Article) -> np.ndarray:
        """Return the scores of all posts, as `ElapsedTimeModel.score_times` does: float32, one per post."""
        scores = model.score_sorted_times(article, self._times)
        if self._order is None:
            return scores
        found = np.empty_like(scores)
        found[self._order] = scores
        return found
