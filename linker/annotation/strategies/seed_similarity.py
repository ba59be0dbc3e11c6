"""The paper's order: by the model's score for the seed articles."""

from __future__ import annotations

import numpy as np

from linker.annotation.labels import Labels
from linker.annotation.ordering import OrderingStrategy
from linker.annotation.pool import Pool
from linker.annotation.strategies.by_score import best_first


@OrderingStrategy.register("seed_similarity")
class SeedSimilarity(OrderingStrategy):
    """By the model's score for the seed articles, as in Danovitch 2020, section 5; labels change nothing."""

    learns = False

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """The best score first."""
        return best_first(pool.scores, pool, labels)
