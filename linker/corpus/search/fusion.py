"""Fusion of lexical and dense scores (hybrid retrieval)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from linker.common.stats import ScoreStats

_RUN, _RUNS = 4_096, 16

Fusion = Literal["none", "zscore"]
"""`none`: dense scores alone. `zscore`: standardized dense scores plus half the standardized BM25 scores."""
WORDS = 0.5
"""Weight of the BM25 scores; the dense scores have weight 1."""


def sample(rows: int) -> list[slice]:
    """Return rows whose scores represent all: 16 evenly spaced runs of 4,096, or all rows if there are fewer.

    Approximate search does not know the scores of all posts, and must fuse them as exact search does.
    """
    if rows <= _RUN * _RUNS:
        return [slice(0, rows)]
    return [slice(run, run + _RUN) for run in np.linspace(0, rows - _RUN, _RUNS).astype(int).tolist()]


class Fused:
    """Adds BM25 scores to dense scores, as `EnsembleModel` does with `zscore` and the weights 1 and 0.5.

    Both are standardized over all posts of the corpus, so a post's score does not depend on the filter; the dense
    scores by the mean and standard deviation of `sample`. Of several articles, the mean scores are standardized.

    Args:
        words: float32, BM25 scores of all posts.
        vectors: float32, dense scores of the posts of `sample`.
    """

    def __init__(self, words: np.ndarray, vectors: np.ndarray) -> None:
        self._words = np.float32(WORDS) * ScoreStats.of(words).standardize(words)
        self._vectors = ScoreStats.of(vectors)

    def __call__(self, scores: np.ndarray, places: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Return the fused scores of posts, from their dense scores and their indices in the store: float32."""
        return self._vectors.standardize(scores) + self._words[places]
