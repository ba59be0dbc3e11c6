"""Ctrl-C and SIGTERM end a command after its clean-up, with their exit codes and no traceback."""

import subprocess
import sys

import pytest

_PROGRAM = """
import signal, time
import linker.cli.main
from linker.__main__ import main

def run():
    try:
        signal.raise_signal(signal.{name})
        time.sleep(30)
    finally:
        print("clean")

linker.cli.main.app = run
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_signals_end_a_command_after_its_clean_up(name: str, code: int) -> None:
    process = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(name=name)], capture_output=True, text=True, timeout=60
    )
    assert (process.returncode, process.stdout, process.stderr) == (code, "clean\n", "")
