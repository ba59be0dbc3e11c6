"""Listening, and ending."""

from __future__ import annotations

import errno
import ipaddress
import secrets
import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from linker.common.errors import LinkerError
from linker.web.security import is_ip

SHORTEST_TOKEN = 16
_LAST_SECONDS = 3


def bind(host: str, port: int) -> socket.socket:
    """A socket that waits for connections.

    Args:
        host: a name or IP address of this machine.
        port: 0: any free one.

    Raises:
        LinkerError: the port is taken, or the host is not this machine.
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
            raise LinkerError(f"--port {port}: is not for everybody; give one above 1023") from error
        raise LinkerError(
            f"--host {host} --port {port}: cannot listen there ({error.strerror}); give an address of this machine"
        ) from error
    return listener


def is_loopback(listener: socket.socket) -> bool:
    """Can nobody but this machine reach the socket?"""
    return ipaddress.ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback


def validate_token(given: str | None, loopback: bool) -> str | None:
    """The token to use: the one given, or a new one where others can reach the server.

    Raises:
        LinkerError: it could be guessed, or stands in no address.
    """
    if given is None:
        return None if loopback else secrets.token_urlsafe(24)
    if len(given) < SHORTEST_TOKEN or not (
        given.isascii() and given.replace("-", "").replace("_", "").isalnum()
    ):
        raise LinkerError(
            f"--token: is {SHORTEST_TOKEN} or more letters, digits, - and _; leave it out and one is made"
        )
    return given


def address(host: str, port: int, token: str | None) -> str:
    """Where to find the page. What stands behind # is never sent to a server."""
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
    shown = f"[{host}]" if is_ip(host) and ":" in host else host
    return f"http://{shown}:{port}/" + (f"#token={token}" if token else "")


def make_server(app: FastAPI) -> uvicorn.Server:
    """A server that says nothing but warnings; when it ends, what is under way has three seconds."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_LAST_SECONDS,
        lifespan="off",
        ws="none",
    )
    return uvicorn.Server(config)


def serve(app: FastAPI, listener: socket.socket, started: Callable[[], None] = lambda: None) -> None:
    """Answer until Ctrl-C or a SIGTERM."""
    server = make_server(app)
    started()
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:  # which uvicorn passes on when everything has ended
        pass
    finally:
        listener.close()
