"""Limit on the number of searches of one client."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict

_MOST_CLIENTS = 10_000
"""Clients that are remembered; the one that has waited longest is forgotten first."""


class RateLimit:
    """Permits a number of requests a minute per client, and as many at once (a token bucket).

    Args:
        per_minute: requests a minute, ≥ 1; None: no limit.
    """

    def __init__(self, per_minute: int | None = None) -> None:
        self._per_minute = per_minute
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()  # client → permits, when counted
        self._lock = threading.Lock()

    def wait(self, client: str) -> int:
        """Take a permit: return 0, or the seconds until there is one.

        Args:
            client: address of the client.
        """
        if self._per_minute is None:
            return 0
        now = time.monotonic()
        with self._lock:
            permits, counted = self._clients.pop(client, (float(self._per_minute), now))
            permits = min(float(self._per_minute), permits + (now - counted) * self._per_minute / 60)
            taken = permits >= 1
            self._clients[client] = (permits - taken, now)
            if len(self._clients) > _MOST_CLIENTS:
                self._clients.popitem(last=False)
        return 0 if taken else max(1, math.ceil((1 - permits) * 60 / self._per_minute))
