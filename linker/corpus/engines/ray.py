"""Encode and search on a Ray cluster. Results equal those of one process, even if workers are lost."""

from __future__ import annotations

import os
import socket
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.common.errors import LinkerError
from linker.corpus.encoding import encoded
from linker.corpus.engines.engine import Encoded, Engine, upper
from linker.corpus.engines.ray_cluster import Cluster
from linker.corpus.indexes.exact import Query, exact_scores
from linker.corpus.indexes.vectors import ShardVectors
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
        """Yield each chunk with its arrays, in order; a few chunks per worker are in memory.

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
                    files = self._cluster.get(waiting[0][1])
                    yield Encoded(waiting.popleft()[0], files)
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

    def scored(self, vectors: Sequence[ShardVectors], query: Query, places: np.ndarray | None) -> Scored:
        """Return what `Engine.scored` returns; workers send only their best rows, so a larger n searches again."""

        def best(count: int) -> tuple[np.ndarray, np.ndarray]:
            parts = self._searched(vectors, query, places, count)
            return np.concatenate([one[1] for one in parts]), np.concatenate([one[0] for one in parts])

        return best

    def scores(self, vectors: Sequence[ShardVectors], query: Query) -> np.ndarray:
        """Return the scores of all posts: float32; see `exact_scores`."""
        return np.concatenate([one[1] for one in self._searched(vectors, query, None, None)])

    def _searched(
        self, vectors: Sequence[ShardVectors], query: Query, places: np.ndarray | None, count: int | None
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return places and scores of the best posts (all, if `count` is None) of runs of shards, in their order."""
        if any(one.path is None for one in vectors):
            raise LinkerError(
                "the embeddings of the corpus are not in its folder, so workers cannot read them; "
                "make the folder writable once, or leave out --engine ray"
            )
        task, at_query = self._cluster.task(_search, 1), self._cluster.put(query)
        results, first = [], 0
        for run in _runs(vectors, _RANGES * self._cluster.workers(1)):
            last = first + sum(one.posts for one in run)
            some = None
            if places is not None:
                begin, end = np.searchsorted(places, [first, last])
                some = places[begin:end] - first
            if some is None or len(some):
                files = [(os.path.abspath(str(one.path)), one.live) for one in run]
                results.append((first, task(files, at_query, some, count)))
            first = last
        nothing = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))
        try:
            found = [(begin, *self._cluster.get(result)) for begin, result in results]
            return [(at + begin, scores) for begin, at, scores in found] or [nothing]
        except BaseException:
            self._cluster.cancel([result for _, result in results])
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


def _encode(
    at_model: list[Any], sent: list[tuple[Any, ...]], threads: int, kernels: str, version: str
) -> dict[str, dict[str, np.ndarray]]:
    """Return the arrays that a corpus stores of posts; runs in a worker."""
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
        return encoded(_loaded[1], [Post(*one) for one in sent])


def _search(
    files: Sequence[tuple[str, np.ndarray | None]],
    query: Query,
    places: np.ndarray | None,
    count: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the places and scores of the best posts of some shards; runs in a worker. Places count from the first."""
    vectors = []
    for path, live in files:
        try:
            vectors.append(ShardVectors.read(Path(path), live))
        except FileNotFoundError as error:
            raise LinkerError(
                f"{path}: missing on {socket.gethostname()}; "
                "put the corpus where all machines of the cluster see it under the same path"
            ) from error
    scores = exact_scores(vectors, query)
    at = np.arange(len(scores)) if places is None else places
    chosen = upper(scores[at], len(at) if count is None else count)
    return at[chosen], scores[at[chosen]]
