"""Prefetching: a thread prepares the next item while the current one is processed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def ahead(items: Iterable[T]) -> Iterator[T]:
    """Yield the items; a thread prepares the next one while the caller processes the current one.

    Errors of the iterable are raised at the position of the item.
    """
    source = iter(items)
    end = object()
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as worker:
        coming = worker.submit(next, source, end)
        while (item := coming.result()) is not end:
            coming = worker.submit(next, source, end)
            yield item  # type: ignore[misc]
