"""Fetch web pages: requests with limits on time, size and content type, redirects, and what goes wrong."""

import ssl
import zlib
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from gzip import GzipFile
from io import BytesIO
from urllib.parse import urljoin

import httpcore
import httpx

from linker.articles.page import (
    HTML_TYPES,
    SAVE_IT,
    Page,
    PageError,
    RequestError,
    RequestFault,
    charset_of,
    decode,
)
from linker.articles.transport import Deadline, send
from linker.common.errors import FetchError
from linker.version import __version__

MAX_BYTES = 10 << 20
MAX_REDIRECTS = 5
_ANY_PAGE = {"Accept-Language": "*", "Accept-Encoding": "gzip"}
_YEAR = 365 * 86_400
DEADLINE = 20.0
"""Seconds from the name lookup to the last byte."""
USER_AGENT = f"linker/{__version__} (article-linker; fetches single pages on a reader's request)"

_HEADERS = {
    "User-Agent": USER_AGENT,
    "Accept": "text/html, application/xhtml+xml, text/plain;q=0.8, application/pdf;q=0.8",
}
# Content types of PDFs; the content must begin like one as well.
_PDF_TYPES = ("application/pdf", "application/x-pdf", "application/octet-stream", "binary/octet-stream")
_TYPES = ("", "text/plain", *HTML_TYPES, *_PDF_TYPES)
_FAULTS = {
    "not found": "page not found (status {}); check the address",
    "login or blocked": "the site requires a login or a subscription, or blocks programs (status {}); "
    + SAVE_IT,
    "rate limited": "too many requests to the site (status {}); try again later, or " + SAVE_IT,
    "server error": "the site cannot serve the page now (status {}); try again later",
    "other status": "the site answered with status {}; " + SAVE_IT,
}

_REMEDIES = {
    "too slow": f"; try again later, or {SAVE_IT}",
    "too large": f"; {SAVE_IT}",
    "redirect loop": f"; {SAVE_IT}",
}


def fetch(
    url: str, *, allow_private: bool = False, deadline: float = DEADLINE, max_bytes: int = MAX_BYTES
) -> Page:
    """Fetch a page.

    Args:
        url: an http or https address.
        allow_private: allow addresses of this machine and private networks. Only for addresses that the user
            typed, never for untrusted ones.
        deadline: seconds for the whole fetch.
        max_bytes: maximum size of the page, decompressed.

    Raises:
        FetchError: if the page cannot be fetched, with the address, the reason and a remedy. Certificates are always
            checked.
    """
    # Cookies are kept across redirects: some sites redirect in circles without them.
    cookies, until = httpx.Cookies(), Deadline(deadline)

    def ask(url: str) -> Response:
        return request(
            url, _HEADERS, until, cookies, kinds=_TYPES, max_bytes=max_bytes, allow_private=allow_private
        )

    try:
        response = follow(url, ask)
        if response.fault:
            raise PageError(_FAULTS[response.fault].format(response.status))
        address, type_ = str(httpx.URL(response.url)), response.type
        page = Page(url, url, response.body, address, type_, response.charset)
        if type_ not in _TYPES or (type_ in _PDF_TYPES and page.kind != "pdf"):
            raise PageError(f"not a web page but {type_[:60]}")
        if not page.body.strip():
            raise PageError("the page is empty")
        if page.kind != "pdf" and "\0" in page.content:
            raise PageError("not a web page but binary data")
        return page
    except RequestError as error:
        raise FetchError(f"{url}: {error}{_REMEDIES.get(error.kind, '')}") from error
    except PageError as error:
        raise FetchError(f"{url}: {error}") from error


