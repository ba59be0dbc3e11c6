"""Security middleware: allowed hosts, cross-site requests, the access token, the size of requests."""

import re
from urllib.parse import unquote

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from linker.web.server.access import Access, is_ip

#: Maximum size of a request body in bytes; pasted articles and posts are the longest.
MAX_BODY = 4 << 20
#: Maximum size in bytes of an uploaded file; it is written to the disk as it arrives.
MAX_UPLOAD = 1 << 30
LOGIN = "/api/login"

#: Required header of requests that change something; other sites cannot send it without permission.
_HEADER = "X-Linker"
_UPLOADS = re.compile(r"/api/(projects|uploads)/[^/]+/files|/api/sessions/[^/]+/import|/api/articles")
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

    - For `/api`, `Host` must be an IP address, `localhost`, or a name of this server, which prevents DNS rebinding.
    - Requests from other sites are rejected by `Origin` and `Sec-Fetch-Site`, if the browser sends them; requests that
      change something need a header that forms cannot send.
    - The path of the public address is removed, where the proxy has left it.
    - With a token, `/api` requires it in a cookie or as `Authorization: Bearer …`. The page contains no data and is
      open, so that it can ask for the token.
    - A visitor with the token of one person may use what `Visitor.may` lists and nothing else.
    - Bodies larger than `MAX_BODY` (uploads: `MAX_UPLOAD`) are rejected, whether or not their length was announced.

    Args:
        app: the protected app.
        access: host names and tokens of the server.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access
        self._names = access.names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the app, or reject it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        prefix = unquote(self._access.path)
        if scope["path"] + "/" == prefix != "/":
            await RedirectResponse(prefix)(scope, receive, send)
            return
        if scope["path"].startswith(prefix):
            scope["path"] = scope["path"].removeprefix(prefix[:-1])
        limit = MAX_UPLOAD if _UPLOADS.fullmatch(scope["path"]) else MAX_BODY
        size = 0

        async def receive_within() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            # Too long without announcing it: to the app, the client has disconnected.
            return {"type": "http.disconnect"} if size > limit else message

        async def send_secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers["Cache-Control"] = "no-store" if scope["path"].startswith("/api") else "no-cache"
            await send(message)

        if (refusal := self._refusal(scope, limit)) is not None:
            message, status = refusal
            await JSONResponse({"error": message}, status)(scope, receive, send_secured)
        else:
            await self._app(scope, receive_within, send_secured)

    def _refusal(self, scope: Scope, limit: int) -> tuple[str, int] | None:
        headers, path, method = Headers(scope=scope), scope["path"], scope["method"]
        api, safe = path.startswith("/api"), method in _SAFE
        name = _host_name(headers.get("host", ""))
        if api and name not in self._names and not is_ip(name):
            return (
                f"unknown host name {name[:100]!r}; start the server with the address of this page after --public-url",
                421,
            )
        if (api or not safe) and not _same_origin(headers, self._access.origin):
            return "requests from other sites are refused", 403
        if not safe and not headers.get(_HEADER):
            return f"the header {_HEADER} is missing", 403
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > limit:
            return f"more than {limit >> 20:,} MiB", 413
        if api and path != LOGIN:
            scheme, _, token = headers.get("authorization", "").partition(" ")
            if scheme.lower() != "bearer":
                token = cookie_parser(headers.get("cookie", "")).get(self._access.cookie, "")
            visitor = self._access.visitor(token)
            if visitor is None:
                return "the token is missing or wrong", 401
            if not visitor.may(method, path):
                return "only the owner of this server may do that", 403
            scope.setdefault("state", {})["visitor"] = visitor
        return None


def _host_name(host: str) -> str:
    """Return the name in a `Host` header, without port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower().removesuffix(".")


def _same_origin(headers: Headers, public: str) -> bool:
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    # A proxy may have terminated TLS, so only host and port are compared, or have sent another host name.
    return origin in (None, public or None) or origin.partition("://")[2] == headers.get("host")
