"""Worker processes for independent tasks, with progress and a stop signal."""

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
Show = Callable[[int], object]

# Bytes done by all workers and whether to stop; every worker gets it when it starts.
_shared: Any = None
_BYTES, _STOP = 0, 1
# Without workers: the bytes done, and the display.
_alone: tuple[list[int], Show] | None = None


def run_tasks(
    function: Callable[..., T],
    tasks: Sequence[tuple[Any, ...]],
    workers: int,
    show: Show = lambda size: None,
) -> Iterator[T]:
    """Yield the results of `function(*task)` in the order of the tasks.

    The function reports its progress with `advance`.

    Args:
        function: a function at module level.
        tasks: arguments of each call.
        workers: number of processes; with 1, the calls run in this process.
        show: called with the total number of bytes done.

    Raises:
        LinkerError: raised by a call, or if a process was killed.
    """
    global _alone
    if workers == 1 or len(tasks) < 2:
        _alone = [0], show
        try:
            for task in tasks:
                yield function(*task)
        finally:
            _alone = None
        return
    context = multiprocessing.get_context("spawn")
    shared = context.Array("Q", 2)
    with ProcessPoolExecutor(min(workers, len(tasks)), context, _start, (shared,)) as pool:
        futures = [pool.submit(function, *task) for task in tasks]
        try:
            waiting: set[Future[T]] = set(futures)
            while waiting:
                finished, waiting = wait(waiting, timeout=0.3, return_when=FIRST_COMPLETED)
                for future in finished:
                    future.result()
                show(shared[_BYTES])
            yield from (future.result() for future in futures)
        except BrokenProcessPool as error:
            raise LinkerError(
                "a worker process was killed, perhaps for lack of memory; run the same command again with "
                "fewer --workers: finished parts are kept"
            ) from error
        except BaseException:
            shared[_STOP] = 1
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def advance(size: int) -> None:
    """Add to the number of bytes done.

    Raises:
        KeyboardInterrupt: if the run is being stopped.
    """
    if _alone is not None:
        done, show = _alone
        done[0] += size
        show(done[0])
    elif _shared is not None:
        with _shared.get_lock():
            _shared[_BYTES] += size
            if _shared[_STOP]:
                raise KeyboardInterrupt


def _start(shared: Any) -> None:
    global _shared
    _shared = shared
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the main process, which stops the workers.
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    # Workers of a pool would otherwise wait forever after the main process was killed.
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)
