"""Scores that mean the same for every article: posts compete for an article, and articles for a post."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.special import log_softmax

from linker.bounds import above
from linker.data.types import Article, LinkedPosts, Post
from linker.models.model import Model


@Model.register("competing")
class CompetingModel(Model):
    """ln p(post | article) + ln p(article | post), both out of softmaxes over the texts that are scored together.

    One article's scores for all posts may lie far above another's, and some posts lie near to everything; one threshold
    for all pairs then finds the wrong ones. Here a pair scores high where the article is the post's best among the
    articles *and* the post the article's among the posts (as the dual softmax of Cheng et al. 2021 for videos and
    captions). So a score depends on which articles and posts are scored together. For one article alone the order
    of the posts is that of the inner model.

    Args:
        model: whose scores compete.
        temperature: how far apart two of its scores are when one text wins e times the share of another.
    """

    def __init__(self, model: Model, temperature: float) -> None:
        above(0, temperature=temperature)
        self.model, self.temperature = model, temperature

    def parts(self) -> Sequence[Model]:
        """The model whose scores compete."""
        return [self.model]

    def prepare(self, data: LinkedPosts) -> None:
        """Prepare the model whose scores compete."""
        self.model.prepare(data)

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Float32, articles × posts, at most 0."""
        scores = self._inner(self.model.score(articles, posts))
        return (log_softmax(scores, axis=1) + log_softmax(scores, axis=0)).astype(np.float32)

    def score_alone(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Only posts compete: float32, articles × posts, at most 0."""
        scores = self._inner(self.model.score_alone(articles, posts))
        return log_softmax(scores, axis=1).astype(np.float32)

    def _inner(self, scores: np.ndarray) -> np.ndarray:
        return scores.astype(np.float64) / self.temperature

    def save_state(self, folder: Path) -> None:
        """As the model whose scores compete."""
        self.model.save_state(folder)

    def load_state(self, folder: Path) -> None:
        """As the model whose scores compete."""
        self.model.load_state(folder)
