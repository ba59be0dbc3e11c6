"""`linker` and `python -m linker`."""

# What is imported here delays the moment from which Ctrl-C is handled: as little as possible.
from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

_INTERRUPTED, _TERMINATED = 130, 143
_LATER = 0.02


def main() -> None:
    """Run the command line, and end with 130 after Ctrl-C and 143 after SIGTERM, whenever they come.

    Exit codes: those of `linker.cli.main.main`.
    """
    # During the imports nothing has begun: Ctrl-C ends the process at once.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda number, frame: os._exit(_INTERRUPTED))
    from linker.cli.main import main as run

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.unraisablehook = _report_lost
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)
    try:
        run()
    except SystemExit as end:
        _end(end.code if isinstance(end.code, int) else int(end.code is not None))
    _end(0)


def _report_lost(lost: sys.UnraisableHookArgs) -> None:
    """Interrupt again where Ctrl-C came in a callback, which cannot raise; report other exceptions as usual."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    import threading

    # A moment later, when the callback has ended.
    threading.Timer(_LATER, _interrupt_main_thread).start()


def _interrupt_main_thread() -> None:
    if sys.platform == "win32":
        import _thread

        _thread.interrupt_main()
    else:  # this wakes a thread that waits, too
        import threading

        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    # Temporary files are removed on the way, as after Ctrl-C.
    raise SystemExit(_TERMINATED)


def _end(code: int) -> NoReturn:
    """End at once: taking torch and the like apart would take seconds on a busy machine, in which Ctrl-C does nothing.

    Nor could Python end under threads that were left in native code.
    """
    # What was to be done is done.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    import atexit
    import contextlib

    # Temporary folders and further processes are registered there.
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
