"""Exact scores; each row's score is bitwise independent of batch, thread count and machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np

from linker.common.concurrency import cores

BLOCK = 65_536
"""Rows that one thread takes at once."""
# So few that they are still in the cache when the next query asks for them.
_ROWS = 4_096
_THREADS = 8


class Query:
    """What rows are compared with, and how many scores become one.

    Args:
        articles: float32, articles × dim; or for each article an array of its passages, passages × dim.
        similarity: `cosine` (the vectors have unit length already) or `euclidean`, the negative distance.
        passages: which of an article's passages counts for it: the best, or all alike.

    Attributes:
        vectors: float32, n × dim: what rows must be multiplied with.
        distances: are the squares of the rows' lengths needed as well?
    """

    def __init__(
        self,
        articles: Sequence[np.ndarray] | np.ndarray,
        similarity: str,
        passages: Literal["best", "mean"] = "best",
    ) -> None:
        pieces = [np.atleast_2d(np.asarray(article, dtype=np.float32)) for article in articles]
        self.distances = similarity == "euclidean"
        if not self.distances and (passages == "mean" or all(len(article) == 1 for article in pieces)):
            # The mean of the cosines is the product with the mean vector.
            pieces = [np.stack([article.mean(axis=0) for article in pieces]).mean(axis=0, keepdims=True)]
        self.vectors = np.concatenate(pieces)
        self._ends = np.cumsum([len(article) for article in pieces]).tolist()
        self._best = passages == "best"
        self._squares = np.vecdot(self.vectors, self.vectors)

    def scores(self, products: Sequence[np.ndarray], squares: np.ndarray | None = None) -> np.ndarray:
        """The mean over the articles: float32, one per row.

        Args:
            products: of the rows with each of `vectors`: n arrays with one number per row.
            squares: of the lengths of the rows, where distances are asked for.
        """
        if squares is not None:
            products = [
                np.negative(np.sqrt(np.maximum(squares + own - 2 * product, 0)))
                for product, own in zip(products, self._squares)
            ]
        of_each = [products[start:end] for start, end in zip([0, *self._ends], self._ends)]
        return _mean([_highest(one) if self._best else _mean(one) for one in of_each])


def exact_scores(vectors: np.ndarray, query: Query, start: int = 0, stop: int | None = None) -> np.ndarray:
    """The mean score over the articles of the rows from `start` to before `stop`: float32, one per row.

    A row's score depends on nothing but the row and the query, bit by bit: every score is a dot product of its own.
    A matrix product would not do: its sums are grouped by how many rows there are and how many threads. It would
    not be faster either, what takes time is reading the vectors.

    Args:
        vectors: float32, posts × dim, mapped from a file or in memory.
        query: what they are compared with.
        start: the first row.
        stop: the row behind the last; None: all that follow.
    """
    stop = len(vectors) if stop is None else min(stop, len(vectors))
    scores = np.empty(max(stop - start, 0), dtype=np.float32)

    def fill(begin: int) -> None:
        for first in range(begin, min(begin + BLOCK, stop), _ROWS):
            last = min(first + _ROWS, begin + BLOCK, stop)
            rows = vectors[first:last]
            squares = np.vecdot(rows, rows) if query.distances else None
            products = [np.vecdot(rows, vector) for vector in query.vectors]
            scores[first - start : last - start] = query.scores(products, squares)

    in_threads(fill, range(start, stop, BLOCK))
    return scores


def in_threads(work: Callable[[int], None], blocks: Sequence[int]) -> None:
    """Do some work for each block, several at once where there are several cores."""
    threads = min(_threads(), len(blocks))
    if threads < 2:
        for block in blocks:
            work(block)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, blocks))


def _highest(scores: Sequence[np.ndarray]) -> np.ndarray:
    return scores[0] if len(scores) == 1 else np.stack(scores).max(axis=0)


def _mean(scores: Sequence[np.ndarray]) -> np.ndarray:
    if len(scores) == 1:
        return scores[0]
    return np.stack(scores).mean(axis=0, dtype=np.float64).astype(np.float32)


def _threads() -> int:
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdigit() and int(given):
        return min(int(given), _THREADS)
    return min(cores(), _THREADS)
