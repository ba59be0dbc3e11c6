"""Exact scores of posts from vectors: of a row always the same, whoever computes it, with whatever others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np

BLOCK = 65_536
"""Rows that one thread takes at once."""
# So few that they are still in the cache when the next query asks for them.
_ROWS = 4_096
_THREADS = 8


def scores_of(
    vectors: np.ndarray,
    queries: Sequence[np.ndarray] | np.ndarray,
    similarity: str,
    start: int = 0,
    stop: int | None = None,
    passages: Literal["best", "mean"] = "best",
) -> np.ndarray:
    """The mean score over the articles of the rows from `start` to before `stop`: float32, one per row.

    A row's score depends on nothing but the row and the queries, bit by bit: every score is a dot product of its own.
    A matrix product would not do: its sums are grouped by how many rows there are and how many threads. It would
    not be faster either, what takes time is reading the vectors.

    Args:
        vectors: float32, posts × dim, mapped from a file or in memory.
        queries: float32, articles × dim; or for each article an array of its passages, passages × dim.
        similarity: `cosine` (the vectors have unit length already) or `euclidean`, the negative distance.
        start: the first row.
        stop: the row behind the last; None: all that follow.
        passages: which of an article's passages counts for it: the best, or all alike.
    """
    stop = len(vectors) if stop is None else min(stop, len(vectors))
    articles = [np.atleast_2d(np.asarray(query, dtype=np.float32)) for query in queries]
    if similarity == "cosine" and (passages == "mean" or all(len(article) == 1 for article in articles)):
        # The mean of the cosines is the product with the mean vector.
        articles = [np.stack([article.mean(axis=0) for article in articles]).mean(axis=0, keepdims=True)]
    scores = np.empty(max(stop - start, 0), dtype=np.float32)

    def fill(begin: int) -> None:
        for first in range(begin, min(begin + BLOCK, stop), _ROWS):
            last = min(first + _ROWS, begin + BLOCK, stop)
            rows = vectors[first:last]
            squares = np.vecdot(rows, rows) if similarity == "euclidean" else None
            of_each = [_score(rows, article, squares, passages) for article in articles]
            scores[first - start : last - start] = _mean(of_each)

    blocks = range(start, stop, BLOCK)
    threads = min(_threads(), len(blocks))
    if threads < 2:
        for begin in blocks:
            fill(begin)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(fill, blocks))
    return scores


def _score(
    rows: np.ndarray, article: np.ndarray, squares: np.ndarray | None, passages: Literal["best", "mean"]
) -> np.ndarray:
    """The score of each row for one article; `squares`: of the rows' lengths, if distances are asked for."""
    of_each = []
    for passage in article:
        score = np.vecdot(rows, passage)
        if squares is not None:
            from_zero = squares + np.vecdot(passage, passage)
            score = np.negative(np.sqrt(np.maximum(from_zero - 2 * score, 0)))
        of_each.append(score)
    return _mean(of_each) if passages == "mean" else np.stack(of_each).max(axis=0)


def _mean(scores: list[np.ndarray]) -> np.ndarray:
    if len(scores) == 1:
        return scores[0]
    return np.stack(scores).mean(axis=0, dtype=np.float64).astype(np.float32)


def _threads() -> int:
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdigit() and int(given):
        return min(int(given), _THREADS)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _THREADS)
