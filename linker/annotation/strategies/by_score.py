"""What orders by a score of each post have in common."""

from __future__ import annotations

import numpy as np

from linker.annotation.labels import Labels
from linker.annotation.pool import Pool


def unlabelled(pool: Pool, labels: Labels) -> np.ndarray:
    """int64: the places without a label, ascending."""
    free = np.ones(len(pool), dtype=bool)
    free[labels.posts] = False
    return np.flatnonzero(free)


def best_first(scores: np.ndarray, pool: Pool, labels: Labels) -> np.ndarray:
    """int64: the places without a label, the highest score first, equal scores in the order of `pool.shuffled`."""
    free = np.ones(len(pool), dtype=bool)
    free[labels.posts] = False
    places = pool.shuffled[free[pool.shuffled]]
    return places[np.argsort(-scores[places], kind="stable")]


def standardised(scores: np.ndarray) -> np.ndarray:
    """float64: with mean 0 and standard deviation 1; zeros where all are equal."""
    centred = scores - scores.mean(dtype=np.float64)
    deviation = centred.std()
    largest = np.abs(scores).max(initial=0.0)
    return centred / deviation if deviation > 1e-6 * largest else np.zeros(len(scores))
