"""Estimates of scores by embeddings, with a bound on their error, in less time than exact scores take."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from linker.common.concurrency import in_threads
from linker.corpus.indexes.exact import BLOCK, Query
from linker.corpus.indexes.vectors import CorpusVectors, ShardVectors
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


def can_estimate(vectors: CorpusVectors, query: Query) -> bool:
    """Return whether `estimated_scores` can score these embeddings: by cosines, of finite numbers.

    Embeddings in 8 bits need the native library.
    """
    if query.distances:
        return False
    if vectors.narrow:
        return available()
    return all(one.scales is None and np.isfinite(one.largest) for one in vectors)


def estimated_scores(vectors: CorpusVectors, query: Query) -> Estimate:
    """Return the products with the vector of the query; see decision 197.

    The vector is rounded to 16 bits for embeddings in 8 bits; those in float32 are multiplied by BLAS, whose order of
    summation is unknown.

    Args:
        vectors: the embeddings, which `can_estimate` accepts.
        query: the query.
    """
    vector = query.vector.astype(np.float64)
    ends = [0, *accumulate(map(len, vectors))]
    scores = np.empty(ends[-1], dtype=np.float32)
    of_shards = [scores[begin:end] for begin, end in pairwise(ends)]
    # The sums in float32 of `exact_scores` have the error of Higham 2002, Accuracy and Stability of Numerical
    # Algorithms, equation 3.5, for any order of summation.
    summed = (len(vector) + 8) * _UNIT * np.abs(vector).sum()
    if vectors.narrow:
        rounded = _narrow_products(vectors, vector, of_shards)
    else:
        rounded = summed
        for one, of_rows in zip(vectors, of_shards):
            np.matmul(np.asarray(one.values), query.vector, out=of_rows)
    largest_number = max((one.largest for one in vectors), default=0.0)
    if any(one.live is not None for one in vectors):
        kept = [
            of_rows if one.live is None else of_rows[one.live] for one, of_rows in zip(vectors, of_shards)
        ]
        scores = np.concatenate(kept)
    return Estimate(scores, float(1.01 * largest_number * (rounded + summed)))


def _narrow_products(
    vectors: Sequence[ShardVectors], vector: np.ndarray, of_shards: Sequence[np.ndarray]
) -> float:
    """Compute products that are exact but for the rounded vector and three roundings; return the sum of the former."""
    whole, step = _whole(vector)

    def fill(task: tuple[int, int]) -> None:
        which, begin = task
        one = vectors[which]
        assert one.scales is not None  # they are narrow
        part = slice(begin, min(begin + BLOCK, len(one)))
        factors = np.asarray(one.scales)[part].astype(np.float32) * np.float32(step)
        row_products(np.asarray(one.values)[part], whole, factors, of_shards[which][part])

    in_threads(
        fill, [(which, begin) for which, one in enumerate(vectors) for begin in range(0, len(one), BLOCK)]
    )
    return float(np.abs(vector - whole * step).sum())


def _whole(vector: np.ndarray) -> tuple[np.ndarray, float]:
    """Return a vector as whole numbers, int16, times a step."""
    step = float(np.abs(vector).max(initial=0)) / largest_whole(len(vector)) or 1.0
    return np.rint(vector / step).astype(np.int16), step
