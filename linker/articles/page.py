"""Pages and their character encodings. Imports no HTTP client; see `fetching`."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Literal

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_XML = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)""")
_HEAD = 4096
_FALLBACK = "cp1252"


def decode(body: bytes, declared: str | None = None) -> str:
    """Decode a page; invalid bytes become U+FFFD.

    In this order: a byte order mark; UTF-8, if the bytes are valid UTF-8 (other charsets hardly ever are by chance, and
    wrong declarations are common); the declared charset (`declared` is the HTTP header's, then a meta tag's);
    Windows-1252, as in browsers.
    """
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, errors="replace")
    head = body[:_HEAD]
    tags = [match[1].decode("ascii") for pattern in (_META, _XML) if (match := pattern.search(head))]
    names = [_known(name) for name in (declared, *tags) if name]
    # Charsets whose text can be valid UTF-8 come before it; only a header can declare UTF-16.
    early = [name for name in names if name.startswith(("iso2022", "hz"))]
    early += [name for name in names[: 1 if declared else 0] if name.startswith(("utf-16", "utf-32"))]
    for name in (*early, "utf-8", *names):
        try:
            return body.decode(name)
        except (UnicodeError, LookupError):
            continue
    return body.decode(_FALLBACK, errors="replace")


def _known(name: str) -> str:
    """Return Python's name of a charset; empty, which no decoder has, if it is unknown or not a text encoding."""
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError):
        return ""
    if not getattr(info, "_is_text_encoding", True):
        return ""
    # Browsers decode declared Latin-1 and ASCII as Windows-1252.
    return _FALLBACK if info.name in ("iso8859-1", "ascii") else info.name


SAVE_IT = "open it in your browser, save it as HTML, and give the saved file instead of the address"

_LOOKS_LIKE_HTML = re.compile(
    r"(?:<\?xml[^>]*>|<!--(?:(?!-->).)*-->|\s)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)


class PageError(Exception):
    """Reason why a page cannot be read; the caller prepends its address."""


class TooLargeError(PageError):
    """The page exceeds the maximum size."""


class RefusedAddressError(PageError):
    """The host has an address that is not on the public internet."""


class HostNotFoundError(PageError):
    """The name of the host has no address."""


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched page.

    Attributes:
        url: final address.
        content: decoded content; of a PDF, its text.
        kind: type of the content.
        title: title from the metadata of a PDF; empty otherwise.
    """

    url: str
    content: str
    kind: Literal["html", "text", "pdf"]
    title: str = ""


def looks_like_html(text: str) -> bool:
    """Return whether a text begins like an HTML page."""
    return _LOOKS_LIKE_HTML.match(text[:4096]) is not None
