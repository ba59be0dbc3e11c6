"""Engines call functions on chunks of posts and find the best rows of a matrix: in this process or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from linker.corpus.indexes.exact import Query, exact_scores
from linker.corpus.indexes.vectors import ShardVectors

T = TypeVar("T")


class Engine:
    """Engine that works in this process.

    An engine is used in a `with` block. Blocks can be nested: only the outermost one starts and stops it.

    Attributes:
        local: whether it works in this process, so that searches may leave out posts by bounds of their scores.
    """

    local = True

    def map(self, function: Callable[..., T], items: Iterable[tuple[Any, ...]]) -> Iterator[T]:
        """Yield the results of calls, in the order of the items.

        An error of `items` is raised after the results of all items before it were yielded.

        Args:
            function: the function; it must have no state, because a call may be repeated.
            items: arguments of each call.
        """
        for item in items:
            yield function(*item)

    def scores(self, vectors: Sequence[ShardVectors], query: Query) -> np.ndarray:
        """Return the scores of all posts that are not deleted: float32; see `exact_scores`."""
        return exact_scores(vectors, query)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *error: object) -> None:
        return None
