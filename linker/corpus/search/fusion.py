"""Scores by words and scores by vectors, made comparable and added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

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


def sample(rows: int) -> list[slice]:
    """Rows whose scores stand for all: 16 runs of 4,096 at equal distances, or all where these are fewer.

    Approximate search does not know the scores of all posts, and should give the same sums as exact search.
    """
    if rows <= _RUN * _RUNS:
        return [slice(0, rows)]
    return [slice(run, run + _RUN) for run in np.linspace(0, rows - _RUN, _RUNS).astype(int).tolist()]


class Fused:
    """Adds scores by words to scores by vectors, as `EnsembleModel` does with `zscore` and the weights 1 and 0.5.

    Both have mean 0 and standard deviation 1 over all posts of the corpus, whatever the conditions, so a post's score
    does not depend on them; for the vectors `sample` stands for all. A query of several articles is one query: its
    mean scores are standardised.

    Args:
        words: BM25 scores of all posts: float32.
        vectors: scores by vectors of the posts of `sample`.
    """

    def __init__(self, words: np.ndarray, vectors: np.ndarray) -> None:
        self._words = np.float32(WORDS) * Spread.of(words).standard(words)
        self._vectors = Spread.of(vectors)

    def __call__(self, scores: np.ndarray, places: np.ndarray | slice = slice(None)) -> np.ndarray:
        """The sums for posts whose scores by vectors are given, and where they stand in the store."""
        return self._vectors.standard(scores) + self._words[places]
