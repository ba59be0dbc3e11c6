"""Heartbeat thread: terminates this process when another one has failed, so that none hangs in a collective."""

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
# A process without a heartbeat for this long counts as failed.
SILENCE_SECONDS = 40.0
HALTED_SECONDS = 10.0
# How long a process whose connection broke waits for others to report why.
EXPLANATION_SECONDS = 5.0
FAILURE = "linker/failure"


def ended_key(rank: int) -> str:
    """Return the key under which the launcher reports how a process ended."""
    return f"linker/ended/{rank}"


class Watchdog:
    """Heartbeats in a store that all processes see, and the one failure that is reported.

    The process whose `claim` comes first reports its message; all others exit silently. Every process watches the next
    one by rank.

    Args:
        place: the place of this process.
        store: a connection for this thread only, which uses it while others may be blocked.
        doing: returns what this process is doing, for messages about others.
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
        """Start watching."""
        self._answered = time.monotonic()
        self._thread.start()
        self._guard.start()

    def stop(self) -> None:
        """Stop watching: the run is over in this process."""
        self._ended.set()
        self._thread.join(5)

    def claim(self, message: str) -> bool:
        """Return whether this process is the first to report a failure; only then may it print."""
        mine = f"{self._place.rank}: {message}".encode("utf-8", "replace")
        with self._claiming:
            try:
                return self._store.compare_set(FAILURE, "", mine.decode("utf-8")) == mine
            except RuntimeError:  # The store is gone, and with it any other reporter.
                return True

    def wait_for_the_end(self, error: Exception) -> None:
        """Let the thread find out why the connection to another process broke, and end this process."""
        self._lost, self._lost_since = _short(error), time.monotonic()
        self._thread.join()

    def _look(self) -> None:
        parent, other = os.getppid(), (self._place.rank + 1) % self._place.size
        beats, heard = -1, time.monotonic()
        looked = heard
        while not self._ended.wait(LOOK_SECONDS):
            # All processes were suspended, with a virtual machine for example: no heartbeat is missing.
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
                if now - looked > HALTED_SECONDS:  # Suspended between the two.
                    heard = now
                # A process may be slow to start: silence counts from its first heartbeat on.
                if count != beats or not count:
                    beats, heard = count, now
                for rank in range(self._place.size):
                    if self._store.check([ended_key(rank)]):
                        self._end(f"process {rank} {self._store.get(ended_key(rank)).decode()}")
                if now - heard > SILENCE_SECONDS:
                    self._end(f"process {other} has shown no sign of life for {SILENCE_SECONDS:.0f} s")
                if self._lost and now - self._lost_since > EXPLANATION_SECONDS:
                    gone = now - heard > EXPLANATION_SECONDS / 2
                    who = f"process {other} is gone" if gone else "another process is gone"
                    self._end(f"{who} ({self._lost})")
            except RuntimeError as error:
                if self._ended.is_set():
                    return
                self._end(f"lost connection to the rendezvous store ({_short(error)})")

    def _look_at_store(self) -> None:
        """Exit if the store stops answering: one on a host that was cut off does not fail."""
        looked = time.monotonic()
        while not self._ended.wait(LOOK_SECONDS):
            if time.monotonic() - looked > HALTED_SECONDS:
                self._answered = time.monotonic()
            looked = time.monotonic()
            if looked - self._answered > SILENCE_SECONDS:
                self._report(f"no answer from the rendezvous store for {SILENCE_SECONDS:.0f} s")
                os._exit(1)

    def _leave(self) -> None:
        """Exit because of a failure elsewhere; if this process reports it, let it exit by itself."""
        teller = int(self._store.get(FAILURE).decode().split(":")[0])
        if teller != self._place.rank:
            self.linger()
            os._exit(1)
        self._ended.set()

    def linger(self) -> None:
        """If this process hosts the store, keep it until the others have seen the failure."""
        if self._place.hosts_store:
            time.sleep(4 * LOOK_SECONDS)

    def _end(self, cause: str) -> None:
        if not self._ended.is_set() and self.claim(cause):
            self._report(cause)
            self.linger()
        os._exit(1)

    def _report(self, cause: str) -> None:
        doing = self._doing()
        where = (
            f"; process {self._place.rank} of {self._place.size} reports this, in {doing}" if doing else ""
        )
        print(f"error: {cause}{where}", file=sys.stderr, flush=True)


def _short(error: Exception) -> str:
    return shorten(str(error), 150, placeholder=" …")


def connect(place: DistributedEnvironment, keep: bool) -> TCPStore:
    """Connect to the store; `keep` starts it.

    Raises:
        RuntimeError: if there is none.
    """
    return TCPStore(
        place.host, place.port, is_master=keep, wait_for_workers=False, timeout=timedelta(minutes=5)
    )
