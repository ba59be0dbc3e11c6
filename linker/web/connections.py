"""Connections of the server: slow, idle and silent ones are closed, and their number is bounded."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0
"""Time for the head of a request."""
BODY_SECONDS = 60.0
"""Time for its body, and for a client that does not read its response."""
MOST_OF_ADDRESS = 100
"""Connections of one address; a proxy's are those of all its users."""
_FILES = 96
"""Descriptors that are kept free of connections."""
_FEWEST = 32
_MOST = 1_000
_MOST_RECORDS = 20
_MINUTE = 60.0


def most_connections() -> int:
    """Return how many connections the limit of open files allows."""
    try:
        import resource
    except ImportError:  # Windows
        return _MOST
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft < 0 else max(_FEWEST, min(_MOST, soft - _FILES))


class Connections:
    """The open connections of a server.

    Where there are too many, the one that has waited longest for its client makes room for a new one; a connection
    whose request has come stays.
    """

    def __init__(self) -> None:
        self._all: set[LimitedProtocol] = set()
        self._of_address: dict[str, set[LimitedProtocol]] = defaultdict(set)
        self._most = most_connections()

    def add(self, new: LimitedProtocol) -> None:
        """Add a connection, and close one if there are too many."""
        of_address = self._of_address[new.address]
        crowded = of_address if len(of_address) >= MOST_OF_ADDRESS else self._all
        self._all.add(new)
        of_address.add(new)
        if crowded is of_address or len(self._all) > self._most:
            waiting = [one for one in crowded if one.is_waiting() and one is not new]
            (min(waiting, key=lambda one: one.waiting_since) if waiting else new).drop()

    def remove(self, connection: LimitedProtocol) -> None:
        """Remove a connection that is closed."""
        self._all.discard(connection)
        of_address = self._of_address.get(connection.address, set())
        of_address.discard(connection)
        if not of_address:
            self._of_address.pop(connection.address, None)


class LimitedProtocol(H11Protocol):
    """HTTP/1.1 for clients that are not trusted.

    Attributes:
        address: address of the client.
        waiting_since: time at which its turn began, in seconds.
    """

    def __init__(self, connections: Connections, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._connections = connections
        self._timer: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._expected: object = None
        self.address, self.waiting_since = "", time.monotonic()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin a connection; if there are too many, one is closed."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._expect()
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._forget()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a piece of a request."""
        # What was received before the connection was closed to make room may be read later.
        if not self.transport.is_closing():
            super().data_received(data)
            self._expect()

    def on_response_complete(self) -> None:
        """End a response; the client has a while to read it."""
        super().on_response_complete()
        self.waiting_since = time.monotonic()
        if self.transport.is_closing():
            self.loop.call_later(BODY_SECONDS, self.transport.abort)

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; the client has a while to read what was sent."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(BODY_SECONDS, self.transport.abort)

    def pause_writing(self) -> None:
        """Give the client a while to read."""
        super().pause_writing()
        self._stalled = self.loop.call_later(BODY_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Continue to send."""
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()

    def is_waiting(self) -> bool:
        """Return whether it is the client's turn."""
        return self.cycle is None or self.cycle.response_complete or self._expected is not None

    def drop(self) -> None:
        """Close at once, whatever has not been sent."""
        self._forget()
        self.transport.abort()

    def _expect(self) -> None:
        """Set the time for what the client sends next: the head of a request, or its body."""
        state = self.conn.their_state
        expected = state if state in (h11.IDLE, h11.SEND_BODY) else None
        if expected is self._expected and expected is not None:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._expected = expected
        if expected is not None:
            self.waiting_since = time.monotonic()
            seconds = HEADER_SECONDS if expected is h11.IDLE else BODY_SECONDS
            self._timer = self.loop.call_later(seconds, self.drop)

    def _forget(self) -> None:
        for timer in (self._timer, self._stalled):
            if timer is not None:
                timer.cancel()
        self._connections.remove(self)


class BoundedLog(logging.Filter):
    """Bounds the records per minute, and drops those of requests that the end of the server cancels."""

    def __init__(self) -> None:
        super().__init__()
        self._begun, self._count = 0.0, 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log a record."""
        if record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError):
            return False
        if "timeout graceful shutdown exceeded" in str(record.msg):
            return False
        if time.monotonic() - self._begun > _MINUTE:
            self._begun, self._count = time.monotonic(), 0
        self._count += 1
        if self._count == _MOST_RECORDS:
            record.msg, record.args = f"{record.getMessage()} (no further messages for a minute)", ()
        return self._count <= _MOST_RECORDS


@contextlib.contextmanager
def bounded_logs() -> Iterator[None]:
    """Bound the logs of the server within the block."""
    loggers, bound = [logging.getLogger(name) for name in ("asyncio", "uvicorn.error")], BoundedLog()
    for logger in loggers:
        logger.addFilter(bound)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(bound)
