"""Ctrl-C and SIGTERM end a command after its clean-up, with their exit codes and no traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
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


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_signals_end_a_command_after_its_clean_up(name: str, code: int) -> None:
    program = _PROGRAM.format(name=name)
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (process.returncode, process.stdout, process.stderr) == (code, "clean\n", "")


def test_signals_end_a_command_in_an_import_whose_exceptions_a_library_drops(tmp_path: Path) -> None:
    module = "import signal\ntry:\n  signal.raise_signal(signal.SIGTERM)\nexcept BaseException:\n  pass"
    (tmp_path / "library.py").write_text(module)
    written = "from linker.common.files import atomic_write\n        with atomic_write('out'): import library"
    program = _PROGRAM.replace("signal.raise_signal(signal.{name})", written)
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, cwd=tmp_path, timeout=60)
    assert (process.returncode, process.stderr, list(tmp_path.glob(".out*"))) == (143, b"", [])
