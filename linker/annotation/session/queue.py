"""The order of a session: computed beside the annotators' work, and kept in the folder for the next process."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from linker.annotation.pool import Labels, Pool
from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.common.files import atomic_write

_ABANDONED = 600.0
"""Seconds after which nobody is still at a file."""


@dataclass(frozen=True)
class Queue:
    """What to label first, as far as was known when it was computed.

    Attributes:
        revision: of the state that it knows.
        places: int64, the unlabelled places of the pool then, the first to label first.
    """

    revision: int
    places: np.ndarray


class BackgroundRanker:
    """Gives the newest finished order at once; `want` has a newer one computed in a thread.

    Args:
        path: where the newest is kept.
        pool: what is ordered.
        strategy: what orders it.
        seed: of the strategy's generator, together with the revision; by itself, of the order of equal scores.
    """

    def __init__(self, path: Path, pool: Pool, strategy: QueryStrategy, seed: int) -> None:
        self.path = path
        self.problem: str | None = None
        # The same at every revision: an order does not depend on which labels a background thread has seen.
        self._pool = replace(pool, tie_seed=seed)
        self._strategy, self._seed = strategy, seed
        self._newest: Queue | None = self._kept()
        self._wanted: tuple[Labels, int] | None = None
        self._change = threading.Condition()
        self._thread: threading.Thread | None = None
        self._asked = -1
        self._busy = self._closed = False

    @property
    def newest(self) -> Queue | None:
        """The newest finished order; None before the first."""
        return self._newest

    def compute(self, labels: Labels, revision: int) -> Queue:
        """Compute an order now."""
        generator = np.random.default_rng([self._seed, revision])
        order = Queue(
            revision, np.asarray(self._strategy.order(self._pool, labels, generator), dtype=np.int64)
        )
        with atomic_write(self.path, "wb", durable=False) as file:
            np.savez(file, revision=np.array(revision), places=order.places)
        self._newest = order
        return order

    def want(self, labels: Labels, revision: int) -> None:
        """Have an order that knows these labels computed in the background, as soon as the one at work is done."""
        with self._change:
            known = self._newest.revision if self._newest is not None else -1
            if self._closed or revision <= max(known, self._asked):
                return
            self._wanted, self._asked = (labels, revision), revision
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="ordering", daemon=True)
                self._thread.start()
            self._change.notify_all()

    def settle(self) -> None:
        """Wait until all that was wanted is computed."""
        with self._change:
            self._change.wait_for(lambda: self._wanted is None and not self._busy)

    def close(self) -> None:
        """End the thread, after the order that it is at."""
        with self._change:
            self._closed, self._wanted = True, None
            self._change.notify_all()
        if self._thread is not None:
            self._thread.join()

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
            except Exception as error:  # the annotator goes on in the last order, and is told
                self.problem = f"the order could not be renewed: {type(error).__name__}: {error}"
            with self._change:
                self._busy = False
                self._change.notify_all()

    def _kept(self) -> Queue | None:
        """What an earlier process left; what cannot be read is computed anew."""
        for left in self.path.parent.glob(f".{self.path.name}.*"):  # half written by one that was killed
            try:
                if left.stat().st_mtime < time.time() - _ABANDONED:
                    left.unlink()
            except OSError:
                pass
        try:
            with np.load(self.path, allow_pickle=False) as file:
                order = Queue(int(file["revision"]), file["places"])
        except Exception:  # damage shows in many ways
            return None
        inside = order.places.ndim == 1 and order.places.dtype.kind == "i"
        return order if inside and np.all((order.places >= 0) & (order.places < len(self._pool))) else None
