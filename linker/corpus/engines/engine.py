"""Engines call functions on chunks of posts: in this process or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


class Engine:
    """Engine that works in this process, in a `with` block."""

    def map(self, function: Callable[..., T], items: Iterable[tuple[Any, ...]]) -> Iterator[T]:
        """Yield the results of calls, in the order of the items.

        An error of `items` is raised after the results of all items before it were yielded.

        Args:
            function: the function; it must have no state, because a call may be repeated.
            items: arguments of each call.
        """
        for item in items:
            yield function(*item)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *error: object) -> None:
        return None
