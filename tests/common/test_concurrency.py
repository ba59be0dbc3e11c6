"""Work in several processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from linker.common.concurrency import in_processes
from linker.common.errors import LinkerError


def power(base: int, exponent: int) -> tuple[int, int]:
    return base**exponent, os.getpid()


def kill_self(context: None, number: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail(folder: Path, number: int) -> None:
    if number == 0:
        raise ValueError("the first call fails")
    (folder / str(number)).touch()


@pytest.mark.parametrize("workers", [1, 3])
def test_every_task_is_called_once_with_the_context(workers: int) -> None:
    results = dict(in_processes(power, 2, [(n,) for n in range(9)], workers))
    assert {number: value for number, (value, _) in results.items()} == {n: 2**n for n in range(9)}
    here = {process for _, process in results.values()} == {os.getpid()}
    assert here == (workers == 1)


def test_an_error_is_raised_as_it_is_and_waiting_calls_are_not_begun(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the first call fails"):
        list(in_processes(fail, tmp_path, [(n,) for n in range(500)], 2))
    assert len(list(tmp_path.iterdir())) < 499


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_process_is_reported_with_a_remedy() -> None:
    with pytest.raises(LinkerError, match="fewer --workers"):
        list(in_processes(kill_self, None, [(1,), (2,)], 2))
