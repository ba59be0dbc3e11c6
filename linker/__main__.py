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

_SIGNALED = 128  # as shells count


def main() -> None:
    """Run the command line, and end with 130 after Ctrl-C and 143 after SIGTERM, whenever they come.

    Exit codes: those of `linker.cli.main.main`.
    """
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
        if signal.getsignal(number) is usual:
            signal.signal(number, _stop)
    # Beside other programs, torch's threads would spend up to half of the time waiting in loops for each other.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from linker.cli.main import main as run

    try:
        run()
    except SystemExit as end:
        _end(end.code if isinstance(end.code, int) else int(end.code is not None))
    _end(0)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    """Raise KeyboardInterrupt for Ctrl-C and SystemExit for SIGTERM, which remove temporary files."""
    while frame is not None:
        # Libraries drop what interrupts their import, torch that of numpy for one: end at once there.
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            _end(_SIGNALED + number)
        frame = frame.f_back
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(_SIGNALED + number)


def _end(code: int) -> NoReturn:
    """End at once: taking torch and the like apart would take seconds on a busy machine, in which Ctrl-C does nothing.

    Nor could Python end under threads that were left in native code.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    import atexit
    import contextlib

    atexit._run_exitfuncs()  # temporary files and further processes are registered there
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
