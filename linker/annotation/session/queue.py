"""The queue of unlabeled posts: re-ranked in the background, cached in the session's folder."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from linker.annotation.pool import Labels, Pool
from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.common.files import atomic_write

#: Temporary files older than this (seconds) are stale.
_ABANDONED = 600.0


@dataclass(frozen=True)
class Queue:
    """Unlabeled posts, the next one to label first, as ranked at some revision.

    Attributes:
        revision: revision of the session's state when it was computed.
        places: int64, indices of the posts unlabeled at that time.
    """

    revision: int
    places: np.ndarray


class BackgroundRanker:
    """Ranks posts in a thread; the latest queue is available at once.

    Args:
        path: the file that caches the latest queue.
        pool: the posts.
        strategy: the query strategy.
        seed: with the revision, the seed of the strategy's generator; alone, of the order of equal scores.
    """

    def __init__(self, path: Path, pool: Pool, strategy: QueryStrategy, seed: int) -> None:
        self.path = path
        self.problem: str | None = None
        # The same at every revision, so ties do not depend on which labels a background thread has seen.
        self._pool = replace(pool, tie_seed=seed)
        self._strategy, self._seed = strategy, seed
        self._latest: Queue | None = self._kept()
        self._wanted: tuple[Labels, int] | None = None
        self._change = threading.Condition()
        self._thread: threading.Thread | None = None
        self._asked = -1
        self._busy = self._closed = False

    @property
    def latest(self) -> Queue | None:
        """The latest queue; None before the first."""
        return self._latest

    def compute(self, labels: Labels, revision: int) -> Queue:
        """Rank the unlabeled posts now."""
        generator = np.random.default_rng([self._seed, revision])
        order = Queue(
            revision, np.asarray(self._strategy.order(self._pool, labels, generator), dtype=np.int64)
        )
        with atomic_write(self.path, "wb", durable=False) as file:
            np.savez(file, revision=np.array(revision), places=order.places)
        self._latest = order
        return order

    def request(self, labels: Labels, revision: int) -> None:
        """Request a queue that considers these labels, to be computed in the background."""
        with self._change:
            known = self._latest.revision if self._latest is not None else -1
            if self._closed or revision <= max(known, self._asked):
                return
            self._wanted, self._asked = (labels, revision), revision
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="ordering", daemon=True)
                self._thread.start()
            self._change.notify_all()

    def wait(self) -> None:
        """Wait until all requests are done."""
        with self._change:
            self._change.wait_for(lambda: self._wanted is None and not self._busy)

    def close(self, seconds: float | None = None) -> None:
        """End the thread after its current computation.

        Args:
            seconds: maximum time to wait for that; None: no maximum.
        """
        with self._change:
            self._closed, self._wanted = True, None
            self._change.notify_all()
        if self._thread is not None:
            self._thread.join(seconds)

    def _work(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._wanted is not None or self._closed)
                if self._wanted is None:
                    return
                (labels, revision), self._wanted, self._busy = self._wanted, None, True
            try:
                self.compute(labels, revision)
                self.problem = None
            except Exception as error:  # annotators continue in the previous queue and see the problem
                self.problem = f"the queue could not be updated: {type(error).__name__}: {error}"
            with self._change:
                self._busy = False
                self._change.notify_all()

    def _kept(self) -> Queue | None:
        """Return the cached queue; None if there is none or it is damaged: it is computed again."""
        for left in self.path.parent.glob(f".{self.path.name}.*"):  # left by a killed process
            try:
                if left.stat().st_mtime < time.time() - _ABANDONED:
                    left.unlink()
            except OSError:
                pass
        try:
            with np.load(self.path, allow_pickle=False) as file:
                order = Queue(int(file["revision"]), file["places"])
        except Exception:  # damage causes many kinds of errors
            return None
        inside = order.places.ndim == 1 and order.places.dtype.kind == "i"
        return order if inside and np.all((order.places >= 0) & (order.places < len(self._pool))) else None
