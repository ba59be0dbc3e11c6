"""Work in other processes, and a thread that prepares the next item."""

import os
import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

from linker.common.errors import LinkerError

T = TypeVar("T")
# More do not read from memory any faster.
_THREADS = 8


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads() -> int:
    """Return the number of threads to compute with: the cores of this process, or fewer by OMP_NUM_THREADS."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return min(cores(), int(wanted)) if wanted.isdigit() and int(wanted) else cores()


def in_threads(work: Callable[[T], object], items: Sequence[T], most: int | None = None) -> None:
    """Call `work` with each item, in several threads.

    Args:
        work: what to do; it releases Python's lock for most of the time.
        items: the items, begun in this order.
        most: maximum number of threads; None: `threads`, up to 8.
    """
    count = len(items)
    if count > 1:  # most calls have one item
        count = min(count, min(threads(), _THREADS) if most is None else most)
    if count < 2:
        for item in items:
            work(item)
    else:
        with ThreadPoolExecutor(count) as pool:
            list(pool.map(work, items))


@contextmanager
def one_thread() -> Iterator[None]:
    """Let models that are loaded in this block compute with one thread per call."""
    former = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        del os.environ["OMP_NUM_THREADS"]
        os.environ.update({} if former is None else {"OMP_NUM_THREADS": former})


def ahead(items: Iterable[T]) -> Generator[T, None, None]:
    """Yield the items; a thread prepares the next one while the caller processes the current one.

    Errors of the iterable are raised at the position of the item. A caller that stops earlier, as by Ctrl-C, waits at
    most a second for the item that is being prepared, which may never come.
    """
    source, end = iter(items), object()
    wanted: queue.SimpleQueue[bool] = queue.SimpleQueue()
    prepared: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

    def prepare() -> None:
        while wanted.get():
            try:
                prepared.put((next(source, end), None))
            except BaseException as error:
                prepared.put((end, error))

    thread = threading.Thread(target=prepare, daemon=True)
    thread.start()
    try:
        wanted.put(True)
        while True:
            item, error = prepared.get()
            if error is not None:
                raise error
            if item is end:
                return
            wanted.put(True)
            yield item
    finally:
        wanted.put(False)
        thread.join(timeout=1)  # a thread that frees tensors while Python ends aborts the process


def in_processes(
    function: Callable[..., T], context: Any, tasks: Sequence[tuple[Any, ...]], workers: int
) -> Iterator[tuple[int, T]]:
    """Yield the number of each task and `function(context, *task)`, in the order in which the calls end.

    Args:
        function: a function at module level.
        context: first argument of all calls.
        tasks: further arguments of each call.
        workers: number of processes, each on one core; with 1, the calls run in this process, in order.

    Raises:
        LinkerError: if a process was killed; an error of a call is raised as it is. Waiting calls are not begun.
    """
    from joblib import Parallel, delayed
    from joblib.externals.loky import get_reusable_executor

    workers = max(1, min(workers, len(tasks)))
    calls = (delayed(_call)(function, context, number, task) for number, task in enumerate(tasks))
    try:
        yield from Parallel(workers, return_as="generator_unordered")(calls)
    except BrokenProcessPool as error:
        raise LinkerError(
            "a worker process was killed, perhaps for lack of memory; run the command again with fewer --workers"
        ) from error
    finally:
        if workers > 1:  # processes that wait for further calls would keep the command from ending
            get_reusable_executor().shutdown(wait=True, kill_workers=True)


def _call(function: Callable[..., T], context: Any, number: int, task: tuple[Any, ...]) -> tuple[int, T]:
    return number, function(context, *task)
