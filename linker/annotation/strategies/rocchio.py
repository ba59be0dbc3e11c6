"""The seed articles moved towards what was found, and away from the rest."""

from __future__ import annotations

import numpy as np

from linker.annotation.labels import Labels
from linker.annotation.ordering import OrderingStrategy
from linker.annotation.pool import Pool
from linker.annotation.strategies.by_score import best_first, standardised
from linker.bounds import at_least


@OrderingStrategy.register("rocchio")
class RocchioOrder(OrderingStrategy):
    """Rocchio's relevance feedback (1971), on TF-IDF words and on the model's vectors, the scores of both added.

    The query is the mean of the seed articles + `relevant` × the mean of the relevant posts − `other` × the mean of
    the others.

    Args:
        relevant: how strongly relevant posts attract.
        other: how strongly posts that are not relevant repel.
    """

    def __init__(self, relevant: float = 0.75, other: float = 0.15) -> None:
        at_least(0, relevant=relevant, other=other)
        self.relevant, self.other = relevant, other

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """The best score for the query first."""
        found, rest = labels.posts[labels.relevant], labels.posts[~labels.relevant]
        query = np.asarray(pool.article_words.mean(axis=0))[0]
        for factor, places in ((self.relevant, found), (-self.other, rest)):
            if len(places):
                query = query + factor * np.asarray(pool.words[places].mean(axis=0))[0]
        scores = standardised(pool.words @ query)
        if pool.vectors is not None and pool.article_vectors is not None:
            vector = pool.article_vectors.mean(axis=0)
            for factor, places in ((self.relevant, found), (-self.other, rest)):
                if len(places):
                    vector = vector + factor * pool.vectors[places].mean(axis=0)
            scores = scores + standardised(pool.vectors @ vector)
        return best_first(scores, pool, labels)
