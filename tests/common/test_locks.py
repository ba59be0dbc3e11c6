"""Locks between processes, and what Windows has in their place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from linker.common import locks

HOLD = """
import sys
from linker.common.locks import lock
file = open(sys.argv[1], "a")
print(lock(file), flush=True)
sys.stdin.readline()
"""


def test_one_process_at_a_time_until_the_holder_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "locked"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        with path.open("a") as file:
            assert not locks.lock(file)
            holder.kill()
            holder.wait()
            assert locks.lock(file)
            assert locks.lock(file)  # the same open file: it has the lock already


def test_without_fcntl_windows_locks_a_byte_that_nobody_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[int, int, int]] = []

    def locking(descriptor: int, mode: int, count: int) -> None:
        calls.append((os.lseek(descriptor, 0, os.SEEK_CUR), mode, count))
        if len(calls) == 1:
            raise OSError(36, "Resource deadlock avoided")

    monkeypatch.setattr(locks, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(LK_NBLCK=2, locking=locking))
    with (tmp_path / "locked").open("w+") as file:
        file.write("text")
        file.flush()
        assert not locks.lock(file)
        assert locks.lock(file)
        assert file.tell() == 4
    assert calls == [(1 << 40, 2, 1)] * 2
