"""What orders by a score of each post have in common."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linker.annotation.pool import Labels, Pool
from linker.config import Registrable


class QueryStrategy(Registrable):
    """BackgroundRanker the posts that have no label yet.

    An order is a function of pool, labels and generator alone, so a session can be reproduced by replaying its labels,
    and a new order may be computed in the background while the last one is still in use. Posts with equal scores come
    in the order of `Pool.shuffled`, never in that of the file.

    Attributes:
        learns: whether labels change the order of the posts that are left. Where they do not, the simulation asks once.
    """

    learns: ClassVar[bool] = True
    default_component = "learning"

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """int64: the places of all unlabeled posts, the one to label first first."""
        raise NotImplementedError


def unlabeled(pool: Pool, labels: Labels) -> np.ndarray:
    """int64: the places without a label, ascending."""
    free = np.ones(len(pool), dtype=bool)
    free[labels.posts] = False
    return np.flatnonzero(free)


def rank_unlabeled(scores: np.ndarray, pool: Pool, labels: Labels) -> np.ndarray:
    """int64: the places without a label, the highest score first, equal scores in the order of `pool.shuffled`."""
    free = np.ones(len(pool), dtype=bool)
    free[labels.posts] = False
    places = pool.shuffled[free[pool.shuffled]]
    return places[np.argsort(-scores[places], kind="stable")]
