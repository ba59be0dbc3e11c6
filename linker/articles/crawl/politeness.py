"""Politeness: what the robots.txt of a site allows (RFC 9309), and one request at a time to each host."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from protego import Protego

AGENT = "linker"
"""Name that groups of robots.txt address this crawler by."""
MAX_ROBOTS = 500 << 10
"""Larger files are read up to here (RFC 9309, section 2.5)."""
# What asks for more is a mistake, or meant to keep crawlers away, for which there is Disallow.
_LONGEST_DELAY = 1e6


class Rules:
    """The rules of one robots.txt.

    Args:
        text: content of the file; empty: everything is allowed.
    """

    def __init__(self, text: str) -> None:
        self._rules = Protego.parse(text.lstrip("\ufeff"))
        delay = self._rules.crawl_delay(AGENT) or 0.0
        self.delay = delay if 0 <= delay < _LONGEST_DELAY else 0.0
        """Seconds between two requests that the site asks for; 0: no wish."""

    def allows(self, url: str) -> bool:
        """Return whether the page at `url` may be fetched."""
        return bool(self._rules.can_fetch(url, AGENT))


class Stopped(Exception):  # noqa: N818  (not an error)
    """The crawl is to end."""


class Hosts:
    """Lets one request at a time through to each host, and waits `delay` seconds between two, `max_wait` at most."""

    def __init__(self, delay: float, max_wait: float) -> None:
        self.stop = threading.Event()
        self._delay = delay
        self._max_wait = max_wait
        self._wishes: dict[str, float] = {}
        self._ready: dict[str, float] = {}
        self._locks: dict[str, threading.Lock] = {}

    def ready(self, host: str) -> float:
        """Return the time, in seconds since 1970, from which on the host may be asked."""
        return self._ready.get(host, 0.0)

    def wish(self, host: str, delay: float) -> None:
        """Respect the delay in seconds that a host asks for."""
        self._wishes[host] = max(delay, self._wishes.get(host, 0.0))

    def pause(self, host: str, until: float) -> None:
        """Ask a host nothing before a time."""
        self._ready[host] = max(until, self.ready(host))

    @contextmanager
    def turn(self, host: str) -> Iterator[None]:
        """Wait for the turn of a request to this host: a redirect of a robots.txt may lead to one that is being asked.

        Raises:
            Stopped: if the crawl ends meanwhile, or the wait is too long.
        """
        with self._locks.setdefault(host, threading.Lock()):
            while (wait := self.ready(host) - time.time()) > 0:
                if wait > self._max_wait or self.stop.wait(min(wait, 1.0)):
                    raise Stopped
            if self.stop.is_set():
                raise Stopped
            try:
                yield
            finally:
                self.pause(host, time.time() + max(self._delay, self._wishes.get(host, 0.0)))
