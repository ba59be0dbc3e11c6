"""Exact scores; each row's score is bitwise independent of batch, thread count and machine."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

import numpy as np

from linker.common.concurrency import in_threads
from linker.corpus.indexes.vectors import ShardVectors

BLOCK = 65_536
"""Number of rows that a thread processes at a time."""
# Of rows that are multiplied together, as float32: few enough to stay in the cache.
_BLOCK_BYTES = 786_432


class Query:
    """The articles of a query: the vectors to multiply rows with, and how the products become one score.

    Args:
        articles: float32, articles × dim; or for each article an array of its passages, passages × dim.
        similarity: `cosine` (of unit vectors) or `euclidean`, the negative distance.
        passages: score of an article: the best or the mean score of its passages.

    Attributes:
        vectors: float32, n × dim: the vectors to multiply rows with.
        distances: whether `scores` needs the squared lengths of the rows.
    """

    def __init__(
        self,
        articles: Sequence[np.ndarray] | np.ndarray,
        similarity: str,
        passages: Literal["best", "mean"] = "best",
    ) -> None:
        pieces = [np.atleast_2d(np.asarray(article, dtype=np.float32)) for article in articles]
        self.distances = similarity == "euclidean"
        averaged = not self.distances and (passages == "mean" or all(len(article) == 1 for article in pieces))
        if averaged and (len(pieces) > 1 or len(pieces[0]) > 1):
            # The mean of cosines equals the product with the mean vector.
            pieces = [np.stack([article.mean(axis=0) for article in pieces]).mean(axis=0, keepdims=True)]
        self.vectors = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        self._ends = list(accumulate(map(len, pieces)))
        self._best = passages == "best"

    def scores(self, products: Sequence[np.ndarray], squares: np.ndarray | None = None) -> np.ndarray:
        """Return the mean score over the articles: float32, one per row.

        Args:
            products: n arrays, products of the rows with each of `vectors`.
            squares: squared lengths of the rows, if `distances` is set.
        """
        if squares is not None:
            products = [
                np.negative(np.sqrt(np.maximum(squares + own - 2 * product, 0)))
                for product, own in zip(products, np.vecdot(self.vectors, self.vectors))
            ]
        of_each = [products[start:end] for start, end in zip([0, *self._ends], self._ends)]
        return _mean([_highest(one) if self._best else _mean(one) for one in of_each])


def exact_scores(vectors: Sequence[ShardVectors], query: Query) -> np.ndarray:
    """Return the mean score over the articles of each post that is not deleted: float32, one per post.

    Every score is a separate dot product, so it depends on the row and the query only, in every bit. In a matrix
    product the order of summation depends on the numbers of rows and threads; it would not be faster, because most of
    the time is spent reading the vectors.

    Args:
        vectors: the embeddings of the shards.
        query: the query.
    """
    scores = [np.empty(len(one), dtype=np.float32) for one in vectors]

    def fill(task: tuple[int, int]) -> None:
        which, begin = task
        one = vectors[which]
        values = np.asarray(one.values)  # memory-mapped arrays take longer to slice
        scales = None if one.scales is None else one.scales[begin : begin + BLOCK].astype(np.float32)
        size = max(1, _BLOCK_BYTES // (4 * values.shape[1]))
        narrow = values.dtype != np.float32
        wide = np.empty((min(size, len(one)), values.shape[1]), dtype=np.float32) if narrow else None
        for first in range(begin, min(begin + BLOCK, len(one)), size):
            last = min(first + size, begin + BLOCK, len(one))
            rows = values[first:last]
            if wide is not None:
                rows = wide[: last - first]
                np.copyto(rows, values[first:last], casting="unsafe")
            squares = np.vecdot(rows, rows) if query.distances else None
            products = [np.vecdot(rows, vector) for vector in query.vectors]
            if scales is not None:
                factors = scales[first - begin : last - begin]
                squares = None if squares is None else squares * factors * factors
                products = [product * factors for product in products]
            scores[which][first:last] = query.scores(products, squares)

    in_threads(
        fill, [(which, begin) for which, one in enumerate(vectors) for begin in range(0, len(one), BLOCK)]
    )
    kept = [of_rows if one.live is None else of_rows[one.live] for one, of_rows in zip(vectors, scores)]
    return np.concatenate([np.zeros(0, dtype=np.float32), *kept])


def _highest(scores: Sequence[np.ndarray]) -> np.ndarray:
    return scores[0] if len(scores) == 1 else np.stack(scores).max(axis=0)


def _mean(scores: Sequence[np.ndarray]) -> np.ndarray:
    if len(scores) == 1:
        return scores[0]
    return np.stack(scores).mean(axis=0, dtype=np.float64).astype(np.float32)
