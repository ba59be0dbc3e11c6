"""HTTP connections with a deadline that can be restricted to the public internet."""

import ipaddress
import queue
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from linker.articles.page import RequestError

_ONE_ADDRESS = 6.0
"""Seconds before the next address of a host is tried (a broken IPv6 route must not use up the deadline)."""

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Missing in some Python versions: local NAT64 (RFC 8215), deprecated 6to4 relays (RFC 7526), and protocol
# assignments (RFC 6890), where one cloud provider serves credentials.
_NEVER = (
    ipaddress.IPv6Network("64:ff9b:1::/48"),
    ipaddress.IPv4Network("192.88.99.0/24"),
    ipaddress.IPv4Network("192.0.0.0/24"),
)


class Deadline:
    """A point in time by which the work must be done."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self, most: float = float("inf")) -> float:
        """Return the remaining seconds, at most `most`.

        Raises:
            TimeoutError: if there are none.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return min(left, most)


def is_public(address: str) -> bool:
    """Return whether an IP address is on the public internet, in any notation or tunnel."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo or (None, None))[1]
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
        if ip.is_site_local:
            return False
    if any(ip in network for network in _NEVER):
        return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


@contextmanager
def send(question: httpx.Request, deadline: Deadline, allow_private: bool) -> Iterator[httpcore.Response]:
    """Send a request over a new connection; the body is read while `iter_stream` runs.

    Args:
        question: the request.
        deadline: limit for name lookup, handshakes, reads and writes.
        allow_private: also connect to loopback, private and link-local addresses, and through the proxy of the
            environment. If false, hosts with such an address are refused, and the connection goes to the address
            that was checked: a second answer of the name server has no effect (DNS rebinding).

    Raises:
        RequestError: if the host has no address, or a private one.
    """
    url = question.url
    proxy = None
    if allow_private and not _is_loopback(url.host) and not proxy_bypass(url.host):
        proxy = getproxies().get(url.scheme)
    backend = _GuardedBackend(deadline, allow_private)
    options: dict[str, Any] = {"ssl_context": _ssl_context(), "network_backend": backend}
    pool = httpcore.HTTPProxy(proxy, **options) if proxy else httpcore.ConnectionPool(**options)
    target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
    with pool, pool.stream(question.method, target, headers=question.headers.raw) as response:
        yield response


class _GuardedBackend(httpcore.NetworkBackend):
    """Network backend that resolves, checks and connects; the deadline replaces the timeouts of httpcore."""

    def __init__(self, deadline: Deadline, allow_private: bool) -> None:
        self._deadline = deadline
        self._allow_private = allow_private
        self._backend = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        addresses = _resolve(host, port, self._deadline)
        private = [address for address in addresses if not is_public(address)]
        if private and not self._allow_private:
            raise RequestError(
                "refused address", f"{host} is {private[0]}, not an address of the public internet: refused"
            )
        for number, address in enumerate(addresses, 1):
            is_last = number == len(addresses)
            timeout = self._deadline.left(float("inf") if is_last else _ONE_ADDRESS)
            try:
                stream = self._backend.connect_tcp(address, port, timeout, socket_options=socket_options)
                return _GuardedStream(stream, self._deadline)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if is_last:
                    raise
        raise AssertionError  # a host that is found has an address


class _GuardedStream(httpcore.NetworkStream):
    """A stream whose every operation ends by the deadline."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, self._deadline.left())
        return _GuardedStream(stream, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


@cache
def _ssl_context() -> ssl.SSLContext:
    """The certificates that are trusted; reading them takes longer than a request on loopback."""
    return httpx.create_ssl_context()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _resolve(host: str, port: int, deadline: Deadline) -> list[str]:
    """The IP addresses of a host. The system's lookup knows no timeout, so it is waited for in a thread."""
    answers: queue.SimpleQueue[list[str] | Exception] = queue.SimpleQueue()

    def ask() -> None:
        try:
            entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answers.put(list(dict.fromkeys(str(entry[4][0]) for entry in entries)))
        except (OSError, UnicodeError) as error:
            answers.put(error)

    threading.Thread(target=ask, daemon=True).start()
    try:
        answer = answers.get(timeout=deadline.left())
    except queue.Empty:
        raise TimeoutError from None
    if isinstance(answer, Exception) or not answer:
        raise RequestError(
            "host not found", f"host {host} not found; check the address and your connection to the internet"
        )
    return answer
