"""Softmax over articles: scores that are comparable across articles, with "none of them" as one more class."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from typing_extensions import override

from linker.common.checks import above, at_least
from linker.data.types import Article, LinkedPosts, Post
from linker.models.model import Model


@Model.register("article_softmax")
@Model.register("competing")
class ArticleSoftmaxModel(Model):
    """Log-odds of p(article | post), a softmax over the articles scored together and "none of them".

    Some posts are similar to every article and some articles to every post, so one threshold on raw similarities
    selects the wrong pairs. Here a pair scores high if the article is by far the post's best and good enough in
    absolute terms. At 0 the article is as likely as all the others and "none of them" together. A score depends on the
    other articles of the call. The order of articles for one post never does (without `neighbor_weight`), nor does the
    order of posts for an article that is scored alone. This is one side of the dual softmax of Cheng et al. 2021; the
    other side, a softmax over posts, would give every article a best post, though most articles have none.

    Articles may report the same story; a post about one is then relevant to the other. With `neighbor_weight`, the odds
    of a post gain its probabilities for the other articles, each times the share of the article's posts that are as
    likely about the other one: one step of a random walk from article to post to article (decision 134). Scores then
    depend on the other posts too, unless an article is scored alone.

    Args:
        model: the model whose scores enter the softmax.
        temperature: divisor of the scores, > 0: a difference of `temperature` is a factor of e in probability.
        null_score: score of the class "none of them", on the scale of `model`.
        neighbor_weight: weight of the random-walk term, ≥ 0; 0 turns it off.
    """

    keys_without_weights = frozenset({"temperature", "null_score", "neighbor_weight"})
    former_keys = (("none", "null_score"), ("kinship", "neighbor_weight"))

    def __init__(
        self, model: Model, temperature: float, null_score: float, neighbor_weight: float = 0.0
    ) -> None:
        above(0, temperature=temperature)
        at_least(0, neighbor_weight=neighbor_weight)
        self.model, self.temperature = model, temperature
        self.null_score, self.neighbor_weight = null_score, neighbor_weight

    @override
    def submodels(self) -> Sequence[Model]:
        return [self.model]

    @override
    def prepare(self, data: LinkedPosts) -> None:
        self.model.prepare(data)

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Return ln p / (1 − p): float32, articles × posts, any real number."""
        scores = self._divided(self.model.score(articles, posts))
        if not scores.size:
            return scores.astype(np.float32)
        log_p = scores - self._log_denominator(scores)
        # Only a post's best article can have p near 1, where 1 − p is lost in rounding: it is computed separately.
        best = (scores.argmax(axis=0), np.arange(scores.shape[1]))
        log_p[best] = -1
        odds = log_p - np.log(-np.expm1(log_p))
        best_scores = scores[best]
        scores[best] = -np.inf
        odds[best] = best_scores - self._log_denominator(scores)[0]
        if self.neighbor_weight and len(odds) > 1:
            with np.errstate(divide="ignore"):  # ln 0 adds nothing
                probabilities = np.exp(-np.logaddexp(0, -odds))
                neighbors = _neighbor_probabilities(probabilities)
                odds = np.logaddexp(odds, np.log(self.neighbor_weight * neighbors))
        return odds.astype(np.float32)

    def score_independently(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Return the log-odds against "none of them" only: float32, articles × posts."""
        return self.against_none(self.model.score_independently(articles, posts))

    def against_none(self, scores: np.ndarray) -> np.ndarray:
        """Return `score_independently` for scores of the inner model: float32, of the same shape."""
        return (self._divided(scores) - self.null_score / self.temperature).astype(np.float32)

    def _log_denominator(self, scores: np.ndarray) -> np.ndarray:
        """Log of the softmax's denominator: 1 × posts."""
        total: np.ndarray = np.logaddexp(
            np.logaddexp.reduce(scores, axis=0, keepdims=True), self.null_score / self.temperature
        )
        return total

    def _divided(self, scores: np.ndarray) -> np.ndarray:
        return scores.astype(np.float64) / self.temperature

    @override
    def save_state(self, folder: Path) -> None:
        self.model.save_state(folder)

    @override
    def load_state(self, folder: Path) -> None:
        self.model.load_state(folder)


def _neighbor_probabilities(p: np.ndarray) -> np.ndarray:
    """Random-walk step: Σ_j p(j | post) · Σ_m p(article | m) p(j | m) / Σ_m p(article | m), j ≠ article, m any post.

    The divisor is at least 1, so an article without relevant posts has no neighbors.

    Args:
        p: p(article | post), articles × posts.

    Returns:
        articles × posts.
    """
    articles, posts = p.shape
    if articles <= posts:
        joint = p @ p.T  # articles × articles
        np.fill_diagonal(joint, 0)
        step = joint @ p
    else:
        step = p @ (p.T @ p) - (p**2).sum(axis=1, keepdims=True) * p
    neighbors: np.ndarray = np.maximum(step, 0) / np.maximum(p.sum(axis=1, keepdims=True), 1)
    return neighbors
