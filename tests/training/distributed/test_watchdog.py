"""Processes that are halted: all of them together, which is nobody's fault, and one alone. Limits are scaled down."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.helpers.process_groups import start_group

SILENCE_SECONDS = 3.0


def halted(processes, seconds):
    """Stop processes for so long, as the system does with a virtual machine or a terminal with its jobs."""
    for process in processes:
        os.kill(process.pid, signal.SIGSTOP)
    time.sleep(seconds)
    for process in processes:
        os.kill(process.pid, signal.SIGCONT)


def _work(folder: str) -> None:
    """Exchange numbers, as a run does after each step, until asked to end."""
    from linker.common.console import stderr
    from linker.training.distributed import watchdog
    from linker.training.distributed.process_group import process_group

    watchdog.SILENCE_SECONDS, watchdog.HALTED_SECONDS, watchdog.LOOK_SECONDS = SILENCE_SECONDS, 1.0, 0.1
    place = Path(folder)
    with process_group() as workers:
        descriptor = os.open(place / f"stderr{workers.rank}", os.O_WRONLY | os.O_CREAT)
        os.dup2(descriptor, 2)
        stderr.quiet = True
        rounds, ended = 0, 0
        while not ended:
            (ended,) = workers.all_reduce_max(int((place / "end").exists()))
            rounds += 1
            (place / f"round{workers.rank}").write_text(str(rounds))
            time.sleep(0.01)


@pytest.fixture
def group(tmp_path):
    """Two processes at work."""
    started = start_group(_work, (str(tmp_path),), 2)
    try:
        store = started.store
        wait_for(lambda: all(store.add(f"linker/beat/{rank}", 0) > 2 for rank in (0, 1)))
        wait_for(lambda: all((tmp_path / f"round{rank}").exists() for rank in (0, 1)))
        yield started.processes
    finally:
        for process in started.processes:
            process.kill()
            process.join(10)


def wait_for(happened):
    until = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.02)


def told(folder):
    return [(folder / f"stderr{rank}").read_text() for rank in (0, 1)]


def test_a_run_that_is_halted_as_a_whole_continues(group, tmp_path):
    halted(group, SILENCE_SECONDS + 1.5)
    before = int((tmp_path / "round0").read_text() or 0)
    # Long enough for an alarm, if there were one.
    time.sleep(1)
    wait_for(lambda: int((tmp_path / "round0").read_text() or 0) > before + 2)
    (tmp_path / "end").touch()
    for process in group:
        process.join(30)
    assert [process.exitcode for process in group] == [0, 0]
    assert told(tmp_path) == ["", ""]


def test_a_process_that_is_halted_alone_ends_the_run(group, tmp_path):
    halted(group[1:], SILENCE_SECONDS + 4)
    for process in group:
        process.join(30)
    assert [process.exitcode for process in group] == [1, 1]
    assert told(tmp_path) == ["error: process 1 has shown no sign of life for 3 s\n", ""]
