"""Security middleware: allowed hosts, cross-site requests, the access token, the size of requests."""

from __future__ import annotations

import hmac
import ipaddress
import re
import socket
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from linker.web.visitors import OWNER, Visitor

#: Maximum size of a request body in bytes; pasted articles and posts are the longest.
MAX_BODY = 4 << 20
#: Required header of requests that change something; other sites cannot send it without permission.
HEADER = "X-Linker"
LOGIN = "/api/login"
#: Maximum size in bytes of an uploaded file; it is written to the disk as it arrives.
MAX_UPLOAD = 1 << 30
#: Paths of uploads.
UPLOAD = re.compile(r"/api/projects/[^/]+/files|/api/sessions/[^/]+/import")

_SAFE = ("GET", "HEAD")
_HEADERS = {
    # Only files of this server are loaded or run, and no other site may frame the page.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class SecurityMiddleware:
    """ASGI middleware that rejects unauthorized requests.

    - `Host` must be an IP address, `localhost`, or a name of this server, which prevents DNS rebinding.
    - Requests from other sites are rejected by `Origin` and `Sec-Fetch-Site`, if the browser sends them; requests that
      change something need a header that forms cannot send.
    - With a token, `/api` requires it in a cookie or as `Authorization: Bearer …`. The page contains no data and is
      open, so that it can ask for the token.
    - A visitor with the token of one person may use what `Visitor.may` lists and nothing else.
    - Bodies larger than `MAX_BODY` (uploads: `MAX_UPLOAD`) are rejected, whether or not their length was announced.

    Args:
        app: the protected app.
        names: host names of this server.
        token: access token; None: everybody who reaches the server may use it.
        cookie: name of the cookie.
        person_of: token → the person whose it is; None: nobody's.
    """

    def __init__(
        self,
        app: ASGIApp,
        names: frozenset[str],
        token: str | None,
        cookie: str,
        person_of: Callable[[str], Visitor | None] = lambda given: None,
    ) -> None:
        self._app = app
        self._names = names | {"localhost"}
        self._token = token
        self._cookie = cookie
        self._person_of = person_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the app, or reject it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        sender = _with_headers(send, never_kept=scope["path"].startswith("/api"))
        if (refusal := self._refusal(scope)) is not None:
            await refusal(scope, receive, sender)
            return
        await self._app(scope, _limited(receive, _limit(scope)), sender)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        if not self._is_own(headers.get("host", "")):
            return PlainTextResponse(
                "unknown host name; use an address that the server was started with, or start it with --public-url",
                421,
            )
        api = scope["path"].startswith("/api")
        if (api or scope["method"] not in _SAFE) and not _same_origin(headers, scope):
            return PlainTextResponse("requests from other sites are refused", 403)
        if scope["method"] not in _SAFE and not headers.get(HEADER):
            return PlainTextResponse(f"the header {HEADER} is missing", 403)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > _limit(scope):
            return PlainTextResponse(f"more than {_limit(scope) >> 20:,} MiB", 413)
        if api and scope["path"] != LOGIN:
            visitor = self._visitor(headers)
            if visitor is None:
                return PlainTextResponse("the token is missing or wrong", 401)
            if not visitor.may(scope["method"], scope["path"]):
                return PlainTextResponse("only the owner of this server may do that", 403)
            scope.setdefault("state", {})["visitor"] = visitor
        return None

    def _is_own(self, host: str) -> bool:
        name = host_name(host)
        return name in self._names or is_ip(name)

    def _visitor(self, headers: Headers) -> Visitor | None:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            given = _cookie(headers.get("cookie", ""), self._cookie)
        if given and (person := self._person_of(given)) is not None:
            return person
        return OWNER if self._token is None or tokens_match(given, self._token) else None


def tokens_match(given: str, token: str) -> bool:
    """Compare tokens in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())


def host_name(host: str) -> str:
    """Return the name in a `Host` header, without port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower().removesuffix(".")


def is_ip(name: str) -> bool:
    """Return whether a name is an IP address, which DNS cannot rebind."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def allowed_hosts(host: str) -> frozenset[str]:
    """Return the `Host` names that a server on this host accepts."""
    names = {host.lower()}
    if not ipaddress.ip_address(host).is_loopback if is_ip(host) else host != "localhost":
        names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    return frozenset(names)


def _same_origin(headers: Headers, scope: Scope) -> bool:
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    # A proxy may have terminated TLS, so only host and port are compared.
    return origin is None or origin.partition("://")[2] == headers.get("host")


def _cookie(header: str, name: str) -> str:
    try:
        morsel = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


def _with_headers(send: Send, never_kept: bool) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(_HEADERS)
            headers["Cache-Control"] = "no-store" if never_kept else "no-cache"
        await send(message)

    return sending


def _limit(scope: Scope) -> int:
    return MAX_UPLOAD if UPLOAD.fullmatch(scope["path"]) else MAX_BODY


def _limited(receive: Receive, limit: int) -> Receive:
    size = 0

    async def receiving() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        # Too long without announcing it: to the app, the client has disconnected.
        return {"type": "http.disconnect"} if size > limit else message

    return receiving
