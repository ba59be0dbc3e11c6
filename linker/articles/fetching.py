"""Fetch a web page, with limits on time, size, redirects and content type."""

from __future__ import annotations

import httpx

from linker.articles.extraction_process import read_pdf
from linker.articles.page import SAVE_IT, Page, PageError, RequestError, looks_like_html
from linker.articles.pdf import MAGIC, is_pdf
from linker.articles.request import HTML_TYPES, MAX_BYTES, MAX_REDIRECTS, Response, request
from linker.articles.transport import Deadline
from linker.common.errors import FetchError
from linker.version import __version__

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
    try:
        return _page(_last_response(url, Deadline(deadline), allow_private, max_bytes))
    except RequestError as error:
        remedies = {"too slow": f"; try again later, or {SAVE_IT}", "too large": f"; {SAVE_IT}"}
        raise FetchError(f"{url}: {error}{remedies.get(error.kind, '')}") from error
    except PageError as error:
        raise FetchError(f"{url}: {error}") from error


def _last_response(url: str, deadline: Deadline, allow_private: bool, max_bytes: int) -> Response:
    """The response at the end of all redirects."""
    # Cookies are kept across redirects: some sites redirect in circles without them.
    cookies = httpx.Cookies()
    visited: list[str] = []
    while True:
        response = request(
            url,
            _HEADERS,
            deadline,
            cookies,
            accepts=_TYPES.__contains__,
            max_bytes=max_bytes,
            allow_private=allow_private,
        )
        if not response.redirects:
            return response
        location = response.header("location")
        if not location:
            raise PageError(f"redirects (status {response.status}) without an address")
        visited.append(str(httpx.URL(url)))
        url = response.target
        if not url:
            raise PageError(f"redirects to {location[:200]}, which is not an http or https address")
        if len(visited) > MAX_REDIRECTS:
            why = "in a circle" if url in visited else f"more than {MAX_REDIRECTS} times"
            raise PageError(f"redirects {why}; {SAVE_IT}")


def _page(response: Response) -> Page:
    if response.fault:
        raise PageError(_FAULTS[response.fault].format(response.status))
    url, body = str(httpx.URL(response.url)), response.body
    if (response.type in _PDF_TYPES and not is_pdf(body)) or response.type not in _TYPES:
        raise PageError(f"not a web page but {response.type[:60]}")
    if response.type in _PDF_TYPES or body.startswith(MAGIC):
        title, text = read_pdf(body)
        return Page(url, text, "pdf", title)
    if not body.strip():
        raise PageError("the page is empty")
    content = response.text
    if "\0" in content:
        raise PageError("not a web page but binary data")
    return Page(url, content, "html" if response.type in HTML_TYPES or looks_like_html(content) else "text")
