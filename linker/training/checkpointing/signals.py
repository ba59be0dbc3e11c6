"""Graceful exit on SIGTERM and Ctrl-C: the current step is finished and saved first."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# A terminal's Ctrl-C and a launcher's SIGTERM may be one request.
SAME_REQUEST_SECONDS = 2.0


class GracefulExit(BaseException):
    """The run must end here; `number` is the signal that requested it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class StopSignals:
    """Within this block the first SIGTERM or Ctrl-C is recorded; a second one, later, ends the process at once."""

    def __init__(self) -> None:
        self.requested = 0
        self._since = 0.0
        self._interruptible = False
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
        """Raise `GracefulExit` at any point of this block as soon as a signal arrives."""
        self._interruptible = True
        try:
            if self.requested:
                raise GracefulExit(self.requested)
            yield
        finally:
            self._interruptible = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.requested:
            if now - self._since > SAME_REQUEST_SECONDS:
                raise KeyboardInterrupt
            return
        self.requested, self._since = number, now
        if self._interruptible:
            raise GracefulExit(number)
