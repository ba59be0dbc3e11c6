"""Active learning: a classifier that learns from every label."""

import numpy as np
from scipy import sparse

from linker.annotation.pool import Labels, Pool
from linker.annotation.query_strategies.diversity import diverse_posts
from linker.annotation.query_strategies.query_strategy import (
    QueryStrategy,
    hybrid_scores,
    rank_unlabeled,
    unlabeled,
)
from linker.common.checks import above, at_least, between
from linker.common.stats import zscore

# Chosen by cross-validation over topics and prevalences (decision 174).
#: Total weight of the relevant examples, in units of that of the others.
_BALANCE = 30.0
#: Weight of a pseudo-negative, in units of that of a label.
_PRESUMED = 0.1
#: Fewer relevant posts than this among the latest labels (the last fifth, at least 20) call for diversity.
_FEW, _LATEST, _LEAST = 0.1, 5, 20
#: A seed of this number of words on average is a whole article, not a title; number of labels after which its scores
#: have half of their weight.
_ARTICLE_WORDS, _HALF_LIFE = 25, 100
#: Length of the part of the ranking that gets diverse posts; it is renewed long before it is used up.
_RENEWED = 100


@QueryStrategy.register("active_learning")
class ActiveLearningStrategy(QueryStrategy):
    """Active learning with a linear classifier on TF-IDF of words and word pairs and on embeddings.

    Retrained for each ranking. Until there is an example of both classes the ranking is that of `hybrid`. After it,
    the seed articles are relevant examples, whose weight fades as relevant posts are found. The scores of `hybrid`
    still count for whole articles (25 words or more on average), with less weight after each label; those for titles
    do not. While few of the latest labels are relevant, what is relevant may lie elsewhere: a share of the ranking is
    given to posts that represent many unlabeled posts and resemble no labeled one (`diverse_posts`).

    Args:
        diversity: share of the ranking, 0 to 1, of diverse posts while few of the latest labels are relevant.
        cost: inverse regularization strength C, above 0.
        pseudo_negatives: number of unlabeled posts, sampled at random, that are presumed not relevant, with the weight
            of a tenth of a label each.
    """

    def __init__(self, diversity: float = 0.1, cost: float = 0.1, pseudo_negatives: int = 100) -> None:
        between(0, 1, diversity=diversity)
        above(0, cost=cost)
        at_least(0, pseudo_negatives=pseudo_negatives)
        self.diversity, self.cost, self.pseudo_negatives = diversity, cost, pseudo_negatives

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """Rank by the classifier's decision, with diverse posts in between."""
        scores = self._scores(pool, labels, generator)
        if scores is None:
            scores = hybrid_scores(pool)
        elif _seeds_are_articles(pool):
            weight = _HALF_LIFE / (_HALF_LIFE + len(labels))
            scores = zscore(scores) + weight * zscore(hybrid_scores(pool))
        return self._diversified(rank_unlabeled(scores, pool, labels), pool, labels, generator)

    def _diversified(
        self, order: np.ndarray, pool: Pool, labels: Labels, generator: np.random.Generator
    ) -> np.ndarray:
        """Return the ranking with diverse posts in between if few of the latest labels are relevant."""
        latest = labels.relevant[-max(_LEAST, len(labels) // _LATEST) :]
        if not self.diversity or len(latest) < _LEAST or latest.mean() >= _FEW:
            return order
        # Counted from the first label, so that a ranking that is renewed after each label has its share as well.
        turns = np.floor(self.diversity * np.arange(len(labels), len(labels) + min(_RENEWED, len(order)) + 1))
        places = np.flatnonzero(np.diff(turns))
        chosen = diverse_posts(pool, labels, np.sort(order), len(places), generator)
        ranks = np.empty(len(pool))
        ranks[order] = np.arange(len(order))
        sooner = places[: len(chosen)] - np.arange(len(chosen)) - 0.5  # those before have moved the rest
        ranks[chosen] = np.minimum(ranks[chosen], sooner)
        return order[np.argsort(ranks[order], kind="stable")]

    def _scores(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray | None:
        """Return signed distances to the decision boundary, float64, one per post; None if there is only one class."""
        free = unlabeled(pool, labels)
        negatives = generator.choice(free, size=min(self.pseudo_negatives, len(free)), replace=False)
        examples = np.concatenate([labels.posts, negatives])
        seeds = len(pool.articles)
        relevant = np.concatenate(
            [labels.relevant, np.zeros(len(negatives), dtype=bool), np.ones(seeds, dtype=bool)]
        )
        words = pool.words.shape[1]
        if not len(labels) or relevant.all() or not (words or pool.vectors is not None):
            return None
        weights = np.ones(len(relevant))
        weights[len(labels) : -seeds] = _PRESUMED
        weights[-seeds:] = 1 / (seeds * (1 + labels.found))
        for kind, total in ((relevant, _BALANCE), (~relevant, 1.0)):
            weights[kind] *= len(relevant) * total / (1 + _BALANCE) / weights[kind].sum()
        features = [sparse.vstack([pool.words[examples], pool.article_words])]
        if pool.vectors is not None and pool.article_vectors is not None:
            center, scale = _centering(pool.vectors)
            embeddings = np.concatenate([pool.vectors[examples] - center, pool.article_vectors - center])
            features.append(sparse.csr_matrix(embeddings * scale))
        # Imported late: `linker annotate status` should not wait a second for scikit-learn.
        from sklearn.svm import LinearSVC

        # Tighter tolerances take longer and do not improve the ranking.
        classifier = LinearSVC(C=self.cost, tol=1e-3, max_iter=300, random_state=0)
        classifier.fit(sparse.csr_matrix(sparse.hstack(features)), relevant, sample_weight=weights)
        coefficients = classifier.coef_[0]
        scores = pool.words @ coefficients[:words]
        if pool.vectors is not None:  # without copying all embeddings
            factors = scale * coefficients[words:]
            scores = scores + (pool.vectors @ factors.astype(np.float32) - float(center @ factors))
        return np.asarray(scores + classifier.intercept_[0])


def _centering(vectors: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the center of embeddings, and the factor to a root mean square length of 1, like that of the words."""
    center = vectors.mean(axis=0, dtype=np.float64)
    squares = np.einsum("ij,ij->", vectors, vectors, dtype=np.float64) / len(vectors)
    variance = float(squares - center @ center)
    return center, float(1 / np.sqrt(variance)) if variance > 1e-9 * squares else 0.0


def _seeds_are_articles(pool: Pool) -> bool:
    words = [len(article.full_text.split()) for article in pool.articles]
    return sum(words) >= _ARTICLE_WORDS * len(words)
