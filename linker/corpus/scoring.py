"""Exact scores of posts from vectors: of a row always the same, whoever computes it, with whatever others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

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
) -> np.ndarray:
    """The mean score over the articles of the rows from `start` to before `stop`: float32, one per row.

    A row's score depends on nothing but the row and the queries, bit by bit: every score is a dot product of its own.
    A matrix product would not do: its sums are grouped by how many rows there are and how many threads. It would
    not be faster either, what takes time is reading the vectors.

    Args:
        vectors: float32, posts × dim, mapped from a file or in memory.
        queries: float32, articles × dim; or for each article an array of its passages, passages × dim: the best of them
            then counts for the article.
        similarity: `cosine` (the vectors have unit length already) or `euclidean`, the negative distance.
        start: the first row.
        stop: the row behind the last; None: all that follow.
    """
    stop = len(vectors) if stop is None else min(stop, len(vectors))
    articles = _articles(queries, similarity)
    scores = np.empty(max(stop - start, 0), dtype=np.float32)

    def fill(begin: int) -> None:
        for first in range(begin, min(begin + BLOCK, stop), _ROWS):
            last = min(first + _ROWS, begin + BLOCK, stop)
            scores[first - start : last - start] = _mean_scores(vectors[first:last], articles, similarity)

    blocks = range(start, stop, BLOCK)
    threads = min(_threads(), len(blocks))
    if threads < 2:
        for begin in blocks:
            fill(begin)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(fill, blocks))
    return scores


def _articles(queries: Sequence[np.ndarray] | np.ndarray, similarity: str) -> list[np.ndarray]:
    articles = [np.atleast_2d(np.asarray(query, dtype=np.float32)) for query in queries]
    if similarity == "cosine" and all(len(passages) == 1 for passages in articles):
        # The mean of the cosines is the product with the mean vector.
        return [np.concatenate(articles).mean(axis=0, keepdims=True)]
    return articles


def _mean_scores(rows: np.ndarray, articles: Sequence[np.ndarray], similarity: str) -> np.ndarray:
    squares = np.vecdot(rows, rows) if similarity == "euclidean" else None
    best = [_best_passage(rows, passages, squares) for passages in articles]
    return best[0] if len(best) == 1 else np.stack(best).mean(axis=0, dtype=np.float64).astype(np.float32)


def _best_passage(rows: np.ndarray, passages: np.ndarray, squares: np.ndarray | None) -> np.ndarray:
    best = np.vecdot(rows, passages[0]) if squares is None else _nearness(rows, passages[0], squares)
    for passage in passages[1:]:
        again = np.vecdot(rows, passage) if squares is None else _nearness(rows, passage, squares)
        np.maximum(best, again, out=best)
    return best


def _nearness(rows: np.ndarray, query: np.ndarray, squares: np.ndarray) -> np.ndarray:
    from_zero = squares + np.vecdot(query, query)
    return np.negative(np.sqrt(np.maximum(from_zero - 2 * np.vecdot(rows, query), 0)))


def _threads() -> int:
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdigit() and int(given):
        return min(int(given), _THREADS)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _THREADS)
