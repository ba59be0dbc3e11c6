"""By shared words."""

from __future__ import annotations

import numpy as np

from linker.annotation.labels import Labels
from linker.annotation.ordering import OrderingStrategy
from linker.annotation.pool import Pool
from linker.annotation.strategies.by_score import best_first


@OrderingStrategy.register("lexical")
class LexicalOrder(OrderingStrategy):
    """By BM25 for the seed articles; labels change nothing."""

    learns = False

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """The best score first."""
        return best_first(pool.lexical_scores, pool, labels)
