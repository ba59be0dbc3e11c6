"""What a stranger makes the server fetch: hostile addresses, redirects, name servers and pages, through the server's
own address for ranking. A site on loopback represents both the public and the private internet; connections to
public addresses are led there, so every check is the real one."""

from __future__ import annotations

import gzip
import socket
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpcore
import pytest

from linker.articles import transport
from linker.data.types import Post
from linker.web.api import rankings
from linker.web.app import Served, create_app
from tests.web.conftest import Client

PUBLIC, OTHER_PUBLIC = "93.184.216.34", "198.41.0.4"
# No paragraph twice: what a page repeats is read once.
PAGE = b"<html><body><article><h1>Otters</h1>" + b"".join(
    b"<p>On day %d, two otters were seen below the weir at Marrow.</p>" % day for day in range(1, 21)
)
NO_PUBLIC = "not an address of the public internet"

Answer = Callable[[BaseHTTPRequestHandler], None]


class Internet:
    """Answers by path, names by what their server says, and what was connected to."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.pages: dict[str, Answer] = {}
        self.names: dict[str, list[list[str]]] = {}
        self.requests: list[str] = []
        self.connections: list[str] = []
        self.lookups: list[str] = []
        self.closed = threading.Event()

    def page(self, path: str, body: bytes = PAGE, status: int = 200, **headers: str) -> str:
        """The address of a page of a public host."""

        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            for name, value in {
                "Content_Type": "text/html",
                "Content_Length": str(len(body)),
                **headers,
            }.items():
                handler.send_header(name.replace("_", "-"), value)
            handler.end_headers()
            handler.wfile.write(body)

        self.pages[path] = answer
        return f"http://news.test{path}"


@pytest.fixture
def internet(monkeypatch: pytest.MonkeyPatch) -> Iterator[Internet]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            net.requests.append(self.path)
            self.close_connection = True
            try:
                net.pages[self.path](self)
            except OSError:
                pass

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    net = Internet(server.server_port)
    net.names = {"news.test": [[PUBLIC]], "other.test": [[OTHER_PUBLIC]]}
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    lookup, connect = socket.getaddrinfo, httpcore.SyncBackend.connect_tcp

    def looked_up(host: str, port: int, *rest: Any, **more: Any) -> Any:
        if host not in net.names:
            return lookup(host, port, *rest, **more)
        net.lookups.append(host)
        answers = net.names[host]
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(0, 0, 0, "", (address, port)) for address in found]

    def connected(backend: Any, host: str, port: int, *rest: Any, **more: Any) -> Any:
        net.connections.append(host)
        return connect(backend, "127.0.0.1", net.port, *rest, **more)

    monkeypatch.setattr(transport.socket, "getaddrinfo", looked_up)
    monkeypatch.setattr(httpcore.SyncBackend, "connect_tcp", connected)
    yield net
    net.closed.set()
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def client() -> Client:
    return Client(create_app(Served(posts=[Post("1", "otters at the weir"), Post("2", "a late bus")])))


def refused(client: Client, address: str) -> str:
    """The message for an address; the internals of the server are not in it."""
    response = client.post("/api/rank", json={"article": address, "source": "posts"})
    assert response.status_code == 400, response.text
    message = response.json()["error"]
    assert "Traceback" not in message
    return message


def test_a_public_page_is_fetched_and_ranked_for(client: Client, internet: Internet) -> None:
    answer = client.post("/api/rank", json={"article": internet.page("/a"), "source": "posts"}).json()
    assert answer["article"]["text"].count("otters") == 20
    assert answer["posts"][0]["id"] == "1"
    assert (internet.connections, internet.lookups) == ([PUBLIC], ["news.test"])


def test_a_page_is_fetched_once_for_the_preliminary_and_the_final_ranking(
    client: Client, internet: Internet
) -> None:
    body = {"article": internet.page("/a"), "source": "posts", "model": "tfidf"}
    first = client.post("/api/rank", json={**body, "preliminary": True}).json()
    final = client.post("/api/rank", json=body).json()
    assert (first["model"], final["model"], first["article"]) == ("bm25", "tfidf", final["article"])
    assert internet.connections == [PUBLIC]
    client.post("/api/rank", json=body)  # later, the page may have changed
    assert internet.connections == [PUBLIC, PUBLIC]


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "127.1", "0.0.0.0", "2130706433", "0x7f000001", "0177.0.0.1", "10.0.0.1",
        "172.31.255.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "192.0.0.192", "198.18.0.1", "224.0.0.1",
        "255.255.255.255", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]", "[fe80::1]", "[fc00::1]",
        "[fec0::1]", "[64:ff9b::a00:1]", "[64:ff9b:1::a00:1]", "[2002:a00:1::]", "[::127.0.0.1]",
        "news.test@127.0.0.1", "127.0.0.1\u3002",
    ],
)  # fmt: skip
def test_addresses_within_are_refused_in_every_notation(
    client: Client, internet: Internet, host: str
) -> None:
    message = refused(client, f"http://{host}:{internet.port}/secret")
    assert (
        NO_PUBLIC in message
        or "your connection to the internet" in message
        or "not a valid address" in message
    )
    assert internet.connections == internet.requests == []


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd", "ftp://news.test/a", "gopher://127.0.0.1:25/x", "dict://127.0.0.1:11211/stats",
        "http:///a", "http://", "http://news.test:99999/", "http://[::1/", "http://news.test:0x50/",
    ],
)  # fmt: skip
def test_what_is_not_a_web_address_is_refused(client: Client, internet: Internet, address: str) -> None:
    refused(client, address)
    assert internet.connections == []


def test_other_schemes_that_look_like_texts_are_texts(client: Client, internet: Internet) -> None:
    for given in ("javascript:alert(1)", "data:text/html,otters", "//127.0.0.1/otters"):
        answer = client.post("/api/rank", json={"article": given, "source": "posts"}).json()
        assert answer["article"] == {"title": "", "text": given, "url": None, "published": None}
    assert internet.connections == []


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1/secret", "http://169.254.169.254/latest/meta-data/", "http://[::1]/secret",
        "http://localhost/secret", "//127.0.0.1/secret", "http://2130706433/secret", "http://inside.test/secret",
    ],
)  # fmt: skip
def test_redirects_inside_are_refused(client: Client, internet: Internet, target: str) -> None:
    internet.names["inside.test"] = [["10.0.0.7"]]
    internet.page("/secret")
    assert NO_PUBLIC in refused(client, internet.page("/a", status=302, Location=target))
    assert (internet.requests, internet.connections) == (["/a"], [PUBLIC])


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://news.test/", "gopher://127.0.0.1/", "data:text/html,x"]
)
def test_redirects_out_of_the_web_are_refused(client: Client, internet: Internet, target: str) -> None:
    refused(client, internet.page("/a", status=301, Location=target))
    assert internet.connections == [PUBLIC]


def test_a_long_chain_of_redirects_and_a_late_turn_inside(client: Client, internet: Internet) -> None:
    for i in range(9):
        internet.page(f"/{i}", status=302, Location=f"http://{('news', 'other')[i % 2]}.test/{i + 1}")
    assert "redirects more than" in refused(client, "http://news.test/0")
    internet.page("/3", status=302, Location="http://192.168.1.1/admin")
    assert NO_PUBLIC in refused(client, "http://news.test/1")
    assert not {"192.168.1.1"} & {*internet.connections}


def test_a_name_with_one_address_inside_is_refused(client: Client, internet: Internet) -> None:
    for inside in ("10.0.0.1", "::1", "fe80::1%eth0", "::ffff:192.168.0.1"):
        internet.names["mixed.test"] = [[PUBLIC, inside]]
        assert NO_PUBLIC in refused(client, "http://mixed.test/a")
    assert internet.connections == []


def test_a_name_that_changes_its_address_after_the_check_gains_nothing(
    client: Client, internet: Internet
) -> None:
    internet.page("/a")
    internet.names["rebinding.test"] = [[PUBLIC], ["127.0.0.1"]]
    assert (
        client.post("/api/rank", json={"article": "http://rebinding.test/a", "source": "posts"}).status_code
        == 200
    )
    assert internet.lookups == ["rebinding.test"]
    assert internet.connections == [PUBLIC]  # the address that was checked, not the name
    assert NO_PUBLIC in refused(client, "http://rebinding.test/a")


def test_a_redirect_to_the_same_name_is_looked_up_and_checked_again(
    client: Client, internet: Internet
) -> None:
    internet.names["rebinding.test"] = [[PUBLIC], ["127.0.0.1"]]
    internet.page("/a", status=302, Location="http://rebinding.test:81/secret")
    assert NO_PUBLIC in refused(client, "http://rebinding.test/a")
    assert internet.connections == [PUBLIC]


def test_the_environments_proxy_gives_no_way_inside(
    client: Client, internet: Internet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{internet.port}")
    internet.page("/a")
    assert (
        client.post("/api/rank", json={"article": "http://news.test/a", "source": "posts"}).status_code == 200
    )
    assert internet.requests == ["/a"]  # a proxy would be asked for the whole address


@pytest.mark.parametrize(
    ("headers", "body", "words"),
    [
        ({"Content_Type": "application/octet-stream"}, b"x", "not a web page"),
        ({"Content_Type": "image/svg+xml"}, b"<svg/>", "not a web page"),
        ({"Content_Type": "application/json"}, b"{}", "not a web page"),
        ({"Content_Type": "text/html"}, b"%PDF-1.7", "PDF"),
        ({"Content_Type": "text/html"}, b"<p>\0\0\0", "binary"),
        ({"Content_Length": str(1 << 50)}, b"x", "larger than"),
        ({"Content_Encoding": "br"}, b"x", "compressed as"),
        ({"Content_Encoding": "gzip, gzip"}, gzip.compress(gzip.compress(b"x")), "compressed as"),
        ({"Content_Encoding": "gzip"}, b"\x1f\x8bnonsense", "damaged"),
        ({"Content_Encoding": "gzip"}, gzip.compress(PAGE)[:-9], "transfer was incomplete"),
    ],
)
def test_pages_that_are_none(
    client: Client, internet: Internet, headers: dict[str, Any], body: bytes, words: str
) -> None:
    assert words in refused(client, internet.page("/a", body, **headers))


def test_a_compression_bomb_takes_no_memory(client: Client, internet: Internet) -> None:
    packer = zlib.compressobj(9, wbits=31)
    zeros = bytes(1 << 20)
    bomb = b"".join(packer.compress(zeros) for _ in range(64)) + packer.flush()
    address = internet.page("/a", bomb, Content_Encoding="gzip")
    tracemalloc.start()
    message = refused(client, address)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "larger than 5 MiB" in message
    assert peak < 24 << 20


def test_a_body_without_an_end_is_given_up(client: Client, internet: Internet) -> None:
    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/html")
        handler.end_headers()
        while not internet.closed.is_set():
            handler.wfile.write(b"<p>again</p>" * 5000)

    internet.pages["/a"] = endless
    assert "larger than 5 MiB" in refused(client, "http://news.test/a")


@pytest.mark.parametrize("where", ["silence", "headers", "body"])
def test_slow_drips_end_at_the_deadline(
    client: Client, internet: Internet, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setattr(rankings, "_FETCH_SECONDS", 0.4)

    def drip(handler: BaseHTTPRequestHandler) -> None:
        if where == "silence":
            internet.closed.wait(30)
        handler.wfile.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + (b"\r\n" if where == "body" else b"")
        )
        while not internet.closed.wait(0.03):
            handler.wfile.write(b"X-A: b\r\n")

    internet.pages["/a"] = drip
    begun = time.monotonic()
    assert "no answer within" in refused(client, "http://news.test/a")
    assert time.monotonic() - begun < 20  # far from the 30 s that the site would take


def test_endless_headers_are_given_up(client: Client, internet: Internet) -> None:
    def headers(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not internet.closed.is_set():
            handler.wfile.write(b"X-A: " + b"b" * 1000 + b"\r\n")

    internet.pages["/a"] = headers
    assert "broke off" in refused(client, "http://news.test/a")
