"""Encoding and searching on a Ray cluster: the same results as in one process, whichever worker is lost meanwhile."""

from __future__ import annotations

import os
import socket
import sys
import time
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.corpus.engines.engine import Encoded, Engine, upper
from linker.corpus.scoring import BLOCK, Query, exact_scores
from linker.data.types import Post
from linker.errors import LinkerError
from linker.models.model import Model
from linker.version import __version__

if TYPE_CHECKING:
    from linker.corpus.choosing import Scored

# How often a chunk is begun again whose worker died: then it is the chunk that kills workers.
_RETRIES = 4
# Chunks at work and waiting, for each worker: none should wait for the driver.
_AHEAD = 2
_CONNECTING, _LOST = 10.0, 60.0
# Of the ranges of rows that a search is cut into: so many for each worker, that all end at about the same time.
_RANGES = 4

# The model of this worker, and which object it came from; set by the first chunk.
_loaded: tuple[Any, Model] | None = None


class RayEngine(Engine):
    """Workers of a Ray cluster do the work; this process reads, tells known posts from new, appends and merges.

    Every worker encodes with as many threads as this process has, and takes as many cores, for results may depend on
    the number of threads in their last bits; `OMP_NUM_THREADS=1` makes a worker of every core.

    Args:
        address: of the cluster (`HOST:PORT` or `auto` on one of its machines, `ray://HOST:PORT` from elsewhere); None:
            a cluster on this machine, for as long as the block lasts.
        cpus: without an address: how many cores it has; None: all.
        memory: without an address: bytes for its objects; None: as Ray chooses.
    """

    def __init__(
        self, address: str | None = None, cpus: int | None = None, memory: int | None = None
    ) -> None:
        self._address, self._cpus, self._memory = address, cpus, memory
        self._entered = 0

    def __enter__(self) -> RayEngine:
        if not self._entered:
            self._ray = _ray()
            _connect(self._ray, self._address, self._cpus, self._memory)
        self._entered += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._entered -= 1
        if not self._entered:
            self._ray.shutdown()

    def encode(self, model: Model, chunks: Iterable[list[Post]]) -> Iterator[Encoded]:
        """As `Engine.encode`; a few chunks for each worker are held in memory.

        Raises:
            LinkerError: the cluster is lost, or a chunk kills every worker.
        """
        import torch

        threads = torch.get_num_threads()
        workers = self._workers(threads)
        print(_told(workers, threads), file=sys.stderr)
        at_model = self._put(model)
        task = self._task(_encode, threads)
        source, ended = iter(chunks), False
        failure: Exception | None = None
        waiting: deque[tuple[list[Post], Any]] = deque()
        try:
            while True:
                # What is done is given on before more is read: the source may be slow.
                if waiting and (ended or len(waiting) >= _AHEAD * workers or self._is_done(waiting[0][1])):
                    posts, result = waiting.popleft()
                    yield posts, self._get(result)
                    workers = self._workers(threads)
                elif ended:
                    break
                else:
                    try:
                        more = next(source, None)
                    except Exception as error:
                        more, failure = None, error
                    if more is None:
                        ended = True
                    else:
                        sent = [
                            (one.id, one.text, one.article_ids, one.created_at, one.split, one.extra)
                            for one in more
                        ]
                        waiting.append((more, task.remote([at_model], sent, threads, __version__)))
        finally:
            for _, result in waiting:
                self._ray.cancel(result, force=True)
        if failure is not None:
            raise failure

    def scored(self, vectors: np.ndarray, query: Query, places: np.ndarray | None) -> Scored:
        """As `Engine.scored`; every worker gives only its best rows, so more are asked for again."""

        def best(count: int) -> tuple[np.ndarray, np.ndarray]:
            parts = self._searched(vectors, query, places, count)
            return np.concatenate([one[1] for one in parts]), np.concatenate([one[0] for one in parts])

        return best

    def scores(self, vectors: np.ndarray, query: Query) -> np.ndarray:
        """As `Engine.scores`."""
        return np.concatenate([one[1] for one in self._searched(vectors, query, None, len(vectors))])

    def _searched(
        self, vectors: np.ndarray, query: Query, places: np.ndarray | None, count: int
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Places and scores of the best of each range of rows, in the order of the ranges."""
        path = getattr(vectors, "filename", None)
        if not isinstance(path, (str, os.PathLike)):
            raise LinkerError(
                "the vectors of the corpus are not in its folder, where workers could read them; "
                "make it writable once, or leave out --engine ray"
            )
        blocks = -(-len(vectors) // BLOCK)
        rows = BLOCK * -(-blocks // (_RANGES * self._workers(1)))
        task, at_query = self._task(_search, 1), self._put(query)
        results = []
        for start in range(0, len(vectors), rows):
            stop = min(start + rows, len(vectors))
            some = None
            if places is not None:
                first, last = np.searchsorted(places, [start, stop])
                if first == last:
                    continue
                some = places[first:last] - start
            results.append(
                task.remote(os.path.abspath(path), vectors.shape, start, stop, at_query, some, count)
            )
        nothing = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))
        try:
            return [self._get(result) for result in results] or [nothing]
        except BaseException:
            for result in results:
                self._ray.cancel(result, force=True)
            raise

    def _task(self, function: Any, cpus: int) -> Any:
        return self._ray.remote(function).options(num_cpus=cpus, max_retries=_RETRIES)

    def _put(self, value: Any) -> Any:
        try:
            return self._ray.put(value)
        except TypeError as error:
            raise LinkerError(f"the model cannot be sent to other processes ({error})") from error

    def _is_done(self, result: Any) -> bool:
        return bool(self._ray.wait([result], timeout=0)[0])

    def _get(self, result: Any) -> Any:
        """What a task gave.

        Raises:
            LinkerError: the cluster is lost, or the task kills every worker.
        """
        errors = self._ray.exceptions
        lost_since: float | None = None
        try:
            while not self._ray.wait([result], timeout=5)[0]:
                if any(node["Alive"] and node["Resources"].get("CPU") for node in self._ray.nodes()):
                    lost_since = None
                elif lost_since is None:
                    lost_since = time.monotonic()
                elif time.monotonic() - lost_since > _LOST:
                    raise LinkerError(f"the Ray cluster has had no worker for a minute; {_GO_ON}")
            return self._ray.get(result)
        except errors.RayTaskError as error:
            raise _cause(error) from error
        except errors.RayError as error:
            first = str(error).strip().splitlines()[0]
            raise LinkerError(f"the Ray cluster could not do the work ({first}); {_GO_ON}") from error
        except ConnectionError as error:
            raise LinkerError(f"the Ray cluster is no longer there ({error}); {_GO_ON}") from error

    def _workers(self, threads: int) -> int:
        """How many there can be.

        Raises:
            LinkerError: no machine has so many cores.
        """
        cores = [int(node["Resources"].get("CPU", 0)) for node in self._ray.nodes() if node["Alive"]]
        if cores and 0 < max(cores) < threads:
            raise LinkerError(
                f"no machine of the Ray cluster has {threads} cores, as many as this process has threads; "
                f"set OMP_NUM_THREADS to {max(cores)} or less"
            )
        return max(sum(core // threads for core in cores), 1)


_GO_ON = "what was appended stays, and the same command goes on"


def _told(workers: int, threads: int) -> str:
    if threads == 1:
        return f"ray: {workers:,} workers of one core"
    return f"ray: {workers:,} workers of {threads} cores each; OMP_NUM_THREADS=1 makes a worker of every core"


def _encode(at_model: list[Any], sent: list[tuple[Any, ...]], threads: int, version: str) -> Any:
    """In a worker: the vectors of some posts."""
    global _loaded
    import ray
    import torch

    if version != __version__:
        raise LinkerError(
            f"the worker on {socket.gethostname()} has linker {__version__}, this is {version}; "
            "install the same on all machines"
        )
    if _loaded is None or _loaded[0] != at_model[0]:
        _loaded = (at_model[0], ray.get(at_model[0]))
    torch.set_num_threads(threads)
    return _loaded[1].post_vectors([Post(*one) for one in sent])


def _search(
    path: str,
    shape: tuple[int, int],
    start: int,
    stop: int,
    query: Query,
    places: np.ndarray | None,
    count: int,
) -> tuple[np.ndarray, np.ndarray]:
    """In a worker: the places and scores of the best of some rows; `places`, if given, count from `start`."""
    if not Path(path).is_file() or Path(path).stat().st_size < 4 * shape[0] * shape[1]:
        raise LinkerError(
            f"{path}: is not there, or shorter, on {socket.gethostname()}; "
            "the corpus must lie where all machines of the cluster see it under the same name"
        )
    scores = exact_scores(np.memmap(path, np.float32, "r", shape=shape), query, start, stop)
    at = np.arange(len(scores)) if places is None else places
    chosen = upper(scores[at], count)
    return at[chosen] + start, scores[at[chosen]]


def _cause(error: Any) -> BaseException:
    """What a task itself raised; what Ray could not even unpack comes as text."""
    cause = error.cause
    if isinstance(cause, BaseException) and not type(cause).__module__.startswith("ray."):
        return cause
    last = str(cause or error).strip().splitlines()[-1]
    return LinkerError(f"a Ray worker failed ({last}); install the same packages on all machines")


def _connect(ray: Any, address: str | None, cpus: int | None, memory: int | None) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray's default is to begin a task that lacks memory again and again.
    os.environ.setdefault("RAY_task_oom_retries", str(_RETRIES))
    quiet = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": True}
    try:
        with warnings.catch_warnings():
            # Of Lance, which Ray's processes, forked off this one, never use.
            warnings.filterwarnings("ignore", "lance is not fork-safe")
            if address is None:
                ray.init(
                    address="local",
                    num_cpus=cpus,
                    object_store_memory=memory,
                    include_dashboard=False,
                    _node_ip_address="127.0.0.1",
                    **quiet,
                )
            else:
                _check_reachable(address)
                ray.init(address=address, **quiet)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        where = (
            "no Ray cluster could be begun here"
            if address is None
            else f"--address {address}: no Ray cluster"
        )
        raise LinkerError(f"{where} ({first})") from error


def _check_reachable(address: str) -> None:
    """Ray itself would try for minutes.

    Raises:
        OSError: nothing listens there.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECTING).close()


def _ray() -> Any:
    try:
        import ray
    except ModuleNotFoundError as error:
        raise LinkerError("--engine ray needs the package ray: pip install 'article-linker[ray]'") from error
    return ray