@dataclass(frozen=True)
class Response:
    """A response.

    Attributes:
        url: the address that was asked.
        status: its HTTP status.
        headers: its headers, in order.
        body: the body, decompressed; empty for redirects, errors and unwanted content types.
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""

    def header(self, name: str) -> str:
        """Return the value of a header, by its name in lower case; empty if it is missing."""
        return next((value.strip() for key, value in self.headers if key.lower() == name), "")

    @property
    def type(self) -> str:
        """The content type without parameters, in lower case; empty if it is missing."""
        return self.header("content-type").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str | None:
        """The encoding that the header `Content-Type` names, if it does."""
        return charset_of(self.header("content-type"))

    @property
    def text(self) -> str:
        """The body as text, in the encoding that header or page declare."""
        return decode(self.body, self.charset)

    @property
    def redirects(self) -> bool:
        """Whether the response leads to another address."""
        return self.status in (301, 302, 303, 307, 308)

    @property
    def fault(self) -> RequestFault | None:
        """What a status other than success and redirects means; None: success."""
        if 200 <= self.status < 300:
            return None
        if self.status in (404, 410):
            return "not found"
        if self.status in (401, 402, 403, 407, 451):
            return "login or blocked"
        if self.status == 429:
            return "rate limited"
        return "server error" if self.status >= 500 else "other status"

    @property
    def target(self) -> str:
        """The address that it redirects to, without fragment; empty if there is none on the web."""
        try:
            url = httpx.URL(urljoin(self.url, self.header("location")).partition("#")[0])
        except (ValueError, httpx.InvalidURL):
            return ""
        return str(url) if self.header("location") and url.scheme in ("http", "https") and url.host else ""

    def retry_after(self, now: float) -> float | None:
        """Return the time in seconds since 1970 from which on the site wants to be asked again; None: not given.

        Args:
            now: the present time, likewise; the result is at most a year later.
        """
        value = self.header("retry-after")
        try:
            at = now + int(value) if value.isdecimal() else parsedate_to_datetime(value).timestamp()
        except (ValueError, TypeError, OverflowError):
            return None
        return min(at, now + _YEAR)


def follow(url: str, ask: Callable[[str], Response]) -> Response:
    """Return the response at the end of all redirects.

    Args:
        url: an http or https address.
        ask: asks for one address.

    Raises:
        RequestError: if a redirect leads nowhere, or there are more than `MAX_REDIRECTS`.
    """
    visited: list[str] = []
    while (response := ask(url)).redirects:
        location = response.header("location")
        if not location:
            raise RequestError("other status", f"redirects (status {response.status}) without an address")
        visited.append(str(httpx.URL(url)))
        url = response.target
        if not url:
            reason = f"redirects to {location[:200]}, which is not an http or https address"
            raise RequestError("other status", reason)
        if len(visited) > MAX_REDIRECTS:
            times = f"more than {MAX_REDIRECTS} times"
            raise RequestError("redirect loop", "redirects " + ("in a circle" if url in visited else times))
    return response


def request(
    url: str,
    headers: Mapping[str, str],
    deadline: Deadline,
    cookies: httpx.Cookies,
    *,
    kinds: Container[str] | None,
    max_bytes: int = MAX_BYTES,
    allow_private: bool = False,
) -> Response:
    """Ask for one address, without following redirects.

    Args:
        url: an http or https address.
        headers: further headers.
        deadline: limit of the whole request.
        cookies: cookies to send; receives those of the response.
        kinds: content types whose bodies are read, an empty one if none is declared; None: any.
        max_bytes: maximum size of the body, decompressed.
        allow_private: allow addresses of this machine and private networks.

    Raises:
        RequestError: if there is no response in time, or its body is too large or cannot be unpacked.
    """
    try:
        target = httpx.URL(url)
        if target.scheme not in ("http", "https") or not target.host:
            raise RequestError("not an address", "not an http or https address")
        if target.port is not None and target.port > 65535:
            raise RequestError("not an address", f"invalid address: port {target.port} does not exist")
        question = httpx.Request("GET", target, headers={**_ANY_PAGE, **headers}, cookies=cookies)
        with send(question, deadline, allow_private) as answer:
            # Decoded and sorted by httpx, for which the body is empty.
            head = httpx.Response(answer.status, headers=answer.headers, request=question)
            cookies.extract_cookies(head)
            response = Response(url, answer.status, tuple(head.headers.multi_items()))
            if response.fault or (kinds is not None and response.type not in kinds):
                return response
            return replace(response, body=_body(response, answer.iter_stream(), max_bytes))
    except (TimeoutError, httpcore.TimeoutException) as error:
        raise RequestError("too slow", f"no answer within {deadline.seconds:g} seconds") from error
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError, OSError) as error:
        raise RequestError("no connection", _broken_connection(error)) from error
    except (httpx.InvalidURL, httpcore.UnsupportedProtocol, ValueError) as error:
        raise RequestError("not an address", f"not a valid address ({error})") from error


def _body(response: Response, chunks: Iterable[bytes], max_bytes: int) -> bytes:
    """Read the body of a response, and return it decompressed.

    Raises:
        RequestError: as soon as it exceeds `max_bytes`; if it is damaged, incomplete, or compressed not by gzip.
    """
    packing = response.header("content-encoding").lower()
    if packing not in ("", "identity", "gzip", "x-gzip"):
        raise RequestError(
            "no connection", f"the page is compressed as {packing[:40]!r}, which was not requested; {SAVE_IT}"
        )
    too_large = RequestError("too large", f"the page is larger than {max_bytes / (1 << 20):g} MiB")
    length = response.header("content-length")
    if length.isdecimal() and int(length[:20]) > max_bytes:
        raise too_large
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > max_bytes:
            raise too_large
    if not body or "gzip" not in packing:
        return bytes(body)
    try:
        # Of bounded size: a small body may contain gigabytes.
        unpacked = GzipFile(fileobj=BytesIO(body)).read(max_bytes + 1)
    except EOFError as error:
        raise RequestError("no connection", "the transfer was incomplete; try again") from error
    except (OSError, zlib.error) as error:
        raise RequestError("no connection", f"the page is damaged (gzip: {error}); {SAVE_IT}") from error
    if len(unpacked) > max_bytes:
        raise too_large
    return unpacked


def _broken_connection(error: BaseException) -> str:
    """Return what an error of a connection means, as a clause after the address."""
    root = error
    while cause := root.__cause__ or root.__context__:
        root = cause
    if isinstance(root, ssl.SSLError):
        reason = getattr(root, "verify_message", "") or root.reason or str(root)
        return f"no secure connection: the site's certificate or encryption is invalid ({reason}); {SAVE_IT}"
    if isinstance(error, httpcore.ConnectError):
        return f"no connection ({getattr(root, 'strerror', None) or error}); check the address"
    return f"the connection broke off ({error}); try again"
