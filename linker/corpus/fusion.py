"""Scores by words and scores by vectors, made comparable and added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from linker.corpus.scoring import Query, exact_scores

_RUN, _RUNS = 4_096, 16

Fusion = Literal["none", "zscore"]
"""Scores by vectors alone; or, standardised, with half the standardised BM25 scores added."""
WORDS = 0.5
"""What the words weigh; the vectors weigh 1."""


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation of the scores of all posts; a deviation of 0: they are all the same."""

    mean: float
    deviation: float

    @classmethod
    def by_vectors(cls, vectors: np.ndarray, query: Query) -> Spread:
        """That of the scores by vectors, of an even sample of 65,536 posts where there are more.

        Approximate search does not know all scores, and should give the same sums as exact search.
        """
        runs = np.linspace(0, max(len(vectors) - _RUN, 0), _RUNS).astype(int)
        if len(vectors) <= _RUN * _RUNS:
            return cls.of(exact_scores(vectors, query))
        return cls.of(
            np.concatenate([exact_scores(vectors, query, run, run + _RUN) for run in runs.tolist()])
        )

    @classmethod
    def of(cls, scores: np.ndarray) -> Spread:
        """Those of some scores."""
        mean = float(scores.mean(dtype=np.float64))
        deviation = float(np.std(scores, dtype=np.float64, mean=np.float64(mean)))
        # Equal scores may leave a deviation of rounding size; dividing by it would blow noise up to scores.
        return cls(mean, deviation if deviation > 1e-6 * float(np.abs(scores).max()) else 0.0)

    def standard(self, scores: np.ndarray) -> np.ndarray:
        """The scores with mean 0 and deviation 1: float32."""
        if not self.deviation:
            return np.zeros(len(scores), dtype=np.float32)
        return ((scores - self.mean) / self.deviation).astype(np.float32)


class Fused:
    """Adds scores by words to scores by vectors, as `HybridModel` does with `zscore` and the weights 1 and 0.5.

    Both have mean 0 and standard deviation 1 over all posts of the corpus, whatever the conditions, so a post's score
    does not depend on them. A query of several articles is one query: its mean scores are standardised.

    Args:
        words: BM25 scores of all posts: float32.
        vectors: the spread of the scores by vectors.
    """

    def __init__(self, words: np.ndarray, vectors: Spread) -> None:
        self._words = np.float32(WORDS) * Spread.of(words).standard(words)
        self._vectors = vectors

    def __call__(self, scores: np.ndarray, places: np.ndarray | slice = slice(None)) -> np.ndarray:
        """The sums for posts whose scores by vectors are given, and where they stand in the store."""
        return self._vectors.standard(scores) + self._words[places]
