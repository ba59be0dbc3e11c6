"""No order at all."""

from __future__ import annotations

import numpy as np

from linker.annotation.labels import Labels
from linker.annotation.ordering import OrderingStrategy
from linker.annotation.pool import Pool
from linker.annotation.strategies.by_score import unlabelled


@OrderingStrategy.register("random")
class RandomOrder(OrderingStrategy):
    """Drawn anew each time: what the other strategies have to beat."""

    learns = False

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """A permutation, all equally likely."""
        return generator.permutation(unlabelled(pool, labels))
