"""Encode and search on a Ray cluster. Results equal those of one process, even if workers are lost."""

from __future__ import annotations

import os
import socket
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.common.errors import LinkerError
from linker.corpus.engines.engine import Encoded, Engine, upper
from linker.corpus.engines.ray_cluster import Cluster
from linker.corpus.indexes.exact import BLOCK, Query, exact_scores
from linker.data.near_duplicates import signatures
from linker.data.types import Post
from linker.models.model import Model
from linker.version import __version__

if TYPE_CHECKING:
    from linker.corpus.search.top_k import Scored

# Chunks per worker, running and queued, so that no worker waits for the driver.
_AHEAD = 2
# Ranges of rows per worker in a search, so that all workers end at about the same time.
_RANGES = 4

# The model of this worker process and the object it was loaded from; set by the first chunk.
_loaded: tuple[Any, Model] | None = None


class RayEngine(Engine):
    """Engine on a Ray cluster; this process reads, deduplicates, appends and merges.

    The last bits of results may depend on the number of threads, so every worker uses as many threads and cores as this
    process has threads; with `OMP_NUM_THREADS=1` every core is a worker.

    Args:
        address: of the cluster (`HOST:PORT` or `auto` on one of its machines, `ray://HOST:PORT` from elsewhere);
            None: start a cluster on this machine for the duration of the `with` block.
        cpus: number of cores of the started cluster; None: all.
        memory: bytes of the started cluster's object store; None: Ray's default.
    """

    def __init__(
        self, address: str | None = None, cpus: int | None = None, memory: int | None = None
    ) -> None:
        self._address, self._cpus, self._memory = address, cpus, memory
        self._entered = 0

    def __enter__(self) -> RayEngine:
        if not self._entered:
            self._cluster = Cluster(self._address, self._cpus, self._memory)
        self._entered += 1
        return self

    def __exit__(self, *error: object) -> None:
        self._entered -= 1
        if not self._entered:
            self._cluster.close()

    def encode(self, model: Model, chunks: Iterable[list[Post]]) -> Iterator[Encoded]:
        """Yield each chunk with its vectors, in order; a few chunks per worker are in memory.

        Raises:
            LinkerError: if the cluster is lost, or a chunk kills every worker.
        """
        import torch

        from linker.modules.kernels.dispatch import kernels_for

        threads, kernels = torch.get_num_threads(), kernels_for(torch.zeros(())).name
        workers = self._cluster.workers(threads)
        print(_size_line(workers, threads), file=sys.stderr)
        at_model = self._cluster.put(model)
        task = self._cluster.task(_encode, threads)
        source, ended = iter(chunks), False
        failure: Exception | None = None
        waiting: deque[tuple[list[Post], Any]] = deque()
        try:
            while True:
                # Finished chunks are yielded before more is read, because the source may be slow.
                if waiting and (
                    ended or len(waiting) >= _AHEAD * workers or self._cluster.is_done(waiting[0][1])
                ):
                    vectors, signed = self._cluster.get(waiting[0][1])
                    yield Encoded(waiting.popleft()[0], vectors, signed)
                    workers = self._cluster.workers(threads)
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
                        waiting.append((more, task([at_model], sent, threads, kernels, __version__)))
        finally:
            self._cluster.cancel(result for _, result in waiting)
        if failure is not None:
            raise failure

    def scored(self, vectors: np.ndarray, query: Query, places: np.ndarray | None) -> Scored:
        """Return what `Engine.scored` returns; workers send only their best rows, so a larger n searches again."""

        def best(count: int) -> tuple[np.ndarray, np.ndarray]:
            parts = self._searched(vectors, query, places, count)
            return np.concatenate([one[1] for one in parts]), np.concatenate([one[0] for one in parts])

        return best

    def scores(self, vectors: np.ndarray, query: Query) -> np.ndarray:
        """Return the scores of all rows: float32; see `exact_scores`."""
        return np.concatenate([one[1] for one in self._searched(vectors, query, None, len(vectors))])

    def _searched(
        self, vectors: np.ndarray, query: Query, places: np.ndarray | None, count: int
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return places and scores of the best rows of each range, in the order of the ranges."""
        path = getattr(vectors, "filename", None)
        if not isinstance(path, (str, os.PathLike)):
            raise LinkerError(
                "the embeddings of the corpus are not in its folder, so workers cannot read them; "
                "make the folder writable once, or leave out --engine ray"
            )
        blocks = -(-len(vectors) // BLOCK)
        rows = BLOCK * -(-blocks // (_RANGES * self._cluster.workers(1)))
        task, at_query = self._cluster.task(_search, 1), self._cluster.put(query)
        results = []
        for start in range(0, len(vectors), rows):
            stop = min(start + rows, len(vectors))
            some = None
            if places is not None:
                first, last = np.searchsorted(places, [start, stop])
                if first == last:
                    continue
                some = places[first:last] - start
            results.append(task(os.path.abspath(path), vectors.shape, start, stop, at_query, some, count))
        nothing = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))
        try:
            return [self._cluster.get(result) for result in results] or [nothing]
        except BaseException:
            self._cluster.cancel(results)
            raise


def _size_line(workers: int, threads: int) -> str:
    if threads == 1:
        return f"ray: {workers:,} workers of one core"
    return f"ray: {workers:,} workers of {threads} cores each; with OMP_NUM_THREADS=1 every core is a worker"


def _encode(
    at_model: list[Any], sent: list[tuple[Any, ...]], threads: int, kernels: str, version: str
) -> tuple[np.ndarray | None, np.ndarray]:
    """Return the vectors and signatures of posts; runs in a worker."""
    global _loaded
    import ray
    import torch

    from linker.modules.kernels.dispatch import use_kernels

    if version != __version__:
        raise LinkerError(
            f"the worker on {socket.gethostname()} has linker {__version__}, this is {version}; "
            "install the same on all machines"
        )
    if _loaded is None or _loaded[0] != at_model[0]:
        _loaded = (at_model[0], ray.get(at_model[0]))
    torch.set_num_threads(threads)
    with use_kernels(kernels):
        vectors = _loaded[1].post_vectors([Post(*one) for one in sent])
    return vectors, signatures([one[1] for one in sent])


def _search(
    path: str,
    shape: tuple[int, int],
    start: int,
    stop: int,
    query: Query,
    places: np.ndarray | None,
    count: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the places and scores of the best rows; runs in a worker. `places`, if given, count from `start`."""
    if not Path(path).is_file() or Path(path).stat().st_size < 4 * shape[0] * shape[1]:
        raise LinkerError(
            f"{path}: missing or shorter on {socket.gethostname()}; "
            "put the corpus where all machines of the cluster see it under the same path"
        )
    scores = exact_scores(np.memmap(path, np.float32, "r", shape=shape), query, start, stop)
    at = np.arange(len(scores)) if places is None else places
    chosen = upper(scores[at], count)
    return at[chosen] + start, scores[at[chosen]]
