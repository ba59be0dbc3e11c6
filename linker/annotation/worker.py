"""A process for expensive work: a server stays fast meanwhile, and may end at any time (decision 113)."""

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, TypeVar

from linker.common.errors import LinkerError
from linker.config.registry import catalog

_NICENESS = 5
_T = TypeVar("_T")


class InterruptedWorkError(LinkerError):
    """The process was ended during a call."""


class Worker:
    """Calls functions in a process of lower priority, one at a time; it starts with the first call. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: SpawnProcess | None = None
        self._calls: Connection | None = None

    def is_running(self) -> bool:
        """Return whether the process has begun and not ended."""
        return self._calls is not None and self._process is not None and self._process.is_alive()

    def call(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """Return what a function of a module returns; a process that has ended is replaced before.

        Raises:
            InterruptedWorkError: if the process is ended meanwhile.
            LinkerError: if the function raises an error.
        """
        with self._lock:
            calls = self._calls
            if calls is None or not self.is_running():
                calls = self._start()
            try:
                calls.send((function, arguments))
                value, problem = calls.recv()
            except (EOFError, OSError) as error:
                self.stop()
                raise InterruptedWorkError("the work was interrupted, perhaps for lack of memory") from error
        if problem:
            raise LinkerError(problem)
        result: _T = value
        return result

    def stop(self) -> None:
        """End the process, without waiting for it: on a busy machine that may take a while."""
        self._calls = None
        if self._process is not None:
            self._process.kill()

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        self._calls, other_end = context.Pipe()
        self._process = context.Process(target=_serve, args=(other_end, catalog.included), daemon=True)
        self._process.start()
        other_end.close()
        return self._calls


def _serve(calls: Connection, packages: Sequence[str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the server
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    for package in packages:
        catalog.include(package)
    with contextlib.suppress(EOFError, OSError):  # the server has ended
        while True:
            function, arguments = calls.recv()
            try:
                answer = function(*arguments), ""
            except LinkerError as error:
                answer = None, str(error)
            except Exception as error:  # the page shows it
                answer = None, f"{type(error).__name__}: {error}"
            calls.send(answer)
