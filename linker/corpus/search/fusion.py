"""Fusion of lexical and dense scores (hybrid retrieval)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from linker.common.stats import zscore

Fusion = Literal["none", "zscore"]
"""`none`: dense scores alone. `zscore`: standardized dense scores plus half the standardized BM25 scores."""
WORDS = 0.5
"""Weight of the BM25 scores; the dense scores have weight 1."""


def fuse(vectors: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Add scores by words to scores by vectors, as `EnsembleModel` does with `zscore` and the weights 1 and 0.5.

    Both have mean 0 and standard deviation 1 over all posts of the corpus, whatever the conditions, so a post's score
    does not depend on them. A query of several articles is one query: its mean scores are standardized.

    Args:
        vectors: scores by vectors: float32, one per post.
        words: BM25 scores: float32, one per post.

    Returns:
        The fused scores: float32, one per post.
    """
    return (zscore(vectors) + WORDS * zscore(words)).astype(np.float32)
