"""The model and shared words together."""

from __future__ import annotations

import numpy as np

from linker.annotation.labels import Labels
from linker.annotation.ordering import OrderingStrategy
from linker.annotation.pool import Pool
from linker.annotation.strategies.by_score import best_first, standardised


@OrderingStrategy.register("hybrid")
class HybridOrder(OrderingStrategy):
    """By the sum of the model's and BM25's scores, each with mean 0 and standard deviation 1 over the pool."""

    learns = False

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """The best sum first; labels change nothing."""
        return best_first(standardised(pool.scores) + standardised(pool.lexical_scores), pool, labels)
