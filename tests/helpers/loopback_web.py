"""A web of many hosts on loopback: one server that answers by the host in the request."""

import socket
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from linker.articles import transport
from tests.helpers.article_pages import Site, serving

#: A host in this domain resolves to the server, but counts as an address of a private network.
PRIVATE = "private.test"
#: Does not resolve.
MISSING = "missing.test"
_STAY = 0.01


class Web(Site):
    """Answers by host and path; what is not set is not found, and hosts without a robots.txt have none.

    Attributes:
        asked: requests so far, as host + path.
        most: largest number of requests to each host at the same time.
        times: times at which requests to each host began.
        agents: user agents met.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.times: dict[str, list[float]] = defaultdict(list)
        self.agents: set[str] = set()
        self._now: Counter[str] = Counter()
        self._lock = threading.Lock()

    def address(self, path: str) -> str:
        """The address of a place such as `news.test/a`."""
        host, slash, path = path.partition("/")
        return f"http://{host}:{self.port}{slash}{path}"

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer a request."""
        host = handler.headers["Host"].partition(":")[0]
        with self._lock:
            self.asked[host + handler.path] += 1
            self.times[host].append(time.time())
            self.agents.add(handler.headers["User-Agent"])
            self._now[host] += 1
            self.most[host] = max(self.most[host], self._now[host])
        # Long enough for requests at the same time to meet.
        time.sleep(_STAY)
        try:
            answer = self.answers.get(host + handler.path)
            if answer is None:
                self.leave(handler)
            (answer or _missing)(handler)
        finally:
            self.leave(handler)

    def leave(self, handler: BaseHTTPRequestHandler) -> None:
        """End a request, before the client can know its answer."""
        with self._lock:
            if not hasattr(handler, "left"):
                handler.left = True  # type: ignore[attr-defined]
                self._now[handler.headers["Host"].partition(":")[0]] -= 1


def _missing(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(404)
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def names_on_loopback(patch: pytest.MonkeyPatch) -> None:
    """Let all names below `.test` lead to this machine, and count as public except `private.test`."""
    real = socket.getaddrinfo

    def resolve(host: str, port: int, *rest: Any, **more: Any) -> Any:
        if not host.endswith(".test"):
            return real(host, port, *rest, **more)
        if host == MISSING:
            raise socket.gaierror("no such host")
        return [(0, 0, 0, "", ("10.0.0.1" if host == PRIVATE else "127.0.0.1", port))]

    patch.setattr(transport.socket, "getaddrinfo", resolve)
    patch.setattr(transport, "is_public", lambda address: address == "127.0.0.1")


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """A web on 127.0.0.1 whose hosts end in `.test`."""
    names_on_loopback(monkeypatch)
    with serving(Web()) as web:
        yield web
