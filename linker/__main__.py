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
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)
    try:
        run()
    except SystemExit as end:
        _end(end.code if isinstance(end.code, int) else int(end.code is not None))
    _end(0)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """Raise SystemExit for SIGTERM, which removes temporary files."""
    sys.exit(_TERMINATED)


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
