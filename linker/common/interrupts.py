"""Ctrl-C and SIGTERM that are not lost where other code drops their exceptions."""

# It is imported before everything else, and what it imports delays the moment from which Ctrl-C is handled.
from __future__ import annotations

import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

_AGAIN_SECONDS = 0.02
#: Numbers of signals whose exception was dropped.
_dropped: list[int] = []


class _Lasting:
    """An exception of a signal; if it is dropped before anyone has handled it, the signal comes again a moment later.

    Python drops exceptions of `__del__` and of callbacks, and native code and a bare `except:` of a library those of
    what they call. While an exception passes through a command and its clean-up, something refers to it.
    """

    number: int
    handled = False

    def __del__(self) -> None:
        if not self.handled:
            _come_again(self.number)


class Interrupt(_Lasting, KeyboardInterrupt):
    """Ctrl-C."""

    number = signal.SIGINT


class Termination(_Lasting, SystemExit):
    """SIGTERM, which ends the process with 143."""

    number = signal.SIGTERM

    def __init__(self) -> None:
        super().__init__(128 + self.number)


def raise_interrupts() -> None:
    """Raise an `Interrupt` for Ctrl-C from now on; call it from the main thread."""
    _raise(signal.SIGINT, Interrupt)


def raise_terminations() -> None:
    """Raise a `Termination` for SIGTERM from now on, which removes temporary files; call it from the main thread."""
    _raise(signal.SIGTERM, Termination)


def signal_behind(error: BaseException | None) -> int | None:
    """Return the number of the signal whose exception native code turned into another one, None if there was none.

    Modules made with pybind11 raise an ImportError where Ctrl-C comes while they are imported.

    Args:
        error: an exception; its causes and contexts are looked at.
    """
    while error is not None:
        if isinstance(error, _Lasting):
            return error.number
        error = error.__cause__ or error.__context__
    return None


def accept(interrupt: KeyboardInterrupt) -> None:
    """Say that a command handles Ctrl-C itself, and ends as usual.

    Args:
        interrupt: what was raised.
    """
    if isinstance(interrupt, Interrupt):
        interrupt.handled = True


def _raise(number: int, exception: type[Interrupt] | type[Termination]) -> None:
    def handle(_: int, frame: FrameType | None) -> NoReturn:
        raise exception

    signal.signal(number, handle)
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, _on_alarm)
    sys.unraisablehook = _report


def _report(lost: sys.UnraisableHookArgs) -> None:
    """Report exceptions that cannot be raised as usual, but for those that come again."""
    if not issubclass(lost.exc_type, _Lasting):
        sys.__unraisablehook__(lost)


def _come_again(number: int) -> None:
    # Not at once: what dropped the exception would drop the next one. No thread, because whoever drops it may hold the
    # locks that starting one needs.
    if sys.platform != "win32":
        _dropped.append(number)
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_SECONDS)
    else:
        import threading

        threading.Timer(_AGAIN_SECONDS, signal.raise_signal, (number,)).start()


def _on_alarm(number: int, frame: FrameType | None) -> None:
    if _dropped:
        signal.raise_signal(_dropped.pop())
