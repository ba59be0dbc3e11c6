"""Posts are more often about an article of these days: a prior that looks at no word."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from linker.common.checks import above
from linker.data.types import Article, Post
from linker.models.model import Model

_DAY = 24 * 60 * 60


@Model.register("near_in_time")
class RecencyModel(Model):
    """−ln(1 + distance in time / days): falls fast at first, and never so far that words could not make up for it.

    For a part of `hybrid` with `fusion: sum`, under `competing`. A pair without both times has the mean of the post's
    other pairs, or 0 where there are none: nothing is known of it.

    Args:
        days: how far apart they are where the score is −ln 2.
    """

    def __init__(self, days: float = 1.0) -> None:
        above(0, days=days)
        self.days = days

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """float32, articles × posts, at most 0."""
        scores = self._scores(articles, posts)
        known = np.isfinite(scores)
        means = np.where(known, scores, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        return np.where(known, scores, means).astype(np.float32)

    def score_independently(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """The same, but 0 for a pair without both times: float32, articles × posts, at most 0."""
        return np.nan_to_num(self._scores(articles, posts), nan=0.0).astype(np.float32)

    def _scores(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """float64, articles × posts; NaN where a time is missing."""
        published = _seconds([article.published for article in articles])
        posted = _seconds([post.created_at for post in posts])
        scores: np.ndarray = -np.log1p(np.abs(published[:, None] - posted[None]) / (_DAY * self.days))
        return scores


def _seconds(times: Sequence[datetime | None]) -> np.ndarray:
    """Seconds since 1970, NaN where there is no time."""
    return np.array([np.nan if time is None else time.timestamp() for time in times], dtype=np.float64)
