"""Fusion of lexical and dense scores (hybrid retrieval)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from linker.common.stats import ScoreStats

_RUN, _RUNS = 4_096, 16

Fusion = Literal["none", "zscore"]
"""Scores by vectors alone; or, standardized, with half the standardized BM25 scores added."""
WORDS = 0.5
"""What the words weigh; the vectors weigh 1."""


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
    mean scores are standardized.

    Args:
        words: BM25 scores of all posts: float32.
        vectors: scores by vectors of the posts of `sample`.
    """

    def __init__(self, words: np.ndarray, vectors: np.ndarray) -> None:
        self._words = np.float32(WORDS) * ScoreStats.of(words).standardize(words)
        self._vectors = ScoreStats.of(vectors)

    def __call__(self, scores: np.ndarray, places: np.ndarray | slice = slice(None)) -> np.ndarray:
        """The sums for posts whose scores by vectors are given, and where they stand in the store."""
        return self._vectors.standardize(scores) + self._words[places]
