"""The family of query strategies (active learning): which post to label next."""

from typing import ClassVar

import numpy as np

from linker.annotation.pool import Labels, Pool
from linker.common.stats import zscore
from linker.config import Registrable


class QueryStrategy(Registrable):
    """Base of query strategies: rank the unlabeled posts, the next one to label first.

    A ranking depends on pool, labels and generator alone, so replaying the labels of a session reproduces it, and a new
    ranking can be computed in the background while the last one is in use. Posts with equal scores come in the order of
    `Pool.shuffled`, not in that of the file.

    Attributes:
        learns: whether labels change the ranking of the remaining posts; if not, simulations rank only once.
        draws: whether the ranking is uniformly random, so that a session draws its posts as a random sample.
    """

    learns: ClassVar[bool] = True
    draws: ClassVar[bool] = False
    default_component = "active_learning"

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """Return the indices of all unlabeled posts, int64, the next one to label first.

        Args:
            pool: the posts.
            labels: the labels so far.
            generator: source of random numbers.
        """
        raise NotImplementedError


def unlabeled(pool: Pool, labels: Labels) -> np.ndarray:
    """Return the indices of the unlabeled posts, int64, ascending."""
    free = np.ones(len(pool), dtype=bool)
    free[labels.posts] = False
    return np.flatnonzero(free)


def hybrid_scores(pool: Pool) -> np.ndarray:
    """Return the sum of the z-scores of model and BM25 over the pool: one per post."""
    return zscore(pool.scores) + zscore(pool.lexical_scores)


def rank_unlabeled(scores: np.ndarray, pool: Pool, labels: Labels) -> np.ndarray:
    """Return the unlabeled posts by descending score, int64; equal scores in the order of `pool.shuffled`."""
    free = np.ones(len(pool), dtype=bool)
    free[labels.posts] = False
    places = pool.shuffled[free[pool.shuffled]]
    return places[np.argsort(-scores[places], kind="stable")]
