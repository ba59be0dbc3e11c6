"""The queue of unlabeled posts, re-ranked in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from linker.annotation.pool import Labels, Pool
from linker.annotation.query_strategies.query_strategy import QueryStrategy


@dataclass(frozen=True)
class Queue:
    """Unlabeled posts, the next one to label first, as ranked at some revision.

    Attributes:
        revision: revision of the session's state when it was computed.
        posts: int64, indices of the posts unlabeled at that time.
    """

    revision: int
    posts: np.ndarray


class BackgroundRanker:
    """Ranks posts in a thread; the latest queue is available at once.

    Args:
        pool: the posts.
        strategy: the query strategy.
        seed: with the revision, the seed of the strategy's generator; alone, of the order of equal scores.
        latest: the queue that a process before this one computed; None: none did.
        store: stores each queue for the next process.
    """

    def __init__(
        self,
        pool: Pool,
        strategy: QueryStrategy,
        seed: int,
        latest: Queue | None,
        store: Callable[[Queue], None],
    ) -> None:
        self.problem: str | None = None
        self.latest = latest
        # The same at every revision, so ties do not depend on which labels a background thread has seen.
        self._pool = replace(pool, tie_seed=seed)
        self._strategy, self._seed, self._store = strategy, seed, store
        self._wanted: tuple[Labels, int] | None = None
        self._change = threading.Condition()
        self._thread: threading.Thread | None = None
        self._asked = -1
        self._busy = self._closed = False

    @property
    def revision(self) -> int:
        """Number of labels, changes and undos that the latest queue considers; -1 before the first."""
        return -1 if self.latest is None else self.latest.revision

    def compute(self, labels: Labels, revision: int) -> Queue:
        """Rank the unlabeled posts now."""
        generator = np.random.default_rng([self._seed, revision])
        posts = np.asarray(self._strategy.order(self._pool, labels, generator), dtype=np.int64)
        self.latest = queue = Queue(revision, posts)
        self._store(queue)
        return queue

    def request(self, labels: Labels, revision: int) -> None:
        """Request a queue that considers these labels, to be computed in the background."""
        with self._change:
            if self._closed or revision <= max(self.revision, self._asked):
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
