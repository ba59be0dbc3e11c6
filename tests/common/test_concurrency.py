"""Work in several processes."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from linker.common.concurrency import ahead, in_processes, one_thread
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
        list(in_processes(fail, tmp_path, [(n,) for n in range(5_000)], 2))
    assert len(list(tmp_path.iterdir())) < 4_999


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_process_is_reported_with_a_remedy() -> None:
    with pytest.raises(LinkerError, match="fewer --workers"):
        list(in_processes(kill_self, None, [(1,), (2,)], 2))


def test_items_come_in_order_and_an_error_in_its_place() -> None:
    def items() -> Iterator[int]:
        yield from range(3)
        raise ValueError("after three")

    seen = []
    with pytest.raises(ValueError, match="after three"):  # noqa: PT012
        for item in ahead(items()):
            seen.append(item)
    assert seen == [0, 1, 2]
    assert list(ahead(range(5))) == [0, 1, 2, 3, 4]
    assert list(ahead([])) == []
    before = threading.active_count()
    for _ in range(300):
        assert list(ahead([0])) == [0]
        assert threading.active_count() <= before, "its thread would outlive Python"


def test_who_stops_early_does_not_wait_for_an_item_that_never_comes() -> None:
    stalled = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        stalled.wait()  # a pipe into which nobody writes

    late = threading.Timer(20, stalled.set)
    late.start()
    coming = ahead(items())
    assert next(coming) == 1
    coming.close()
    assert not stalled.is_set()
    late.cancel()
    stalled.set()


@pytest.mark.parametrize("former", [None, "3"])
def test_models_are_loaded_with_one_thread_and_only_they(monkeypatch, former):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if former:
        monkeypatch.setenv("OMP_NUM_THREADS", former)
    with one_thread():
        assert os.environ["OMP_NUM_THREADS"] == "1"
    assert os.environ.get("OMP_NUM_THREADS") == former
