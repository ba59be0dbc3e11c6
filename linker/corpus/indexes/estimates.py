"""Estimates of scores by embeddings in 8 bits, with a bound on their error; a ninth of the time of float32 in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from linker.corpus.indexes.exact import BLOCK, Query, exact_scores, in_threads
from linker.corpus.indexes.vectors import ShardVectors, together
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


def can_estimate(vectors: Sequence[ShardVectors], query: Query) -> bool:
    """Return whether `estimated_scores` can score these embeddings: 8 bits, one vector, cosines, native library."""
    narrow = all(one.values.dtype == np.int8 and one.scales is not None for one in vectors)
    return narrow and len(query.vectors) == 1 and not query.distances and available()


def estimated_scores(vectors: Sequence[ShardVectors], query: Query) -> Estimate:
    """Return the products with the vector of the query, rounded to 16 bits; see decision 197.

    Args:
        vectors: the embeddings, which `can_estimate` accepts.
        query: the query.
    """
    vector = query.vectors[0].astype(np.float64)
    largest = largest_whole(len(vector))
    step = float(np.abs(vector).max(initial=0)) / largest or 1.0
    whole = np.rint(vector / step).astype(np.int16)
    ends = np.cumsum([len(one) for one in vectors], dtype=np.int64)
    scores = np.empty(ends[-1] if len(ends) else 0, dtype=np.float32)

    def fill(task: tuple[int, int]) -> None:
        which, begin = task
        one = vectors[which]
        assert one.scales is not None  # `can_estimate`
        part = slice(begin, min(begin + BLOCK, len(one)))
        factors = np.asarray(one.scales)[part].astype(np.float32) * np.float32(step)
        row_products(np.asarray(one.values)[part], whole, factors, of_shards[which][part])

    of_shards = np.split(scores, ends[:-1])
    tasks = [(which, begin) for which, one in enumerate(vectors) for begin in range(0, len(one), BLOCK)]
    in_threads(fill, tasks)
    # The sums in float32 of `exact_scores` have the error of Higham 2002, Accuracy and Stability of Numerical
    # Algorithms, equation 3.5; the products here are exact but for the rounded vector and three roundings.
    rounded = np.abs(vector - whole * step).sum()
    summed = (len(vector) + 8) * _UNIT * np.abs(vector).sum()
    largest_number = max((one.largest for one in vectors), default=0.0)
    if any(one.live is not None for one in vectors):
        kept = [
            of_rows if one.live is None else of_rows[one.live] for one, of_rows in zip(vectors, of_shards)
        ]
        scores = np.concatenate(kept)
    return Estimate(scores, float(1.01 * largest_number * (rounded + summed)))


def scores_at(vectors: Sequence[ShardVectors], query: Query, places: np.ndarray) -> np.ndarray:
    """Return the scores of some posts, bit for bit those of `exact_scores`: float32, one per place.

    Args:
        vectors: the embeddings.
        query: the query.
        places: int64, ascending: indices of posts among those that are not deleted.
    """
    ends = np.cumsum([one.posts for one in vectors], dtype=np.int64)
    bounds = np.searchsorted(places, np.concatenate([[0], ends])).tolist()
    some = [
        one.taken(places[start:stop] - end + one.posts)
        for one, end, start, stop in zip(vectors, ends.tolist(), bounds, bounds[1:])
        if start < stop
    ]
    return exact_scores(together(some), query)
