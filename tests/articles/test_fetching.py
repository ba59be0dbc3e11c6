"""The fetcher against a server that misbehaves in every way we could think of."""

import gzip
import shutil
import socket
import ssl
import subprocess
import threading
import tracemalloc
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from linker.articles import transport
from linker.articles.extraction import extract_article
from linker.articles.fetching import fetch
from linker.articles.transport import is_public
from linker.common.errors import FetchError


def failure(url: str, **options: float) -> str:
    """The message for a page that cannot be had; it is one line and begins with the address."""
    with pytest.raises(FetchError) as caught:
        extract_article(fetch(url, allow_private=True, **options))  # type: ignore[arg-type]
    message = str(caught.value)
    assert message.startswith(f"{url}: ")
    assert "\n" not in message
    return message


def test_a_page_comes_with_its_address_and_characters(site) -> None:
    url = site.on("/a", "<html><p>Grüße – 漢字</p></html>", type_="text/html; charset=utf-8")
    page = fetch(url, allow_private=True)
    assert (page.url, page.content, page.kind) == (url, "<html><p>Grüße – 漢字</p></html>", "html")


def test_the_request_says_who_asks(site) -> None:
    seen: dict[str, str] = {}

    def answer(handler: BaseHTTPRequestHandler) -> None:
        seen.update(handler.headers)
        site.answers["/plain"](handler)

    site.on("/plain", "<p>hello</p>")
    fetch(site.call("/a", answer), allow_private=True)
    assert seen["User-Agent"].startswith("linker/")
    assert "Cookie" not in seen


@pytest.mark.parametrize(
    ("words", "statuses"),
    [
        ("page not found", (404, 410)),
        ("save it as HTML", (401, 402, 403, 451)),
        ("try again later", (429, 500, 503)),
        ("the site answered with", (304, 418)),
    ],
)
def test_every_status_says_what_to_do(site, words: str, statuses: tuple[int, ...]) -> None:
    for status in statuses:
        message = failure(site.on("/a", "<p>no</p>", status))
        assert words in message
        assert f"status {status}" in message


# Redirects


def test_redirects_are_followed_and_cookies_kept(site, article_html: str) -> None:
    site.on("/start", status=302, Location="../step", Set_Cookie="seen=1")

    def step(handler: BaseHTTPRequestHandler) -> None:
        target = "/end" if handler.headers["Cookie"] == "seen=1" else "/start"
        handler.send_response(301)
        handler.send_header("Location", target + "#part")
        handler.end_headers()

    site.call("/step", step)
    site.on("/end", article_html)
    assert fetch(f"{site.url}/start", allow_private=True).url == f"{site.url}/end"
    assert site.requests == ["/start", "/step", "/end"]


def test_five_redirects_are_followed_and_six_are_not(site) -> None:
    for i in range(6):
        site.on(f"/{i}", status=302, Location=f"/{i + 1}")
    site.on("/6", "<p>here</p>")
    assert fetch(f"{site.url}/1", allow_private=True).content == "<p>here</p>"
    assert "more than 5 times" in failure(f"{site.url}/0")
    assert site.requests[-1] == "/5"


def test_circles_are_named(site) -> None:
    site.on("/a", status=302, Location="/b")
    site.on("/b", status=302, Location="/a")
    assert "in a circle" in failure(f"{site.url}/a")


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "javascript:alert(1)", "data:text/html,x"]
)
def test_redirects_out_of_the_web_are_refused(site, target: str) -> None:
    message = failure(site.on("/a", status=302, Location=target))
    assert "not an http or https address" in message or "not a valid address" in message
    assert site.requests == ["/a"]


def test_redirects_to_nowhere(site) -> None:
    assert "without an address" in failure(site.on("/a", status=302))


# Kinds of content


@pytest.mark.parametrize(
    ("body", "type_", "words"),
    [
        (b"%PDF-1.7 ...", "application/pdf", "damaged PDF"),
        (b"%PDF-1.7 ...", "text/html", "damaged PDF"),
        (b"%PDF-1.7 ...", None, "damaged PDF"),
        (b"\x89PNG", "image/png", "image/png"),
        (b"{}", "application/json", "application/json"),
        (b"MZ\0\0\x90", None, "binary"),
        (b"", "text/html", "empty"),
        (b" \n\t ", "text/html", "empty"),
    ],
)
def test_what_is_not_a_page_is_refused(site, body: bytes, type_: str | None, words: str) -> None:
    assert words in failure(site.on("/a", body, type_=type_))


