"""Estimates of scores by embeddings, with a bound on their error, in less time than exact scores take."""

from typing import NamedTuple

import numpy as np

from linker.common.concurrency import in_threads
from linker.corpus.indexes.exact import BLOCK
from linker.corpus.indexes.vectors import CorpusVectors
from linker.modules.kernels.scoring import available, largest_whole, row_products

_UNIT = 2.0**-24
"""Unit roundoff of float32."""


class Estimate(NamedTuple):
    """Estimates of scores.

    Attributes:
        scores: float32, one per post.
        error: largest difference to the scores that `exact_scores` returns.
    """

    scores: np.ndarray
    error: float


def can_estimate(vectors: CorpusVectors, similarity: str) -> bool:
    """Return whether `estimated_scores` can score these embeddings: cosines in 8 bits, with the native library."""
    return vectors.narrow and similarity != "euclidean" and available()


def estimated_scores(vectors: CorpusVectors, vector: np.ndarray) -> Estimate:
    """Return the products with the embedding of an article, rounded to 16 bits; see decision 197.

    Args:
        vectors: the embeddings, which `can_estimate` accepts.
        vector: the embedding of the article: float32, dim.
    """
    vector = vector.astype(np.float64)
    # As whole numbers times a step.
    step = float(np.abs(vector).max(initial=0)) / largest_whole(len(vector)) or 1.0
    whole = np.rint(vector / step).astype(np.int16)
    scores = [np.empty(len(shard), dtype=np.float32) for shard in vectors]
    scales = [np.asarray(shard.scales, dtype=np.float32) for shard in vectors]

    def fill(task: tuple[int, int]) -> None:
        which, begin = task
        part = slice(begin, begin + BLOCK)
        values, factors = np.asarray(vectors[which].values)[part], scales[which][part] * np.float32(step)
        row_products(values, whole, factors, scores[which][part])

    in_threads(
        fill, [(which, begin) for which, shard in enumerate(vectors) for begin in range(0, len(shard), BLOCK)]
    )
    # Of the rounded vector; and of the sums in float32 of `exact_scores`: Higham 2002, Accuracy and Stability of
    # Numerical Algorithms, equation 3.5, for any order of summation.
    rounded = np.abs(vector - whole * step).sum() + (len(vector) + 8) * _UNIT * np.abs(vector).sum()
    largest_number = 128 * max((float(of_shard.max(initial=0)) for of_shard in scales), default=0.0)
    live = [of_rows if shard.live is None else of_rows[shard.live] for shard, of_rows in zip(vectors, scores)]
    every = np.concatenate([np.zeros(0, dtype=np.float32), *live])
    return Estimate(every, float(1.01 * largest_number * rounded))
