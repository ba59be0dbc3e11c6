"""Several processes for independent tasks, with progress; one process where that is enough."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from linker.common.errors import LinkerError

T = TypeVar("T")
Tell = Callable[[int, int], None]

# Bytes and lines done by this process and its fellows, and whether to stop; set in every worker when it starts.
_done: Any = None
_STOP = 2
_show: Tell


def run_all(
    function: Callable[..., T],
    tasks: Sequence[tuple[Any, ...]],
    workers: int,
    show: Tell = lambda size, lines: None,
) -> Iterator[T]:
    """The results of `function(*task)` for all tasks, in the order of the tasks.

    The functions say with `tell` how far they are.

    Args:
        function: a function of a module.
        tasks: the arguments of each call.
        workers: processes; with 1 there is none beside this.
        show: called with the bytes and lines done in all.

    Raises:
        LinkerError: what a call raised; or a process was killed.
    """
    if workers == 1 or len(tasks) < 2:
        yield from _alone(function, tasks, show)
        return
    context = multiprocessing.get_context("spawn")
    done = context.Array("Q", 3)
    with ProcessPoolExecutor(min(workers, len(tasks)), context, _start, (done,)) as pool:
        futures = [pool.submit(function, *task) for task in tasks]
        try:
            waiting: set[Future[T]] = set(futures)
            while waiting:
                finished, waiting = wait(waiting, timeout=0.3, return_when=FIRST_COMPLETED)
                for future in finished:
                    future.result()
                show(done[0], done[1])
            yield from (future.result() for future in futures)
        except BrokenProcessPool as error:
            raise LinkerError(
                "a worker process was killed, perhaps for want of memory; run the same command again with "
                "fewer --workers: finished parts are kept"
            ) from error
        except BaseException:
            done[_STOP] = 1
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _alone(function: Callable[..., T], tasks: Sequence[tuple[Any, ...]], show: Tell) -> Iterator[T]:
    global _done, _show
    _done, _show = [0, 0], show
    try:
        for task in tasks:
            yield function(*task)
    finally:
        _done = None


def tell(size: int, lines: int) -> None:
    """Add to what is done: packed bytes and lines.

    Raises:
        KeyboardInterrupt: the work is to end.
    """
    if _done is None:
        return
    if isinstance(_done, list):
        _done[0] += size
        _done[1] += lines
        _show(_done[0], _done[1])
        return
    with _done.get_lock():
        _done[0] += size
        _done[1] += lines
        if _done[_STOP]:
            raise KeyboardInterrupt


def _start(done: Any) -> None:
    global _done
    _done = done
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the first process, which ends the others
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # A pool's workers wait for ever where the first process was killed.
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)
