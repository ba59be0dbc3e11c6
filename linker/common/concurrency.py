"""Reading ahead: the next piece of work is prepared while the present one is done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def ahead(items: Iterable[T]) -> Iterator[T]:
    """The same items; a thread makes the next one while the caller is busy with one.

    What making an item raises is raised here in its turn.
    """
    source = iter(items)
    end = object()
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as worker:
        coming = worker.submit(next, source, end)
        while (item := coming.result()) is not end:
            coming = worker.submit(next, source, end)
            yield item  # type: ignore[misc]
