"""Recency prior: posts are more often about articles published around the same time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from linker.common.checks import above
from linker.data.types import Article, Post
from linker.models.model import Model

_DAY = 24 * 60 * 60


@Model.register("recency")
@Model.register("near_in_time")
class RecencyModel(Model):
    """−ln(1 + Δ / days), Δ in days between article and post: falls fast at first, and slowly later.

    Use it in an `ensemble` with `fusion: sum` under `article_softmax`. A pair with a missing time gets the mean of the
    post's other pairs, or 0 if there are none.

    Args:
        days: the distance, in days, at which the score is −ln 2; > 0.
    """

    def __init__(self, days: float = 1.0) -> None:
        above(0, days=days)
        self.days = days

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Return the log prior: float32, articles × posts, ≤ 0."""
        scores = self._scores(articles, posts)
        known = np.isfinite(scores)
        means = np.where(known, scores, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        return np.where(known, scores, means).astype(np.float32)

    def score_independently(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Return the log prior, 0 for pairs with a missing time: float32, articles × posts, ≤ 0."""
        return np.nan_to_num(self._scores(articles, posts), nan=0.0).astype(np.float32)

    def _scores(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """float64, articles × posts; NaN where a time is missing."""
        published = _seconds([article.published for article in articles])
        posted = _seconds([post.created_at for post in posts])
        scores: np.ndarray = -np.log1p(np.abs(published[:, None] - posted[None]) / (_DAY * self.days))
        return scores


def _seconds(times: Sequence[datetime | None]) -> np.ndarray:
    """Seconds since 1970; NaN for missing times."""
    return np.array([np.nan if time is None else time.timestamp() for time in times], dtype=np.float64)
