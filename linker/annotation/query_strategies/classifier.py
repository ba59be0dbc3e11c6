"""Active learning: a classifier that learns from every label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import sparse

from linker.annotation.pool import Labels, Pool
from linker.annotation.query_strategies.query_strategy import (
    QueryStrategy,
    rank_unlabeled,
    unlabeled,
)
from linker.common.checks import above, at_least, between
from linker.common.stats import zscore

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC


@QueryStrategy.register("active_learning")
@QueryStrategy.register("learning")
class ActiveLearningStrategy(QueryStrategy):
    """Active learning with a linear classifier on TF-IDF words, embeddings and scores, retrained for each ranking.

    Before the first label the ranking is that of `hybrid`. After it, the seed articles together count as one relevant
    post, and a random sample of unlabeled posts as pseudo-negatives, as in the baseline implementation of Cormack and
    Grossman (2015, TREC Total Recall). Both classes have the same weight.

    Args:
        query: `relevance`: most likely relevant posts first; `uncertainty`: posts nearest to the decision boundary
            first, which teaches the classifier more but finds fewer relevant posts.
        exploration: share of the ranking, 0 to 1, that is a random sample.
        classifier: linear `svm`, or `logistic_regression`, which is slower.
        cost: inverse regularization strength C, above 0.
        pseudo_negatives: number of pseudo-negatives.
    """

    former_keys = (("presumed", "pseudo_negatives"),)

    def __init__(
        self,
        query: Literal["relevance", "uncertainty"] = "relevance",
        exploration: float = 0.0,
        classifier: Literal["svm", "logistic_regression"] = "svm",
        cost: float = 0.1,
        pseudo_negatives: int = 300,
    ) -> None:
        between(0, 1, exploration=exploration)
        above(0, cost=cost)
        at_least(0, pseudo_negatives=pseudo_negatives)
        self.query: Literal["relevance", "uncertainty"] = query
        self.classifier: Literal["svm", "logistic_regression"] = classifier
        self.exploration, self.cost, self.pseudo_negatives = exploration, cost, pseudo_negatives

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """Rank by the classifier's decision, with randomly sampled posts in between."""
        scores = self._scores(pool, labels, generator)
        if scores is None:
            scores = zscore(pool.scores) + zscore(pool.lexical_scores)
        elif self.query == "uncertainty":
            scores = -np.abs(scores)
        return _explored(rank_unlabeled(scores, pool, labels), self.exploration, generator)

    def _scores(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray | None:
        """Return signed distances to the decision boundary, float64, one per post; None if there is only one class."""
        free = unlabeled(pool, labels)
        negatives = generator.choice(free, size=min(self.pseudo_negatives, len(free)), replace=False)
        examples = np.concatenate([labels.posts, negatives])
        seeds = len(pool.articles)
        relevant = np.concatenate(
            [labels.relevant, np.zeros(len(negatives), dtype=bool), np.ones(seeds, dtype=bool)]
        )
        if not len(labels) or relevant.all():
            return None
        weights = np.ones(len(relevant))
        weights[-seeds:] = 1 / seeds
        for one in (relevant, ~relevant):
            weights[one] *= len(relevant) / (2 * weights[one].sum())
        beside = _DenseFeatures(pool)
        features = sparse.hstack(
            [
                sparse.vstack([pool.words[examples], pool.article_words]),
                sparse.csr_matrix(np.concatenate([beside.of_posts(examples), beside.of_articles()])),
            ]
        )
        classifier = self._build_classifier()
        classifier.fit(sparse.csr_matrix(features), relevant, sample_weight=weights)
        coefficients = classifier.coef_[0]
        words = pool.words.shape[1]
        scores = pool.words @ coefficients[:words] + beside.products(coefficients[words:])
        return np.asarray(scores + classifier.intercept_[0])

    def _build_classifier(self) -> LinearSVC | LogisticRegression:
        # Imported late: `linker annotate status` should not wait a second for scikit-learn.
        # Tighter tolerances take longer and do not improve the ranking.
        if self.classifier == "svm":
            from sklearn.svm import LinearSVC

            return LinearSVC(C=self.cost, tol=1e-3, max_iter=300, random_state=0)
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=self.cost, tol=1e-3, max_iter=100)


class _DenseFeatures:
    """The classifier's features beyond words (which have unit length): scores, and embeddings if the model has them.

    Scores are z-scores times 0.3; embeddings are centered and scaled to a root mean square length of 0.5. A seed
    article gets the 99.5th percentile of the posts' scores.
    """

    def __init__(self, pool: Pool) -> None:
        self._articles = len(pool.articles)
        self._scores = 0.3 * np.stack([zscore(pool.scores), zscore(pool.lexical_scores)], axis=1)
        self._vectors, self._article_vectors = pool.vectors, pool.article_vectors
        if self._vectors is not None:
            self._center = self._vectors.mean(axis=0, dtype=np.float64)
            squares = np.einsum("ij,ij->", self._vectors, self._vectors, dtype=np.float64) / len(pool)
            variance = float(squares - self._center @ self._center)
            self._scale = 0.5 / np.sqrt(variance) if variance > 1e-9 * squares else 0.0

    def of_posts(self, places: np.ndarray) -> np.ndarray:
        """Return the features of posts: float64, posts × features."""
        vectors = None if self._vectors is None else self._vectors[places]
        return self._joined(vectors, self._scores[places])

    def of_articles(self) -> np.ndarray:
        """Return the features of the seed articles: float64, articles × features."""
        scores = np.quantile(self._scores, 0.995, axis=0)
        return self._joined(self._article_vectors, np.tile(scores, (self._articles, 1)))

    def products(self, coefficients: np.ndarray) -> np.ndarray:
        """Return features @ coefficients for all posts, float64, without copying the embeddings."""
        products = self._scores @ coefficients[:2]
        if self._vectors is not None:
            factors = self._scale * coefficients[2:]
            products += self._vectors @ factors.astype(np.float32) - float(self._center @ factors)
        return np.asarray(products)

    def _joined(self, vectors: np.ndarray | None, scores: np.ndarray) -> np.ndarray:
        if vectors is None:
            return scores
        return np.concatenate([scores, (vectors - self._center) * self._scale], axis=1)


def _explored(order: np.ndarray, share: float, generator: np.random.Generator) -> np.ndarray:
    """Return the ranking with a share of its positions given to randomly sampled posts."""
    if not share:
        return order
    sampled = generator.random(len(order)) < share
    mixed = order[~sampled]
    explored = generator.permutation(order[sampled])
    places = np.zeros(len(order), dtype=bool)
    places[generator.permutation(len(order))[: len(explored)]] = True
    result = np.empty_like(order)
    result[places], result[~places] = explored, mixed
    return result
