"""One request to one host, within the limits of the crawl."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import httpcore
import httpx

from linker.articles.crawl.options import CrawlOptions
from linker.articles.crawl.state import State
from linker.articles.fetching import HTML_TYPES, broken_connection, unpacked_body
from linker.articles.page import HostNotFoundError, PageError, RefusedAddressError, TooLargeError
from linker.articles.transport import Deadline, GuardedTransport

_ACCEPT = "text/html, application/xhtml+xml"
_YEAR = 365 * 86_400
_LARGEST_ROBOTS = 1 << 20


class RequestError(Exception):
    """A request without a usable response.

    Attributes:
        state: what the address gets.
        detail: the reason, as a clause after the address.
    """

    def __init__(self, state: State, detail: str) -> None:
        super().__init__(detail)
        self.state: State = state
        self.detail = detail


class Stopped(Exception):  # noqa: N818  (not an error)
    """The crawl is to end."""


@dataclass(frozen=True)
class Response:
    """A response.

    Attributes:
        url: the address that was asked.
        status: its HTTP status.
        headers: its headers, in order.
        raw: the body as transferred, perhaps compressed; empty for redirects and errors.
        body: the body, decompressed.
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    raw: bytes = b""
    body: bytes = b""

    def header(self, name: str) -> str:
        """Return the value of a header; empty if it is missing."""
        return next((value for key, value in self.headers if key.lower() == name), "")

    @property
    def redirects(self) -> bool:
        """Whether the response leads to another address."""
        return self.status in (301, 302, 303, 307, 308)

    def retry_after(self, now: float) -> float | None:
        """Return the time in seconds since 1970 from which on the site wants to be asked again; None: not given.

        Args:
            now: the present time, likewise.

        Returns:
            At most a year from now.
        """
        value = self.header("retry-after").strip()
        if value.isdecimal():
            return now + min(int(value[:9]), _YEAR)
        try:
            date = parsedate_to_datetime(value)
        except (ValueError, TypeError, IndexError):
            return None
        at = (date if date.tzinfo else date.replace(tzinfo=timezone.utc)).timestamp()
        return min(at, now + _YEAR)


def host_of_url(url: str) -> str:
    """Return the host of an address, in lower case."""
    return (urlsplit(url).hostname or "").rstrip(".")


class Hosts:
    """Lets one request at a time through to each host, and waits between two of them.

    Args:
        delay: minimum number of seconds between two requests.
        max_wait: longest wait in seconds for a turn.
    """

    def __init__(self, delay: float, max_wait: float) -> None:
        self._max_wait = max_wait
        self.stop = threading.Event()
        self._delay = delay
        self._wishes: dict[str, float] = {}
        self._ready: dict[str, float] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def ready(self, host: str) -> float:
        """Return the time, in seconds since 1970, from which on the host may be asked."""
        return self._ready.get(host, 0.0)

    def wish(self, host: str, delay: float) -> None:
        """Respect the delay in seconds that a host asks for."""
        self._wishes[host] = max(delay, self._wishes.get(host, 0.0))

    def pause(self, host: str, until: float) -> None:
        """Ask a host nothing before a time."""
        self._ready[host] = max(until, self.ready(host))

    @contextmanager
    def turn(self, host: str) -> Iterator[None]:
        """Wait for the turn of a request to this host.

        Raises:
            Stopped: if the crawl ends meanwhile, or the wait is too long.
        """
        with self._lock:
            lock = self._locks.setdefault(host, threading.Lock())
        with lock:
            while (wait := self.ready(host) - time.time()) > 0:
                if wait > self._max_wait or self.stop.wait(min(wait, 1.0)):
                    raise Stopped
            if self.stop.is_set():
                raise Stopped
            try:
                yield
            finally:
                self.pause(host, time.time() + max(self._delay, self._wishes.get(host, 0.0)))


def request(
    url: str, hosts: Hosts, options: CrawlOptions, cookies: httpx.Cookies, robots: bool = False
) -> Response:
    """Ask for one address, without following redirects.

    Args:
        url: the address.
        hosts: turns of the hosts.
        options: limits.
        cookies: cookies to send; receives those of the response.
        robots: whether it is a robots.txt, which is read whatever its content type, and at most 1 MiB large.

    Raises:
        RequestError: if there is no usable response.
        Stopped: if the crawl ends before the request.
    """
    with hosts.turn(host_of_url(url)):
        clock = Deadline(options.deadline)
        try:
            return _send(url, GuardedTransport(clock, allow_private=False), options, cookies, robots)
        except RefusedAddressError as error:
            raise RequestError("refused address", str(error)) from error
        except HostNotFoundError as error:
            raise RequestError("host not found", str(error)) from error
        except TooLargeError as error:
            raise RequestError("too large", f"larger than {options.max_bytes / (1 << 20):g} MiB") from error
        except PageError as error:
            raise RequestError("no connection", str(error)) from error
        except (TimeoutError, httpcore.TimeoutException) as error:
            raise RequestError("too slow", f"no answer within {options.deadline:g} seconds") from error
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError, OSError) as error:
            raise RequestError("no connection", broken_connection(error)) from error
        except (httpx.InvalidURL, httpx.HTTPError, httpcore.UnsupportedProtocol, ValueError) as error:
            raise RequestError("not an address", str(error)) from error


def _send(
    url: str, transport: GuardedTransport, options: CrawlOptions, cookies: httpx.Cookies, robots: bool
) -> Response:
    headers = {"User-Agent": options.user_agent, "Accept": "text/plain" if robots else _ACCEPT}
    headers |= {"Accept-Language": "*", "Accept-Encoding": "gzip"}
    with httpx.Client(transport=transport, trust_env=False, headers=headers, cookies=cookies) as client:
        answer = client.send(client.build_request("GET", url), stream=True, follow_redirects=False)
        try:
            cookies.update(client.cookies)
            response = Response(url, answer.status_code, tuple(answer.headers.multi_items()))
            if not answer.is_success or not (robots or _may_be_html(response)):
                return response
            raw: list[bytes] = []
            most = _LARGEST_ROBOTS if robots else options.max_bytes
            body = b"".join(unpacked_body(answer.headers, _kept(answer.iter_raw(), raw), most))
            return Response(url, response.status, response.headers, b"".join(raw), body)
        finally:
            answer.close()


def _kept(chunks: Iterator[bytes], into: list[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        into.append(chunk)
        yield chunk


def _may_be_html(response: Response) -> bool:
    kind = response.header("content-type").partition(";")[0].strip().lower()
    return not kind or kind in HTML_TYPES


def date_of(seconds: float) -> str:
    """Return a time in seconds since 1970 as an ISO date with its time zone."""
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="seconds")
