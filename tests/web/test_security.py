"""Who may ask the server, from where, and what the page may load."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import linker.web
from linker.annotation.session.session import Session
from linker.common.errors import LinkerError
from linker.web.app import Served, create_app
from linker.web.server.access import Access, new_token
from linker.web.server.listening import bind, is_loopback
from linker.web.server.security import MAX_BODY
from tests.web.conftest import Client

TOKEN = "a-token-of-some-length"
STATIC = Path(linker.web.__file__).parent / "static"


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8123", "localhost:9", "LOCALHOST", "[::1]:8123", "192.168.1.5", "127.0.0.1"]
)
def test_own_names_are_answered(client: Client, host: str) -> None:
    assert client.get("/api/about", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:8123", "127.0.0.1.evil.example", "localhost.evil.example",
        "[evil]", "", "1",
    ],
)  # fmt: skip
def test_a_name_that_somebody_else_points_here_gets_the_empty_page_and_what_to_do(
    client: Client, host: str
) -> None:
    assert client.get("/", headers={"Host": host}).status_code == 200
    for method, path in (("GET", "/api/about"), ("POST", "/api/login")):
        refused = client.request(method, path, headers={"Host": host})
        assert refused.status_code == 421
        assert refused.json()["error"].endswith("with the address of this page after --public-url")


def test_a_server_on_a_network_goes_by_its_own_names_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "Lab7")
    monkeypatch.setattr("socket.getfqdn", lambda: "lab7.uni.example")
    assert Access("0.0.0.0").names == {"localhost", "0.0.0.0", "lab7", "lab7.uni.example"}
    assert Access("127.0.0.1").names == {"localhost", "127.0.0.1"}
    assert Access("localhost").names == {"localhost"}


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Linker": ""},
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_sites_cannot_change_anything(
    client: Client, session: Session, headers: dict[str, str]
) -> None:
    body = {"annotator": "Ada", "actions": [client.action("label", "p3", "relevant")]}
    assert client.post("/api/sessions/otters/sync", json=body, headers=headers).status_code == 403
    assert session.status().labeled == 0
    own = {"Origin": "http://127.0.0.1:8123", "Sec-Fetch-Site": "same-origin"}
    assert client.post("/api/sessions/otters/sync", json=body, headers=own).status_code == 200


def test_other_sites_cannot_read_and_get_no_permission(client: Client) -> None:
    assert client.get("/api/about", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    preflight = client.options(
        "/api/rank", headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    )
    assert preflight.status_code == 403
    assert not [name for name in preflight.headers if name.startswith("access-control")]
    form = client.post(
        "/api/sessions/otters/sync", content='{"annotator": "Ada"}', headers={"Content-Type": "text/plain"}
    )
    assert form.status_code == 422


def test_large_bodies_are_refused_announced_or_not(client: Client) -> None:
    assert client.post("/api/rank", content=b"x" * (MAX_BODY + 1)).status_code == 413
    assert client.post("/api/rank", headers={"Content-Length": "-5"}, content=b"").status_code == 413

    def endless():
        yield b'{"article": "'
        for _ in range(80):
            yield b"x" * 65536
        yield b'", "source": "pasted", "posts": "x"}'

    refused = client.post("/api/rank", content=endless(), headers={"Content-Type": "application/json"})
    assert refused.status_code >= 400
    assert client.get("/api/about").status_code == 200


# The token


@pytest.fixture
def guarded(session: Session) -> Client:
    return Client(create_app(Served([session]), Access("0.0.0.0", 8123, TOKEN)))


def test_without_the_token_there_is_the_page_and_nothing_on_it(guarded: Client) -> None:
    assert guarded.get("/").status_code == 200
    for path in ("/api/about", "/api/sessions/otters", "/api/sessions/otters/posts", "/api/nothing"):
        assert guarded.get(path).status_code == 401
    assert guarded.post("/api/rank", json={}).status_code == 401
    for wrong in ("", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer ä"):
        assert (
            guarded.get("/api/about", headers={b"Authorization": wrong.encode("latin-1")}).status_code == 401
        )
    assert guarded.get("/api/about", headers={"Cookie": "linker-8123=wrong; \x7f"}).status_code == 401
    assert guarded.get("/api/about", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_signing_in_sets_a_cookie_that_scripts_and_other_sites_do_not_get(guarded: Client) -> None:
    assert guarded.post("/api/login", json={"token": "wrong"}).status_code == 401
    assert guarded.post("/api/login", json={"token": TOKEN}, headers={"X-Linker": ""}).status_code == 403
    cookie = guarded.post("/api/login", json={"token": f" {TOKEN} "}).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert guarded.get("/api/about").status_code == 200


def test_tokens_cannot_be_guessed_and_fit_into_addresses() -> None:
    made = {Access(token=new_token()).token for _ in range(3)}
    assert len(made) == 3
    assert all(token and len(token) >= 32 for token in made)
    for bad in ("", "short", "with spaces in the token", "ümlauts-in-the-token", "hash#in#the#token##"):
        with pytest.raises(LinkerError, match="--token"):
            Access(token=bad)


@pytest.mark.parametrize(("host", "loopback"), [("127.0.0.1", True), ("localhost", True), ("0.0.0.0", False)])
def test_what_is_loopback_is_seen_at_the_socket(host: str, loopback: bool) -> None:
    with bind(host, 0) as listener:
        assert is_loopback(listener) is loopback
        port = listener.getsockname()[1]
        with pytest.raises(LinkerError, match=f"--port {port}: is in use"):
            bind("127.0.0.1", port)


def test_hosts_that_are_not_this_machine() -> None:
    with pytest.raises(LinkerError, match="--host"):
        bind("203.0.113.7", 0)
    with pytest.raises(LinkerError, match="host not found"):
        bind("no such host", 0)


def test_addresses_that_can_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "lab7")
    assert Access("127.0.0.1", 8123).address == "http://127.0.0.1:8123/"
    assert Access("::1", 8123, TOKEN).address == f"http://[::1]:8123/#token={TOKEN}"
    assert Access("0.0.0.0", 8123, TOKEN).address == f"http://lab7:8123/#token={TOKEN}"


# What the page may load


def test_every_answer_forbids_foreign_scripts_and_frames(client: Client) -> None:
    for path, status in (("/", 200), ("/static/main.js", 200), ("/api/about", 200), ("/nothing", 404)):
        response = client.get(path)
        assert response.status_code == status
        policy = dict(
            part.strip().split(" ", 1) for part in response.headers["content-security-policy"].split(";")
        )
        assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert response.headers["x-content-type-options"] == "nosniff"
    assert client.get("/static/main.js").headers["content-type"].startswith("text/javascript")
    assert client.get("/api/about").headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/static/"]
)
def test_only_the_files_of_the_page_are_given(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404


def test_the_page_has_no_inline_script_or_style_and_loads_nothing_from_elsewhere() -> None:
    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            values = dict(attributes)
            assert not [name for name in values if name.startswith("on") or name == "style"], (tag, values)
            assert tag != "style"
            assert tag != "script" or (values.get("src") or "").startswith("static/")
            for name in ("src", "href"):
                assert not re.match(r"[a-z]+:|/", values.get(name) or ""), values  # under any prefix

    Reader().feed((STATIC / "index.html").read_text())


def test_scripts_put_in_text_as_text_only_and_find_all_their_modules() -> None:
    scripts = sorted(STATIC.glob("*.js"))
    assert len(scripts) > 8
    for path in scripts:
        source = path.read_text()
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", source
        )
        for module in re.findall(r'from "([^"]+)"', source):
            assert (STATIC / module).is_file()
        assert not re.search(r"""["'`]/(api|static)""", source)
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg|…)", source)
    for path in STATIC.glob("*.css"):
        assert not re.search(r"@import|url\(", path.read_text())


