"""A small web on loopback for crawls in other processes, where names below `.test` lead."""

from __future__ import annotations

import io
import os
import tempfile
import threading
import time
import zipfile
from dataclasses import dataclass
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType

from benchmarks.reliability.commands import ROOT

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
_STEP = 100_000
STORY = (
    "Two otters were filmed on Tuesday below the weir at Marrow, the first seen on the river for years. " * 12
)


@cache
def _archive() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("glove.6B.50d.txt", "".join(f"word{n} {'0.5 ' * 49}0.25\n" for n in range(10_000)))
    return packed.getvalue()


def site_folder() -> tuple[tempfile.TemporaryDirectory[str], dict[str, str]]:
    """Return a folder to remove in the end, and the environment with which commands find names below `.test`."""
    folder = tempfile.TemporaryDirectory()
    Path(folder.name, "sitecustomize.py").write_text(_SITE, encoding="utf-8")
    path = filter(None, [folder.name, str(ROOT), os.environ.get("PYTHONPATH")])
    return folder, {"PYTHONPATH": os.pathsep.join(path)}


@dataclass(frozen=True)
class Page:
    """A page.

    Attributes:
        body: its content.
        kind: its Content-Type.
    """

    body: bytes
    kind: str = "text/html"


class Loopback:
    """Pages on several hosts, and two that redirect: to a private address, and to itself.

    Attributes:
        urls: addresses of the pages with articles.
        archive: address of an archive of word vectors, which takes some seconds.
        requests: number of requests for them.
        private: number of requests for the private host.
        private_url: an address of the private host.
        pages: further pages by their paths.
    """

    def __init__(self, pages: int) -> None:
        outer = self
        self.requests = self.private = 0
        self.pages: dict[str, Page] = {}

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.close_connection = True
                try:
                    outer._answer(self)
                except OSError:  # the client was killed
                    pass

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        port = self._server.server_port
        self.urls = [f"http://site-{n % 6}.test:{port}/story-{n}" for n in range(pages)]
        self.archive = f"http://files.test:{port}/archive.zip"
        self.hostile = [f"http://hostile.test:{port}/{name}" for name in ("private", "loop")]
        self.private_url = f"http://private.test:{port}/secret"
        self._folder, self.environment = site_folder()

    def page_url(self, number: int) -> str:
        """Return the address of `/page-NUMBER`."""
        return f"http://page-{number % 6}.test:{self._server.server_port}/page-{number}"

    def __enter__(self) -> Loopback:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._folder.cleanup()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        host, path = handler.headers["Host"].partition(":")[0], handler.path
        self.private += host == "private.test"
        port = self._server.server_port
        if path == "/private":
            self._send(handler, 302, "", ("Location", self.private_url))
        elif path == "/loop":
            self._send(handler, 302, "", ("Location", f"http://hostile.test:{port}/loop"))
        elif path in self.pages:
            page = self.pages[path]
            self._send(handler, 200, page.body, kind=page.kind)
        elif path == "/archive.zip":
            self._send_archive(handler)
        elif path.startswith("/story-"):
            self.requests += 1
            time.sleep(0.02)
            self._send(
                handler,
                200,
                f"<html><head><title>Story {path}</title></head><body><article><p>{path} {STORY}",
            )
        else:
            self._send(handler, 404, "")

    def _send_archive(self, handler: BaseHTTPRequestHandler) -> None:
        content = _archive()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.send_header("ETag", '"1"')
        handler.end_headers()
        for place in range(0, len(content), _STEP):
            handler.wfile.write(content[place : place + _STEP])
            time.sleep(0.05)

    def _send(
        self,
        handler: BaseHTTPRequestHandler,
        status: int,
        body: str | bytes,
        *headers: tuple[str, str],
        kind: str = "text/html",
    ) -> None:
        content = body.encode() if isinstance(body, str) else body
        handler.send_response(status)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(content))), *headers):
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)
