"""Locks between processes."""

import subprocess
import sys
from pathlib import Path

import pytest

from linker.common.errors import LinkerError
from linker.common.locks import acquire, only_writer

HOLD = """
import sys
from pathlib import Path
from linker.common.locks import only_writer
with only_writer(Path(sys.argv[1])):
    print("holds", flush=True)
    sys.stdin.readline()
"""


def test_one_process_at_a_time_until_the_holder_is_killed(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    command = [sys.executable, "-c", HOLD, str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "holds\n"
        with pytest.raises(LinkerError, match="out: another process is writing it"), only_writer(out):
            pass
        holder.kill()
        holder.wait()
    with only_writer(out):
        assert (tmp_path / "new" / ".out.lock").exists()
    assert not any((tmp_path / "new").iterdir())


def test_a_lock_that_cannot_be_written_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LinkerError, match="file: cannot be written"):
        acquire(tmp_path / "file" / "lock", "busy")
