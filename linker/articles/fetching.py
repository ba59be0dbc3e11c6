"""Fetch a web page, with limits on time, size, redirects and content type."""

from __future__ import annotations

import httpx

from linker.articles.page import HTML_TYPES, SAVE_IT, Page, PageError, RequestError
from linker.articles.request import MAX_BYTES, Response, follow, request
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
