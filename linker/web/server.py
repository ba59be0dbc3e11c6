"""Bind the socket and run uvicorn."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import secrets
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from linker.common.errors import LinkerError
from linker.web.security import is_ip

SHORTEST_TOKEN = 16
_LAST_SECONDS = 1
_SWITCH_SECONDS = 0.0005
_SILENT_SECONDS = 60.0


def bind(host: str, port: int) -> socket.socket:
    """Open a socket that listens for connections.

    Args:
        host: a name or IP address of this machine.
        port: port number; 0 chooses a free one.

    Returns:
        The listening socket.

    Raises:
        LinkerError: if the port is in use or not permitted, or the host is not this machine.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise LinkerError(f"--host {host}: host not found; give an address of this machine") from error
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise LinkerError(f"--port {port}: is in use; stop what uses it, or give another") from error
        if error.errno == errno.EACCES:
            raise LinkerError(f"--port {port}: not permitted; give one above 1023") from error
        raise LinkerError(
            f"--host {host} --port {port}: cannot listen there ({error.strerror}); give an address of this machine"
        ) from error
    return listener


def is_loopback(listener: socket.socket) -> bool:
    """Return whether only this machine can reach the socket."""
    return ipaddress.ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback


def validate_token(given: str | None, loopback: bool) -> str | None:
    """Return the token to use: the given one, or a new one if other machines can reach the server.

    Args:
        given: the token of `--token`, if any.
        loopback: whether only this machine can reach the server.

    Raises:
        LinkerError: if the token is short enough to be guessed, or cannot be part of an address.
    """
    if given is None:
        return None if loopback else secrets.token_urlsafe(24)
    if len(given) < SHORTEST_TOKEN or not (
        given.isascii() and given.replace("-", "").replace("_", "").isalnum()
    ):
        raise LinkerError(
            f"--token: needs {SHORTEST_TOKEN} or more letters, digits, - and _; leave it out to get a new one"
        )
    return given


def public_host(url: str) -> str:
    """Return the host name of the address at which a proxy serves the page.

    Raises:
        LinkerError: if it is not the address of a host.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise LinkerError(f"--public-url {url}: not an address; give one such as https://label.example")
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise LinkerError(f"--public-url {url}: has a path; serve the page at the root of a host name")
    return parts.hostname.lower()


def address(host: str, port: int, token: str | None, public_url: str | None = None) -> str:
    """Return the address of the page, with the token after `#`, which browsers never send to a server."""
    if public_url is not None:
        return f"{public_url.rstrip('/')}/" + (f"#token={token}" if token else "")
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
    shown = f"[{host}]" if is_ip(host) and ":" in host else host
    return f"http://{shown}:{port}/" + (f"#token={token}" if token else "")


class _Protocol(H11Protocol):
    """HTTP/1.1 that closes a connection whose request is not complete and does not continue for a minute.

    uvicorn waits for ever, and a notebook that falls asleep or a guest of a network leaves such connections.
    """

    _silence: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._wait(False)

    def _wait(self, opened: bool = True) -> None:
        if self._silence is not None:
            self._silence.cancel()
        if opened and self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._silence = self.loop.call_later(_SILENT_SECONDS, self.transport.abort)


class _Server(uvicorn.Server):
    """A server that ends open requests without a message about each."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        await super().shutdown(sockets)


def make_server(app: FastAPI) -> uvicorn.Server:
    """Return a server that logs only errors and ends open requests within three seconds."""
    config = uvicorn.Config(
        app,
        http=_Protocol,
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_LAST_SECONDS,
        lifespan="off",
        ws="none",
    )
    return _Server(config)


def serve(app: FastAPI, listener: socket.socket, started: Callable[[], None] = lambda: None) -> None:
    """Serve until Ctrl-C or SIGTERM; `started` is called just before."""
    server = make_server(app)
    # Queues that are computed hold the interpreter in turns of 5 ms otherwise, and a label needs it many times.
    sys.setswitchinterval(_SWITCH_SECONDS)
    started()
    try:
        # uvicorn raises it again after shutting down.
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
    finally:
        listener.close()
