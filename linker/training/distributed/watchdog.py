"""A thread in every process of a run that ends it when the run has failed elsewhere: none waits for the dead."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from textwrap import shorten

from torch.distributed import TCPStore

from linker.training.distributed.environment import DistributedEnvironment

LOOK_SECONDS = 0.5
# A process that shows no sign of life for so long is given up.
SILENCE_SECONDS = 40.0
HALTED_SECONDS = 10.0
# How long a process whose connection broke waits for others to say why.
EXPLANATION_SECONDS = 5.0
FAILURE = "linker/failure"


def ended_key(rank: int) -> str:
    """Where whoever started the processes says how one of them ended."""
    return f"linker/ended/{rank}"


class Watchdog:
    """Signs of life in a store that all processes see, and the one failure that is told.

    The process whose `claim` comes first tells its message; all others end silently. Every process looks after the
    next one by rank.

    Args:
        place: this process.
        store: a connection of its own: the thread uses it while others may be blocked.
        doing: says what this process is about, for messages about others.
    """

    def __init__(self, place: DistributedEnvironment, store: TCPStore, doing: Callable[[], str]) -> None:
        self._place, self._store, self._doing = place, store, doing
        self._answered = time.monotonic()
        self._claiming = threading.Lock()
        self._ended = threading.Event()
        self._lost = ""
        self._lost_since = 0.0
        self._thread = threading.Thread(target=self._look, name="watch", daemon=True)
        self._guard = threading.Thread(target=self._look_at_store, name="watch the store", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._answered = time.monotonic()
        self._thread.start()
        self._guard.start()

    def stop(self) -> None:
        """The run is over in this process."""
        self._ended.set()
        self._thread.join(5)

    def claim(self, message: str) -> bool:
        """Is this process the first to tell of a failure? Only then may it."""
        mine = f"{self._place.rank}: {message}".encode("utf-8", "replace")
        with self._claiming:
            try:
                return self._store.compare_set(FAILURE, "", mine.decode("utf-8")) == mine
            except RuntimeError:  # the store is gone, and with it whoever else could tell
                return True

    def wait_for_the_end(self, error: Exception) -> None:
        """The connection to another process broke: let the thread find out why, and end this process."""
        self._lost, self._lost_since = _short(error), time.monotonic()
        self._thread.join()

    def _look(self) -> None:
        parent, other = os.getppid(), (self._place.rank + 1) % self._place.size
        beats, heard = -1, time.monotonic()
        looked = heard
        while not self._ended.wait(LOOK_SECONDS):
            # All were halted for a while, a virtual machine say: that is nobody's silence.
            if time.monotonic() - looked > HALTED_SECONDS:
                heard = time.monotonic()
            looked = time.monotonic()
            if os.getppid() != parent:
                os._exit(1)
            try:
                self._store.add(f"linker/beat/{self._place.rank}", 1)
                if self._store.check([FAILURE]):
                    self._leave()
                count = self._store.add(f"linker/beat/{other}", 0)
                now = self._answered = time.monotonic()
                if now - looked > HALTED_SECONDS:  # halted between the two
                    heard = now
                # Silence counts from the first sign of life on: a process may be slow to begin.
                if count != beats or not count:
                    beats, heard = count, now
                for rank in range(self._place.size):
                    if self._store.check([ended_key(rank)]):
                        self._end(f"process {rank} {self._store.get(ended_key(rank)).decode()}")
                if now - heard > SILENCE_SECONDS:
                    self._end(f"process {other} shows no sign of life since {SILENCE_SECONDS:.0f} s")
                if self._lost and now - self._lost_since > EXPLANATION_SECONDS:
                    gone = now - heard > EXPLANATION_SECONDS / 2
                    who = f"process {other} is gone" if gone else "another process is gone"
                    self._end(f"{who} ({self._lost})")
            except RuntimeError as error:
                if self._ended.is_set():
                    return
                self._end(f"the place where the processes meet is gone ({_short(error)})")

    def _look_at_store(self) -> None:
        """A store on a host that was cut off does not fail, it never answers."""
        looked = time.monotonic()
        while not self._ended.wait(LOOK_SECONDS):
            if time.monotonic() - looked > HALTED_SECONDS:
                self._answered = time.monotonic()
            looked = time.monotonic()
            if looked - self._answered > SILENCE_SECONDS:
                self._tell(
                    f"the place where the processes meet does not answer since {SILENCE_SECONDS:.0f} s"
                )
                os._exit(1)

    def _leave(self) -> None:
        """Another process tells, or this one is about to: give it the time to end by itself."""
        teller = int(self._store.get(FAILURE).decode().split(":")[0])
        if teller != self._place.rank:
            self.linger()
            os._exit(1)
        self._ended.set()

    def linger(self) -> None:
        """Keep the store, if this process does, until the others have seen who tells."""
        if self._place.hosts_store:
            time.sleep(4 * LOOK_SECONDS)

    def _end(self, cause: str) -> None:
        if not self._ended.is_set() and self.claim(cause):
            self._tell(cause)
            self.linger()
        os._exit(1)

    def _tell(self, cause: str) -> None:
        doing = self._doing()
        where = f"; process {self._place.rank} of {self._place.size} tells, in {doing}" if doing else ""
        print(f"error: {cause}{where}", file=sys.stderr, flush=True)


def _short(error: Exception) -> str:
    return shorten(str(error), 150, placeholder=" …")


def connect(place: DistributedEnvironment, keep: bool) -> TCPStore:
    """A connection to the store; `keep` begins it.

    Raises:
        RuntimeError: nobody keeps one there.
    """
    return TCPStore(
        place.host, place.port, is_master=keep, wait_for_workers=False, timeout=timedelta(minutes=5)
    )
