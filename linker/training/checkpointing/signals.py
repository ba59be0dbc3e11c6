"""SIGTERM and Ctrl-C as requests: the step in hand is finished and saved first."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# A terminal's Ctrl-C and a launcher's SIGTERM may both come for one request.
SAME_REQUEST_SECONDS = 2.0


class GracefulExit(BaseException):
    """The run is to end here; `number` is the signal that asked for it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class StopSignals:
    """While this is entered, the first SIGTERM or Ctrl-C is remembered; a later second one ends the process at once."""

    def __init__(self) -> None:
        self.requested = 0
        self._since = 0.0
        self._breakable = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopSignals:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """In this block a signal raises `GracefulExit` where it strikes; nothing that is half done there may matter."""
        self._breakable = True
        try:
            if self.requested:
                raise GracefulExit(self.requested)
            yield
        finally:
            self._breakable = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.requested:
            if now - self._since > SAME_REQUEST_SECONDS:
                raise KeyboardInterrupt
            return
        self.requested, self._since = number, now
        if self._breakable:
            raise GracefulExit(number)
