"""Build and search on a Ray cluster. Results equal those of one process, even if workers are lost."""

from __future__ import annotations

import os
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from linker.common.errors import LinkerError
from linker.corpus.engines.engine import Engine
from linker.corpus.engines.ray_cluster import Cluster
from linker.corpus.indexes.exact import Query, exact_scores
from linker.corpus.indexes.vectors import ShardVectors
from linker.version import __version__

# Chunks per worker, running and queued, so that no worker waits for the driver.
_AHEAD = 2
# Ranges of rows per worker in a search, so that all workers end at about the same time.
_RANGES = 4

T = TypeVar("T")

# The function of this worker process, with the model, and the object it was loaded from; set by the first call.
_loaded: tuple[Any, Callable[..., Any]] | None = None


class RayEngine(Engine):
    """Engine on a Ray cluster; this process reads posts, compares their keys, commits and merges.

    The last bits of results may depend on the number of threads, so every worker uses as many threads and cores as this
    process has threads; with `OMP_NUM_THREADS=1` every core is a worker.

    Args:
        address: of the cluster (`HOST:PORT` or `auto` on one of its machines, `ray://HOST:PORT` from elsewhere);
            None: start a cluster on this machine for the duration of the `with` block.
        cpus: number of cores of the started cluster; None: all.
        memory: bytes of the started cluster's object store; None: Ray's default.
    """

    local = False  # workers score all posts, each those of some shards

    def __init__(
        self, address: str | None = None, cpus: int | None = None, memory: int | None = None
    ) -> None:
        self._address, self._cpus, self._memory = address, cpus, memory
        self._entered, self._announced = 0, False

    def __enter__(self) -> RayEngine:
        if not self._entered:
            self._cluster = Cluster(self._address, self._cpus, self._memory)
        self._entered += 1
        return self

    def __exit__(self, *error: object) -> None:
        self._entered -= 1
        if not self._entered:
            self._cluster.close()

    def map(self, function: Callable[..., T], items: Iterable[tuple[Any, ...]]) -> Iterator[T]:
        """Yield the results of calls in workers, in order; a few calls per worker are under way or wait.

        Raises:
            LinkerError: if the cluster is lost, or a call kills every worker.
        """
        task = self._task(function)
        workers = self._workers()
        source, ended = iter(items), False
        failure: BaseException | None = None
        waiting: deque[Any] = deque()
        try:
            while True:
                # Finished calls are yielded before more is read, because the source may be slow.
                if waiting and (
                    ended or len(waiting) >= _AHEAD * workers or self._cluster.is_done(waiting[0])
                ):
                    yield self._cluster.get(waiting.popleft())
                    workers = self._workers()
                elif ended:
                    break
                else:
                    try:
                        next_item = next(source, None)
                    except Exception as error:
                        next_item, failure = None, error
                    if next_item is None:
                        ended = True
                    else:
                        waiting.append(task(*next_item))
        finally:
            self._cluster.cancel(waiting)
        if failure is not None:
            raise failure

    def _task(self, function: Callable[..., Any]) -> Any:
        """Return a function that calls `function`, which is sent to each worker once, in a worker."""
        import torch

        from linker.modules.kernels.dispatch import kernels_for

        threads, kernels = torch.get_num_threads(), kernels_for(torch.zeros(())).name
        workers = self._workers()
        if not self._announced:
            print(_size_line(workers, threads), file=sys.stderr)
            self._announced = True
        setting = _Setting(threads, kernels, __version__, os.getcwd())
        at_function = self._cluster.put(function)
        call = self._cluster.task(_call, threads)
        return lambda *item: call(setting, [at_function], *item)

    def _workers(self) -> int:
        import torch

        return self._cluster.workers(torch.get_num_threads())

    def scores(self, vectors: Sequence[ShardVectors], query: Query) -> np.ndarray:
        """Return what `Engine.scores` returns; workers score runs of shards.

        Raises:
            LinkerError: if workers cannot read the embeddings.
        """
        if any(one.path is None for one in vectors):
            raise LinkerError(
                "the embeddings of the corpus are not in its folder, so workers cannot read them; "
                "make the folder writable once, or leave out --engine ray"
            )
        task, at_query = self._cluster.task(_scores, 1), self._cluster.put(query)
        results = [
            task([(os.path.abspath(str(one.path)), one.live) for one in run], at_query)
            for run in _runs(vectors, _RANGES * self._cluster.workers(1))
        ]
        try:
            return np.concatenate([np.zeros(0, dtype=np.float32), *map(self._cluster.get, results)])
        except BaseException:
            self._cluster.cancel(results)
            raise


def _runs(vectors: Sequence[ShardVectors], count: int) -> Iterator[Sequence[ShardVectors]]:
    """Divide shards into at most about `count` runs of like numbers of rows."""
    least = -(-sum(map(len, vectors)) // count)
    run: list[ShardVectors] = []
    for one in vectors:
        run.append(one)
        if sum(map(len, run)) >= least:
            yield run
            run = []
    if run:
        yield run


def _size_line(workers: int, threads: int) -> str:
    if threads == 1:
        return f"ray: {workers:,} workers of one core"
    return f"ray: {workers:,} workers of {threads} cores each; with OMP_NUM_THREADS=1 every core is a worker"


def _call(setting: _Setting, at_function: list[Any], *item: Any) -> Any:
    """Return the result of a call; runs in a worker."""
    with setting.applied():
        return _loaded_function(at_function)(*item)


def _loaded_function(at_function: list[Any]) -> Callable[..., Any]:
    global _loaded
    import ray

    if _loaded is None or _loaded[0] != at_function[0]:
        _loaded = (at_function[0], ray.get(at_function[0]))
    return _loaded[1]


@dataclass(frozen=True)
class _Setting:
    """What workers must have in common with the process that runs the command."""

    threads: int
    kernels: str
    version: str
    folder: str

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Apply it to this worker."""
        import torch

        from linker.modules.kernels.dispatch import use_kernels

        if self.version != __version__:
            raise LinkerError(
                f"the worker on {socket.gethostname()} has linker {__version__}, this is {self.version}; "
                "install the same on all machines"
            )
        with suppress(OSError):  # a machine without the folder does not see files below it
            os.chdir(self.folder)
        torch.set_num_threads(self.threads)
        with use_kernels(self.kernels):
            yield


def _scores(files: Sequence[tuple[str, np.ndarray | None]], query: Query) -> np.ndarray:
    """Return the scores of the posts of some shards; runs in a worker."""
    return exact_scores([ShardVectors.read(Path(path), live) for path, live in files], query)