@pytest.mark.parametrize("url", ["https://Label.lab.example/", "https://label.lab.example:443/linker"])
def test_a_proxy_serves_the_page_under_its_own_name(session: Session, url: str) -> None:
    access = Access(token=TOKEN, public_url=url)
    client = Client(create_app(Served([session]), access))
    public = {"Host": "label.lab.example", "Origin": "https://label.lab.example"}
    for path in {access.path, "/"}:  # the proxy may remove the path
        assert client.get(f"{path}api/about", headers=public).status_code == 401
        assert client.get(f"{path}static/main.js", headers=public).status_code == 200
        for headers in (public, {"Origin": public["Origin"]}):  # or not forward the host
            login = client.post(f"{path}api/login", json={"token": TOKEN}, headers=headers)
            assert login.status_code == 200
            assert login.headers["set-cookie"].endswith(f"; Path={access.path}; SameSite=strict; Secure")
        other = {**public, "Origin": "https://other.example"}
        assert client.post(f"{path}api/login", json={"token": TOKEN}, headers=other).status_code == 403
    bare = client.get(access.path[:-1] or "/", headers=public, follow_redirects=False)
    assert bare.headers.get("location", "/") == access.path
    assert "Secure" not in client.post("/api/login", json={"token": TOKEN}).headers["set-cookie"]  # over SSH
    assert access.address == f"{url.rstrip('/')}/#token={TOKEN}"


@pytest.mark.parametrize(
    "url",
    ["label.example", "ftp://label.example", "https://", "https://a.example/api", "https://a.example/?x"],
)
def test_public_urls_are_addresses_of_pages(url: str) -> None:
    with pytest.raises(LinkerError, match="--public-url"):
        Access(public_url=url)
