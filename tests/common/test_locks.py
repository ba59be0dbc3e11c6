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
print(lock(file, wait=sys.argv[2] == "wait"), flush=True)
sys.stdin.readline()
"""


def holder(path: Path, how: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_one_process_at_a_time_until_the_holder_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "locked"
    with holder(path, "wait") as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "True\n"
        with path.open("a") as file:
            assert not locks.lock(file, wait=False)
        with holder(path, "wait") as second:
            assert second.stdout is not None
            first.kill()
            assert second.stdout.readline() == "True\n"
            second.communicate("\n")
    with path.open("a") as file:
        assert locks.lock(file, wait=False)
        assert locks.lock(file.fileno(), wait=False)  # the same open file: it has the lock already


def test_without_fcntl_windows_locks_a_byte_that_nobody_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[int, int, int]] = []
    refusals = 2

    def locking(descriptor: int, mode: int, count: int) -> None:
        calls.append((os.lseek(descriptor, 0, os.SEEK_CUR), mode, count))
        if len(calls) <= refusals:
            raise OSError(36, "Resource deadlock avoided")

    monkeypatch.setattr(locks, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(LK_LOCK=1, LK_NBLCK=2, locking=locking))
    with (tmp_path / "locked").open("w+") as file:
        file.write("text")
        file.flush()
        assert not locks.lock(file, wait=False)
        assert locks.lock(file)  # the first try of which is refused after ten seconds
        assert file.tell() == 4
    assert calls == [(1 << 40, 2, 1), (1 << 40, 1, 1), (1 << 40, 1, 1)]
