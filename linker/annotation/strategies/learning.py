"""A classifier that learns from every label."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from linker.annotation.labels import Labels
from linker.annotation.ordering import OrderingStrategy
from linker.annotation.pool import Pool
from linker.annotation.strategies.by_score import best_first, standardised, unlabelled
from linker.bounds import above, at_least, between


@OrderingStrategy.register("learning")
class LearningOrder(OrderingStrategy):
    """A linear classifier on the posts' TF-IDF words joined with the model's vectors, trained anew for each order.

    Before the first label the order is that of `hybrid`. Then the seed articles count as one relevant post, and some
    unlabelled posts, drawn at random, as not relevant, as in the baseline implementation of Cormack and Grossman (2015,
    TREC Total Recall). Both classes weigh the same.

    Args:
        query: `relevance`: what is most likely relevant comes first; `uncertainty`: what lies nearest to the border
            between the classes, which teaches the classifier but finds less.
        exploration: the share of the order that is drawn at random.
        classifier: linear `svm`, or `logistic_regression`, which takes longer.
        cost: how much a wrong training example counts against a simple classifier (C).
        presumed: how many unlabelled posts are taken for not relevant.
    """

    def __init__(
        self,
        query: Literal["relevance", "uncertainty"] = "relevance",
        exploration: float = 0.0,
        classifier: Literal["svm", "logistic_regression"] = "svm",
        cost: float = 0.1,
        presumed: int = 100,
    ) -> None:
        between(0, 1, exploration=exploration)
        above(0, cost=cost)
        at_least(0, presumed=presumed)
        self.query: Literal["relevance", "uncertainty"] = query
        self.classifier: Literal["svm", "logistic_regression"] = classifier
        self.exploration, self.cost, self.presumed = exploration, cost, presumed

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """What the classifier puts first, with posts drawn at random among it."""
        scores = self._scores(pool, labels, generator)
        if scores is None:
            scores = standardised(pool.scores) + standardised(pool.lexical_scores)
        elif self.query == "uncertainty":
            scores = -np.abs(scores)
        return _explored(best_first(scores, pool, labels), self.exploration, generator)

    def _scores(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray | None:
        """The distance to the border between the classes: float64, one per post; None without a second class."""
        free = unlabelled(pool, labels)
        presumed = generator.choice(free, size=min(self.presumed, len(free)), replace=False)
        examples = np.concatenate([labels.posts, presumed])
        seeds = len(pool.articles)
        relevant = np.concatenate(
            [labels.relevant, np.zeros(len(presumed), dtype=bool), np.ones(seeds, dtype=bool)]
        )
        if not len(labels) or relevant.all():
            return None
        weights = np.ones(len(relevant))
        weights[-seeds:] = 1 / seeds
        for one in (relevant, ~relevant):
            weights[one] *= len(relevant) / (2 * weights[one].sum())
        features = sparse.vstack([pool.words[examples], pool.article_words])
        vectors, articles, centre, size = _centred(pool)
        if vectors is not None and articles is not None:
            dense = (np.concatenate([vectors[examples], articles]) - centre) / size
            features = sparse.hstack([features, sparse.csr_matrix(dense)])
        classifier = self._made()
        classifier.fit(sparse.csr_matrix(features), relevant, sample_weight=weights)
        coefficients = classifier.coef_[0]
        words = pool.words.shape[1]
        scores = pool.words @ coefficients[:words]
        if vectors is not None:
            # The centre moves all scores alike.
            factors = coefficients[words:] / size
            scores += vectors @ factors.astype(np.float32) - float(centre @ factors)
        return np.asarray(scores + classifier.intercept_[0])

    def _made(self) -> LinearSVC | LogisticRegression:
        # More exact solutions take longer and order the posts no better.
        if self.classifier == "svm":
            return LinearSVC(C=self.cost, tol=1e-3, max_iter=300, random_state=0)
        return LogisticRegression(C=self.cost, tol=1e-3, max_iter=100)


def _centred(pool: Pool) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray, float]:
    """The vectors of posts and articles, their mean, and their root mean square distance from it.

    Words have unit length; divided by that distance, vectors have it in the mean.
    """
    if pool.vectors is None or pool.article_vectors is None:
        return None, None, np.zeros(0), 1.0
    centre = pool.vectors.mean(axis=0, dtype=np.float64)
    squares = np.einsum("ij,ij->", pool.vectors, pool.vectors, dtype=np.float64) / len(pool)
    return pool.vectors, pool.article_vectors, centre, float(np.sqrt(max(squares - centre @ centre, 1e-12)))


def _explored(order: np.ndarray, share: float, generator: np.random.Generator) -> np.ndarray:
    """The order with a share of its places taken by posts that are drawn at random."""
    if not share:
        return order
    drawn = generator.random(len(order)) < share
    mixed = order[~drawn]
    explored = generator.permutation(order[drawn])
    places = np.zeros(len(order), dtype=bool)
    places[generator.permutation(len(order))[: len(explored)]] = True
    result = np.empty_like(order)
    result[places], result[~places] = explored, mixed
    return result
