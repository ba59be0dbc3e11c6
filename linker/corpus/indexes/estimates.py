"""Estimates of scores by embeddings, with a bound on their error, in less time than exact scores take."""

import numpy as np

from linker.corpus.indexes.exact import BLOCK, by_blocks
from linker.corpus.indexes.vectors import CorpusVectors, ShardVectors
from linker.modules.kernels.scoring import available, largest_whole, row_products

_UNIT = 2.0**-24
"""Unit roundoff of float32."""


def can_estimate(vectors: CorpusVectors, similarity: str) -> bool:
    """Return whether `estimated_scores` can score these embeddings: cosines in 8 bits, with the native library."""
    return vectors.narrow and similarity != "euclidean" and available()


def estimated_scores(vectors: CorpusVectors, vector: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the products with the embedding of an article, rounded to 16 bits; see decision 197.

    Args:
        vectors: the embeddings, which `can_estimate` accepts.
        vector: the embedding of the article: float32, dim.

    Returns:
        The estimates, float32, one per post, and the largest difference to the scores that `exact_scores` returns.
    """
    vector = vector.astype(np.float64)
    # As whole numbers times a step.
    step = float(np.abs(vector).max(initial=0)) / largest_whole(len(vector)) or 1.0
    whole = np.rint(vector / step).astype(np.int16)

    def fill(shard: ShardVectors, begin: int, scores: np.ndarray) -> None:
        part = slice(begin, begin + BLOCK)
        factors = np.asarray(shard.scales)[part].astype(np.float32) * np.float32(step)
        row_products(np.asarray(shard.values)[part], whole, factors, scores[part])

    # Of the rounded vector; and of the sums in float32 of `exact_scores`: Higham 2002, Accuracy and Stability of
    # Numerical Algorithms, equation 3.5, for any order of summation.
    rounded = np.abs(vector - whole * step).sum() + (len(vector) + 8) * _UNIT * np.abs(vector).sum()
    largest = max((float(np.asarray(shard.scales).max(initial=0)) for shard in vectors), default=0.0)
    return by_blocks(vectors, fill), float(1.01 * 128 * largest * rounded)
