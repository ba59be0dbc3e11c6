"""Fetch a web page, with limits on time, size, redirects and content type."""

from __future__ import annotations

import ssl
import zlib
from collections.abc import Iterator

import httpcore
import httpx

from linker.articles.extraction_process import read_pdf
from linker.articles.page import SAVE_IT, Page, PageError, TooLargeError, decode, looks_like_html
from linker.articles.pdf import MAGIC, is_pdf
from linker.articles.transport import Deadline, GuardedTransport
from linker.common.errors import FetchError
from linker.version import __version__

DEADLINE = 20.0
"""Seconds from the name lookup to the last byte."""
MAX_BYTES = 10 << 20
MAX_REDIRECTS = 5
USER_AGENT = f"linker/{__version__} (article-linker; fetches single pages on a reader's request)"

_HEADERS = {
    "User-Agent": USER_AGENT,
    "Accept": "text/html, application/xhtml+xml, text/plain;q=0.8, application/pdf;q=0.8",
    "Accept-Language": "*",
    "Accept-Encoding": "gzip",
}
HTML_TYPES = ("text/html", "application/xhtml+xml")
# Content types of PDFs; the content must begin like one as well.
_PDF_TYPES = ("application/pdf", "application/x-pdf", "application/octet-stream", "binary/octet-stream")
REDIRECTS = (301, 302, 303, 307, 308)


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
    clock = Deadline(deadline)
    try:
        return _fetch(url, GuardedTransport(clock, allow_private), max_bytes)
    except PageError as error:
        raise FetchError(f"{url}: {error}") from error
    except (TimeoutError, httpcore.TimeoutException) as error:
        raise FetchError(
            f"{url}: no answer within {deadline:g} seconds; try again later, or {SAVE_IT}"
        ) from error
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError, OSError) as error:
        raise FetchError(f"{url}: {broken_connection(error)}") from error
    except (httpx.InvalidURL, httpx.RemoteProtocolError, httpcore.UnsupportedProtocol, ValueError) as error:
        raise FetchError(
            f"{url}: not a valid address, or it redirects to one that is not ({error})"
        ) from error


def _fetch(url: str, transport: GuardedTransport, max_bytes: int) -> Page:
    with httpx.Client(transport=transport, trust_env=False, headers=_HEADERS) as client:
        here = httpx.URL(url)
        visited: list[httpx.URL] = []
        while True:
            _check_address(here, redirected=bool(visited))
            # Cookies are kept across redirects: some sites redirect in circles without them.
            response = client.send(client.build_request("GET", here), stream=True, follow_redirects=False)
            try:
                if response.status_code not in REDIRECTS:
                    return _page(here, response, max_bytes)
                visited.append(here)
                here = _next(here, response, visited)
            finally:
                response.close()


def _check_address(url: httpx.URL, redirected: bool) -> None:
    if url.scheme not in ("http", "https") or not url.host:
        what = f"redirects to {url}, which" if redirected else "this"
        raise PageError(f"{what} is not an http or https address")
    if url.port is not None and url.port > 65535:
        raise PageError(f"invalid address: port {url.port} does not exist")


def _next(here: httpx.URL, response: httpx.Response, visited: list[httpx.URL]) -> httpx.URL:
    if "location" not in response.headers:
        raise PageError(f"redirects (status {response.status_code}) without an address")
    target = here.join(response.headers["location"]).copy_with(fragment=None)
    if len(visited) > MAX_REDIRECTS:
        why = "in a circle" if target in visited else f"more than {MAX_REDIRECTS} times"
        raise PageError(f"redirects {why}; {SAVE_IT}")
    return target


def _page(url: httpx.URL, response: httpx.Response, max_bytes: int) -> Page:
    _check_status(response.status_code)
    header = response.headers.get("content-type", "")
    type_, charset = header.partition(";")[0].strip().lower(), response.charset_encoding
    if type_ and type_ not in (*HTML_TYPES, *_PDF_TYPES, "text/plain"):
        raise PageError(f"not a web page but {type_[:60]}")
    body = b"".join(unpacked_body(response.headers, response.iter_raw(), max_bytes))
    if is_pdf(body) if type_ in _PDF_TYPES else body.startswith(MAGIC):
        title, text = read_pdf(body)
        return Page(str(url), text, "pdf", title)
    if type_ in _PDF_TYPES:
        raise PageError(f"not a web page but {type_[:60]}")
    if not body.strip():
        raise PageError("the page is empty")
    content = decode(body, charset)
    if "\0" in content:
        raise PageError("not a web page but binary data")
    html = type_ in HTML_TYPES or looks_like_html(content)
    return Page(str(url), content, "html" if html else "text")


def _check_status(status: int) -> None:
    if 200 <= status < 300:
        return
    if status in (404, 410):
        raise PageError(f"page not found (status {status}); check the address")
    if status in (401, 402, 403, 407, 451):
        raise PageError(
            f"the site requires a login or a subscription, or blocks programs (status {status}); {SAVE_IT}"
        )
    if status == 429:
        raise PageError(f"too many requests to the site (status 429); try again later, or {SAVE_IT}")
    if status >= 500:
        raise PageError(f"the site cannot serve the page now (status {status}); try again later")
    raise PageError(f"the site answered with status {status}; {SAVE_IT}")


def unpacked_body(headers: httpx.Headers, chunks: Iterator[bytes], max_bytes: int) -> Iterator[bytes]:
    """Yield the decompressed body of a response.

    Args:
        headers: headers of the response.
        chunks: the body as transferred.
        max_bytes: maximum size, decompressed.

    Raises:
        TooLargeError: as soon as the body exceeds `max_bytes`.
        PageError: if it is damaged, incomplete or compressed otherwise than by gzip.
    """
    packing = headers.get("content-encoding", "").strip().lower()
    if packing not in ("", "identity", "gzip", "x-gzip"):
        raise PageError(f"the page is compressed as {packing[:40]!r}, which was not requested; {SAVE_IT}")
    size = 0
    length = headers.get("content-length", "")
    for chunk in chunks if packing in ("", "identity") else _unpacked(chunks):
        size += len(chunk)
        if size > max_bytes or (length.isdecimal() and int(length[:20]) > max_bytes):
            raise TooLargeError(f"the page is larger than {max_bytes / (1 << 20):g} MiB; {SAVE_IT}")
        yield chunk


def _unpacked(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield decompressed gzip in chunks of bounded size: a small chunk may contain gigabytes."""
    gzip, begun = zlib.decompressobj(wbits=31), False
    try:
        for chunk in chunks:
            while chunk:
                if gzip.eof:
                    # Another gzip member may follow; anything else is ignored, as in browsers.
                    if not chunk.startswith(b"\x1f\x8b"):
                        return
                    gzip = zlib.decompressobj(wbits=31)
                begun = True
                yield gzip.decompress(chunk, 1 << 20)
                chunk = gzip.unused_data if gzip.eof else gzip.unconsumed_tail
        yield gzip.flush()
    except zlib.error as error:
        raise PageError(f"the page is damaged (gzip: {error}); {SAVE_IT}") from error
    if begun and not gzip.eof:
        raise PageError("the transfer was incomplete; try again")


def broken_connection(error: BaseException) -> str:
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
