"""Ctrl-C and SIGTERM where other code drops or replaces their exceptions."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

# `linker` with another command line: `run` is what it does.
_PROGRAM = """
import signal, time
import linker.cli.main
from linker.__main__ import main
from linker.common.interrupts import accept

{run}

linker.cli.main.app = run
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


def ended(run: str) -> tuple[int, str, str]:
    """Return the exit code, the standard output and the errors of a process that does `run`."""
    command = [sys.executable, "-c", _PROGRAM.format(run=run)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=25)
    return process.returncode, process.stdout, process.stderr


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize("dropped_by", ["Callback()", "drop()"])
def test_signals_are_not_lost_where_their_exception_is_dropped(name: str, code: int, dropped_by: str) -> None:
    # Python ignores exceptions of `__del__`, of callbacks of weak references, and so of the locks of imports; some
    # libraries ignore all exceptions of an import.
    run = f"""
class Callback:
    def __del__(self):
        signal.raise_signal(signal.{name})

def drop():
    try:
        signal.raise_signal(signal.{name})
    except:
        pass

def run():
    {dropped_by}
    time.sleep(30)
"""
    assert ended(run) == (code, "", "")


def test_ctrl_c_that_a_library_turns_into_another_error_ends_the_command() -> None:
    # As modules made with pybind11 do while they are imported.
    run = """
def run():
    try:
        signal.raise_signal(signal.SIGINT)
    except BaseException as error:
        raise ImportError("initialization failed") from error
"""
    assert ended(run) == (130, "", "")


def test_ctrl_c_comes_once_where_the_command_handles_it() -> None:
    run = """
def clean_up():
    try:
        signal.raise_signal(signal.SIGINT)
    finally:
        time.sleep(0.2)
        print("clean")

def run():
    try:
        clean_up()
    except KeyboardInterrupt as interrupt:
        accept(interrupt)
    time.sleep(0.2)
    print("saved")
"""
    assert ended(run) == (0, "clean\nsaved\n", "")
