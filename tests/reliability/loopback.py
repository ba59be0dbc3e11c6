"""A small web on loopback for crawls in other processes, where names below `.test` lead."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from tests.helpers.loopback_server import listening
from tests.reliability.harness import ROOT

# Python imports it at its start: names below .test lead to this machine, and count as public but for private.test.
_SITE = """
import socket, time
_real = socket.getaddrinfo
def _resolve(host, port, *rest, **more):
    if host == "unknown.test":
        time.sleep(3600)
    if not str(host).endswith(".test"):
        return _real(host, port, *rest, **more)
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1" if host == "private.test" else "127.0.0.1", port))]
socket.getaddrinfo = _resolve
from linker.articles import transport
transport.is_public = lambda address: address == "127.0.0.1"
"""
STORY = (
    "Two otters were filmed on Tuesday below the weir at Marrow, the first seen on the river for years. " * 12
)


@contextmanager
def site_names() -> Iterator[dict[str, str]]:
    """Give the environment with which commands find names below `.test`."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sitecustomize.py").write_text(_SITE, encoding="utf-8")
        path = filter(None, [folder, str(ROOT), os.environ.get("PYTHONPATH")])
        yield {"PYTHONPATH": os.pathsep.join(path)}


@dataclass
class Web:
    """Pages on several hosts, and two that redirect: to a private address, and to itself.

    Attributes:
        environment: with which commands find the hosts.
        count: number of pages with articles.
        port: that of the server.
        pages: further pages by their paths: content and Content-Type.
        requests: number of requests for the pages with articles.
        private: number of requests for the private host.
    """

    environment: dict[str, str]
    count: int
    port: int = 0
    pages: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    requests: int = 0
    private: int = 0

    def url(self, host: str, path: str) -> str:
        """Return the address of a page."""
        return f"http://{host}.test:{self.port}/{path}"

    @property
    def urls(self) -> list[str]:
        """Addresses of the pages with articles."""
        return [self.url(f"site-{n % 6}", f"story-{n}") for n in range(self.count)]

    @property
    def hostile(self) -> list[str]:
        """Addresses that redirect."""
        return [self.url("hostile", name) for name in ("private", "loop")]

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer a request."""
        path = handler.path
        self.private += handler.headers["Host"].startswith("private.test")
        if path in ("/private", "/loop"):
            target = self.url("private", "secret") if path == "/private" else self.url("hostile", "loop")
            _send(handler, 302, Location=target)
        elif path in self.pages:
            body, kind = self.pages[path]
            _send(handler, 200, body, kind=kind)
        elif path.startswith("/story-"):
            self.requests += 1
            time.sleep(0.02)
            page = f"<html><head><title>Story {path}</title></head><body><article><p>{path} {STORY}"
            _send(handler, 200, page.encode())
        else:
            _send(handler, 404)


def _send(
    handler: BaseHTTPRequestHandler, status: int, body: bytes = b"", kind: str = "text/html", **headers: str
) -> None:
    handler.send_response(status)
    for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


@contextmanager
def loopback(pages: int) -> Iterator[Web]:
    """Serve a number of pages with articles until the block ends."""
    with site_names() as environment:
        web = Web(environment, pages)
        with listening(web.answer) as web.port:
            yield web
