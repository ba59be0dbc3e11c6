"""The socket of the server, and uvicorn on it."""

import asyncio
import errno
import ipaddress
import logging
import socket
import sys
from collections.abc import Callable
from contextlib import suppress

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from linker.common.errors import LinkerError

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
