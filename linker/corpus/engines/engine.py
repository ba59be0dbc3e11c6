"""Engines call functions on chunks of posts and find the best rows of a matrix: in this process or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from linker.corpus.indexes.exact import Query, exact_scores
from linker.corpus.indexes.vectors import ShardVectors

if TYPE_CHECKING:
    from linker.corpus.search.top_k import Scored

T = TypeVar("T")


class Engine:
    """Engine that works in this process.

    An engine is used in a `with` block. Blocks can be nested: only the outermost one starts and stops it.

    Attributes:
        prunes: whether searches may leave out posts by bounds of their scores, computed in this process, and ask the
            engine for none; see `PrunedQuery`.
    """

    prunes = True

    def map(self, function: Callable[..., T], items: Iterable[tuple[Any, ...]]) -> Iterator[T]:
        """Yield the results of calls, in the order of the items.

        An error of `items` is raised after the results of all items before it were yielded.

        Args:
            function: the function; it must have no state, because a call may be repeated.
            items: arguments of each call.
        """
        for item in items:
            yield function(*item)

    def scored(self, vectors: Sequence[ShardVectors], query: Query, places: np.ndarray | None) -> Scored:
        """Return a function from a number n to scores that include the n best rows (of `places`, ascending, if given).

        Args:
            vectors: the embeddings.
            query: the query.
            places: int64, ascending: rows to search; None: all.
        """
        scores = self.scores(vectors, query)
        if places is not None:
            scores = scores[places]
        return lambda count: (scores, places)

    def scores(self, vectors: Sequence[ShardVectors], query: Query) -> np.ndarray:
        """Return the scores of all posts: float32; see `exact_scores`."""
        return exact_scores(vectors, query)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *error: object) -> None:
        return None


def upper(scores: np.ndarray, count: int) -> np.ndarray:
    """Return the indices of the `count` best scores, and of all scores equal to the last of them: int64, ascending."""
    if count >= len(scores):
        return np.arange(len(scores))
    if count < 1:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(scores >= np.partition(scores, len(scores) - count)[len(scores) - count])
