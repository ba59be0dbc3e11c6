"""Threads that rank, apart from those that take labels."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any

from linker.common.concurrency import cores
from linker.common.errors import LinkerError

_THREADS = 4 + cores()
"""Threads; as many as there are cores search a corpus, the others wait for the page of an article."""
MOST_WAITING = 100


class BusyError(LinkerError):
    """Too many rankings wait."""


class RankingQueue:
    """Runs functions in a few threads of its own, in order.

    The threads do not keep the process from ending.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._waiting = 0

    async def run(self, function: Callable[[], Any]) -> Any:
        """Return what a function returns.

        Raises:
            BusyError: if `MOST_WAITING` others wait; else what the function raises.
        """
        if self._waiting >= MOST_WAITING:
            raise BusyError("the server is busy with other rankings; try again in a minute")
        loop = asyncio.get_running_loop()
        result: asyncio.Future[Any] = loop.create_future()

        def settle(value: Any, error: BaseException | None) -> None:
            if result.cancelled():
                return
            if error is None:
                result.set_result(value)
            else:
                result.set_exception(error)

        def job() -> None:
            if result.cancelled():
                return
            value, error = None, None
            try:
                value = function()
            except BaseException as problem:
                error = problem
            with contextlib.suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(settle, value, error)

        self._waiting += 1
        try:
            self._jobs.put(job)
            if len(self._threads) < _THREADS:
                self._threads.append(threading.Thread(target=self._work, daemon=True))
                self._threads[-1].start()
            return await result
        finally:
            self._waiting -= 1

    def _work(self) -> None:
        while True:
            self._jobs.get()()
