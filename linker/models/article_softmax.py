"""Scores that mean the same for every article: the articles compete for each post, and "none of them" with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from linker.common.checks import above, at_least
from linker.data.types import Article, LinkedPosts, Post
from linker.models.model import Model


@Model.register("competing")
class ArticleSoftmaxModel(Model):
    """Log-odds of p(article | post), a softmax over the articles that are scored together and over "none of them".

    Some posts lie near to every article and some articles near to every post, so that one threshold for all pairs finds
    the wrong ones. Here a pair scores high where the article is the post's best by far, and where it is good enough at
    all. So a score depends on which other articles are asked; the order of the articles for one post never does, nor
    does the order of the posts for an article that is asked alone. (One side of the dual softmax of Cheng et al. 2021;
    the other side, a softmax over the posts, would give every article a best post, though most have none.) At 0 the
    article is as likely as all the rest together.

    Rivals may tell the same story; then a post of one is no stranger to the other. With `kinship`, the odds of a post
    gain its chances with the other articles, each times the share of the article's own posts that would be as likely
    theirs (one step of a random walk from article to post to article; decision 134). Scores depend on the other posts
    then, too, unless an article is asked alone.

    Args:
        model: whose scores compete.
        temperature: how far apart two of its scores are when one article has e times the other's share.
        none: the score at which "none of them" is as likely as the article.
        kinship: how much a post's chances with kindred articles count; 0: not at all.
    """

    def __init__(self, model: Model, temperature: float, none: float, kinship: float = 0.0) -> None:
        above(0, temperature=temperature)
        at_least(0, kinship=kinship)
        self.model, self.temperature, self.none, self.kinship = model, temperature, none, kinship

    def submodels(self) -> Sequence[Model]:
        """The model whose scores compete."""
        return [self.model]

    def prepare(self, data: LinkedPosts) -> None:
        """Prepare the model whose scores compete."""
        self.model.prepare(data)

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """ln p / (1 − p): float32, articles × posts."""
        scores = self._scaled(self.model.score(articles, posts))
        if not scores.size:
            return scores.astype(np.float32)
        shares = scores - self._against(scores)
        # Only the best article of a post can have a share near 1, whose rest would be lost in rounding.
        best = (scores.argmax(axis=0), np.arange(scores.shape[1]))
        shares[best] = -1
        odds = shares - np.log(-np.expm1(shares))
        own = scores[best]
        scores[best] = -np.inf
        odds[best] = own - self._against(scores)[0]
        if self.kinship and len(odds) > 1:
            with np.errstate(divide="ignore"):  # no chance at all: ln 0 adds nothing
                chances = np.exp(-np.logaddexp(0, -odds))
                odds = np.logaddexp(odds, np.log(self.kinship * _neighbor_probabilities(chances)))
        return odds.astype(np.float32)

    def score_independently(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """The same against "none of them" only: float32, articles × posts."""
        return self.against_none(self.model.score_independently(articles, posts))

    def against_none(self, scores: np.ndarray) -> np.ndarray:
        """`score_independently` from the scores of the model whose scores compete: float32, of the same shape."""
        return (self._scaled(scores) - self.none / self.temperature).astype(np.float32)

    def _against(self, scores: np.ndarray) -> np.ndarray:
        """ln of what stands in a softmax's denominator: 1 × posts."""
        total: np.ndarray = np.logaddexp(
            np.logaddexp.reduce(scores, axis=0, keepdims=True), self.none / self.temperature
        )
        return total

    def _scaled(self, scores: np.ndarray) -> np.ndarray:
        return scores.astype(np.float64) / self.temperature

    def save_state(self, folder: Path) -> None:
        """As the model whose scores compete."""
        self.model.save_state(folder)

    def load_state(self, folder: Path) -> None:
        """As the model whose scores compete."""
        self.model.load_state(folder)


def _neighbor_probabilities(chances: np.ndarray) -> np.ndarray:
    """For each article and post Σ_j p(j | post) · Σ_m p(article | m) p(j | m) / Σ_m p(article | m), j another article.

    The divisor is at least 1: an article without posts of its own has no kin.
    """
    articles, posts = chances.shape
    if articles <= posts:
        together = chances @ chances.T
        np.fill_diagonal(together, 0)
        found = together @ chances
    else:
        found = chances @ (chances.T @ chances) - (chances**2).sum(axis=1, keepdims=True) * chances
    kin: np.ndarray = np.maximum(found, 0) / np.maximum(chances.sum(axis=1, keepdims=True), 1)
    return kin
