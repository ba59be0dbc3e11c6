"""What a stranger makes the server fetch, through its address for rankings; tests/articles tests `fetch` itself.

A site on loopback represents both the public and the private internet; connections to public addresses are led there,
so every check is the real one."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Iterator
from typing import Any

import httpcore
import pytest

from linker.articles import transport
from linker.data.types import Post
from linker.web.api import rankings
from linker.web.app import Served, create_app
from tests.helpers.article_pages import Site, serving
from tests.web.conftest import Client

PUBLIC, OTHER_PUBLIC = "93.184.216.34", "198.41.0.4"
# No paragraph twice: what a page repeats is read once.
PAGE = b"<html><body><article><h1>Otters</h1>" + b"".join(
    b"<p>On day %d, two otters were seen below the weir at Marrow.</p>" % day for day in range(1, 21)
)
NO_PUBLIC = "not an address of the public internet"


class Internet(Site):
    """Answers by path, names by what their server says, and what was connected to."""

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[str, list[list[str]]] = {"news.test": [[PUBLIC]], "other.test": [[OTHER_PUBLIC]]}
        self.connections: list[str] = []
        self.lookups: list[str] = []

    def address(self, path: str) -> str:
        """The address of a page of a public host."""
        return f"http://news.test{path}"


@pytest.fixture
def internet(monkeypatch: pytest.MonkeyPatch) -> Iterator[Internet]:
    net = Internet()
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
    with serving(net):
        yield net


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
    answer = client.post("/api/rank", json={"article": internet.on("/a", PAGE), "source": "posts"}).json()
    assert answer["article"]["text"].count("otters") == 20
    assert answer["posts"][0]["id"] == "1"
    assert (internet.connections, internet.lookups) == ([PUBLIC], ["news.test"])


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
    internet.on("/secret", PAGE)
    assert NO_PUBLIC in refused(client, internet.on("/a", PAGE, status=302, Location=target))
    assert (internet.requests, internet.connections) == (["/a"], [PUBLIC])


def test_a_name_that_changes_its_address_after_the_check_gains_nothing(
    client: Client, internet: Internet
) -> None:
    internet.on("/a", PAGE)
    internet.names["rebinding.test"] = [[PUBLIC], ["127.0.0.1"]]
    assert (
        client.post("/api/rank", json={"article": "http://rebinding.test/a", "source": "posts"}).status_code
        == 200
    )
    assert internet.lookups == ["rebinding.test"]
    assert internet.connections == [PUBLIC]  # the address that was checked, not the name
    assert NO_PUBLIC in refused(client, "http://rebinding.test/a")


def test_endless_headers_are_given_up(client: Client, internet: Internet) -> None:
    headers = internet.drip("/a", b"X-A: " + b"b" * 1000 + b"\r\n", 0, head=False)
    assert "broke off" in refused(client, headers)


def test_a_page_that_drips_ends_at_the_deadline_of_the_server(
    client: Client, internet: Internet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rankings, "_FETCH_SECONDS", 0.4)
    assert "no answer within" in refused(client, internet.drip("/a"))


def test_a_page_has_at_most_five_mebibytes(client: Client, internet: Internet) -> None:
    bomb = gzip.compress(bytes(6 << 20))
    assert "larger than 5 MiB" in refused(client, internet.on("/a", bomb, Content_Encoding="gzip"))