def test_without_a_content_type_the_content_decides(site, article_html: str) -> None:
    assert fetch(site.on("/a", article_html, type_=None), allow_private=True).kind == "html"
    assert fetch(site.on("/b", "Just words.", type_=None), allow_private=True).kind == "text"
    assert fetch(site.on("/c", "<!-- x --> <HTML>", type_="text/plain"), allow_private=True).kind == "html"
    assert fetch(site.on("/d", "Just words.", type_="text/plain"), allow_private=True).kind == "text"


def test_the_header_names_the_charset(site) -> None:
    url = site.on("/a", "né – “x”".encode("utf-16-le"), type_="text/html; charset=utf-16le")
    assert fetch(url, allow_private=True).content == "né – “x”"


# Sizes and packings


def test_a_page_over_the_limit_is_given_up_before_its_end(site) -> None:
    endless = site.drip("/a", b"<p>again</p>" * 1000, 0)
    assert "larger than 1 MiB" in failure(endless, max_bytes=1 << 20)
    announced = site.on("/b", "<p>x", Content_Length=str(1 << 40))
    assert "larger than 10 MiB" in failure(announced)
    assert len(fetch(site.on("/c", b"x" * 5000), allow_private=True, max_bytes=5000).content) == 5000


def test_a_compression_bomb_is_stopped_while_it_unpacks(site) -> None:
    bomb = gzip.compress(gzip.compress(bytes(64 << 20), 9), 9)
    single = gzip.compress(bytes(64 << 20), 9)
    url = site.on("/a", single, Content_Encoding="gzip")
    tracemalloc.start()
    message = failure(url, max_bytes=1 << 20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "larger than 1 MiB" in message
    assert peak < 12 << 20
    assert "compressed as 'gzip, gzip'" in failure(site.on("/b", bomb, Content_Encoding="gzip, gzip"))


def test_gzip_whole_in_parts_cut_and_damaged(site, article_html: str) -> None:
    packed = gzip.compress(article_html.encode())
    half = len(article_html) // 2
    parts = gzip.compress(article_html[:half].encode()) + gzip.compress(article_html[half:].encode())
    for body in (packed, parts, packed + b"\0\0"):
        assert fetch(site.on("/a", body, Content_Encoding="gzip"), allow_private=True).content == article_html
    assert "transfer was incomplete" in failure(site.on("/b", packed[:-20], Content_Encoding="gzip"))
    assert "damaged" in failure(site.on("/c", b"\x1f\x8bnonsense!!", Content_Encoding="gzip"))
    assert "compressed as 'br'" in failure(site.on("/d", b"x", Content_Encoding="br"))
    assert "empty" in failure(site.on("/e", b"", Content_Encoding="gzip"))


# Time


def test_the_deadline_covers_slow_drips(site) -> None:
    silent = site.call("/c", lambda handler: site.closed.wait(30) and None)
    for url in (site.drip("/a"), site.drip("/b", b"X-A: b\r\n", head=False), silent):
        assert "within 0.3 seconds" in failure(url, deadline=0.3)


def test_the_deadline_is_one_for_all_redirects_together(site) -> None:
    def late(target: str):
        def answer(handler: BaseHTTPRequestHandler) -> None:
            site.closed.wait(0.2)
            handler.send_response(302)
            handler.send_header("Location", target)
            handler.end_headers()

        return answer

    for i in range(4):
        site.call(f"/{i}", late(f"/{i + 1}"))
    site.on("/4", "<p>late</p>")
    assert "within 0.5 seconds" in failure(f"{site.url}/0", deadline=0.5)
    assert "/4" not in site.requests


def test_the_deadline_covers_the_name_lookup(monkeypatch: pytest.MonkeyPatch) -> None:
    never = threading.Event()
    monkeypatch.setattr(transport.socket, "getaddrinfo", lambda *_, **__: never.wait(10) and [])
    assert "within 0.2 seconds" in failure("http://news.test/", deadline=0.2)
    never.set()


# Connections


def test_no_such_host(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(transport.socket, "getaddrinfo", unknown)
    assert "host news.test not found" in failure("http://news.test/a")


def test_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but not listening
        assert "no connection" in failure(f"http://127.0.0.1:{taken.getsockname()[1]}/")


def test_the_next_address_of_a_host_is_tried(site, monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.getaddrinfo

    def two_addresses(host: str, port: int, *rest: Any, **more: Any) -> Any:
        if host != "news.test":
            return real(host, port, *rest, **more)
        return [(0, 0, 0, "", ("::ffff:127.0.0.9", 9)), (0, 0, 0, "", ("127.0.0.1", port))]

    site.on("/a", "<p>x</p>")
    monkeypatch.setattr(transport.socket, "getaddrinfo", two_addresses)
    assert fetch(f"http://news.test:{site.port}/a", allow_private=True).content == "<p>x</p>"


def test_what_breaks_off_or_is_not_http(site) -> None:
    assert "broke off" in failure(site.on("/a", "<p>half", Content_Length="5000"))
    assert "broke off" in failure(
        site.call("/b", lambda handler: handler.wfile.write(b"SSH-2.0-server\r\n\r\n"))
    )
    assert "broke off" in failure(site.call("/c", lambda handler: None))


@pytest.mark.parametrize(
    "url", ["http://", "http:///path", "ftp://127.0.0.1/a", "file:///etc/passwd", "nonsense", ""]
)
def test_addresses_that_are_none(url: str) -> None:
    failure(url)


def test_https_on_a_plain_server_is_not_retried_unprotected(site) -> None:
    site.on("/a", "<p>x</p>")
    assert "no secure connection" in failure(f"https://127.0.0.1:{site.port}/a")
    assert "/a" not in site.requests


@pytest.mark.skipif(not shutil.which("openssl"), reason="makes a certificate with openssl")
def test_a_certificate_that_nobody_signed_is_refused(tmp_path: Path) -> None:
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout key.pem -out cert.pem"
    )
    subprocess.run(command.split(), cwd=tmp_path, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)

    class QuietServer(HTTPServer):
        def handle_error(self, *_: object) -> None:
            pass

    with QuietServer(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        message = failure(f"https://localhost:{server.server_port}/a", deadline=5)
        server.shutdown()
    assert "no secure connection" in message
    assert "self-signed" in message or "self signed" in message
    assert not asked


# The public internet only


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254",
        "100.64.0.1", "224.0.0.251", "239.1.1.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1",
        "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254",
        "ff02::1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1",
        # Public by the tables of some versions of Python.
        "fec0::1", "feff::1", "64:ff9b:1::1", "192.88.99.1", "192.0.0.192", "::ffff:192.88.99.1",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "::ffff:8.8.8.8"])
def test_addresses_that_are_public(address: str) -> None:
    assert is_public(address)


def test_a_host_is_looked_up_once_and_one_private_address_is_enough(
    site, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, lookups = socket.getaddrinfo, []

    def rebinding(host: str, port: int, *rest: Any, **more: Any) -> Any:
        if host != "news.test":
            return real(host, port, *rest, **more)
        lookups.append(host)
        return [(0, 0, 0, "", (address, port)) for address in answers.pop(0)]

    site.on("/a", "<p>fine</p>")
    monkeypatch.setattr(transport.socket, "getaddrinfo", rebinding)
    monkeypatch.setattr(transport, "is_public", lambda address: address == "127.0.0.1")
    answers = [["127.0.0.1"], ["10.0.0.1"]]
    assert fetch(f"http://news.test:{site.port}/a").content == "<p>fine</p>"
    assert len(lookups) == 1
    answers = [["127.0.0.1", "10.0.0.1"]]
    with pytest.raises(FetchError, match=r"10\.0\.0\.1"):
        fetch(f"http://news.test:{site.port}/a")
    assert site.requests == ["/a"]


def test_a_proxy_is_used_on_request_of_the_environment_only(site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.call("http://news.test/a", lambda handler: site.answers["/a"](handler))
    site.on("/a", "<p>through the proxy</p>")
    monkeypatch.setenv("http_proxy", site.url)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert fetch("http://news.test/a", allow_private=True).content == "<p>through the proxy</p>"
    monkeypatch.setattr(transport, "_resolve", lambda *_: ["10.0.0.1"])
    with pytest.raises(FetchError, match="public internet"):
        fetch("http://news.test/a")
    assert site.requests == ["http://news.test/a"]
