"""Threads that rank, apart from those that take labels."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from linker.common.concurrency import cores
from linker.common.errors import LinkerError

_THREADS = 4 + cores()
"""Threads; as many as there are cores search a corpus, the others wait for the page of an article."""
MOST_WAITING = 100
_T = TypeVar("_T")


class BusyError(LinkerError):
    """Too many rankings wait."""


class RankingQueue:
    """Runs functions in a few threads, in order; they do not keep the process from ending, as those of asyncio do."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(_THREADS)
        self._waiting = 0

    async def run(self, function: Callable[[], _T]) -> _T:
        """Return what a function returns.

        Raises:
            BusyError: if `MOST_WAITING` others wait; else what the function raises.
        """
        if self._waiting >= MOST_WAITING:
            raise BusyError("the server is busy with other rankings; try again in a minute")
        self._waiting += 1
        try:
            async with self._free:
                result: Future[_T] = Future()
                threading.Thread(target=_settle, args=(result, function), daemon=True).start()
                return await asyncio.wrap_future(result)
        finally:
            self._waiting -= 1


def _settle(result: Future[_T], function: Callable[[], _T]) -> None:
    result.set_running_or_notify_cancel()  # from here on it cannot be canceled
    try:
        result.set_result(function())
    except BaseException as error:
        result.set_exception(error)
