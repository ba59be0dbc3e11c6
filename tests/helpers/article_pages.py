"""A web server on loopback whose answers each test writes itself."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import TypeVar

import pytest

from tests.helpers.loopback_server import Answer, listening

ARTICLE_HTML = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<title>Otters return to the Brell after forty years | Marrow Gazette</title>
<meta property="og:title" content="Otters return to the Brell after forty years">
<meta property="article:published_time" content="2021-05-14T08:30:00Z">
<style>nav { color: red }</style><script>window.track = "cookie banner";</script></head>
<body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/sport">Sport</a></li><li><a href="/w">Weather</a></li></ul></nav>
<main><article>
<h1>Otters return to the Brell after forty years</h1>
<p>Two otters were filmed on Tuesday below the weir at Marrow, the first seen on the river Brell since the
paper mill opened there four decades ago, the county's river keepers said.</p>
<p>The animals, a mother and a nearly grown cub, were caught by a camera that the keepers had put up to count
salmon. Their warden, Ilse Tarn, said that she had watched the film six times before she believed it.</p>
<p>The mill stopped letting bleach into the water eleven years ago. Trout came back first, then kingfishers, and
anglers at Marrow have complained of half-eaten fish on the bank since the winter.</p>
<p>The keepers ask walkers to keep dogs on a lead between the weir and the railway bridge until August.</p>
</article></main>
<footer><p>Copyright Marrow Gazette. Imprint. Privacy. Advertise with us.</p></footer>
</body></html>"""


class Site:
    """Answers by path; `requests` are the paths asked for so far."""

    def __init__(self) -> None:
        self.port = 0
        self.answers: dict[str, Answer] = {}
        self.requests: list[str] = []
        self.closed = threading.Event()

    @property
    def url(self) -> str:
        """Return the address of the site, without a slash."""
        return f"http://127.0.0.1:{self.port}"

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer a request."""
        self.requests.append(handler.path)
        self.answers[handler.path](handler)

    def on(
        self,
        path: str,
        body: bytes | str = b"",
        status: int = 200,
        type_: str | None = "text/html",
        **headers: str,
    ) -> str:
        """Answer requests for `path` with these; returns the address."""
        content = body.encode() if isinstance(body, str) else body

        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            if type_ is not None:
                handler.send_header("Content-Type", type_)
            for name, value in headers.items():
                handler.send_header(name.replace("_", "-"), value)
            if "Content_Length" not in headers:
                handler.send_header("Content-Length", str(len(content)))
            self.leave(handler)
            handler.end_headers()
            handler.wfile.write(content)

        return self.call(path, answer)

    def call(self, path: str, answer: Answer) -> str:
        """Let a function answer requests for `path`; returns the address."""
        self.answers[path] = answer
        return self.address(path)

    def drip(self, path: str, piece: bytes = b".", wait: float = 0.03, head: bool = True) -> str:
        """Answer requests for `path` with pieces, again and again, after a whole head or within it."""

        def answer(handler: BaseHTTPRequestHandler) -> None:
            if head:
                handler.send_response(200)
                handler.send_header("Content-Type", "text/html")
                handler.end_headers()
            else:
                handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while not self.closed.wait(wait):
                handler.wfile.write(piece)

        return self.call(path, answer)

    def address(self, path: str) -> str:
        """The address of a path."""
        return self.url + path

    def leave(self, handler: BaseHTTPRequestHandler) -> None:
        """Called before the client can know an answer."""


S = TypeVar("S", bound=Site)


@contextmanager
def serving(site: S) -> Iterator[S]:
    """Let a site be asked on 127.0.0.1."""
    with listening(site.serve) as site.port:
        try:
            yield site
        finally:
            site.closed.set()


@pytest.fixture
def site() -> Iterator[Site]:
    """A site on 127.0.0.1."""
    with serving(Site()) as site:
        yield site


@pytest.fixture
def article_html() -> str:
    """A page with an article of 150 words, a menu and a footer."""
    return ARTICLE_HTML
