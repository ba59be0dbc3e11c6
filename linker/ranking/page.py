"""A page that may hold an article. Light: what fetches pages is in `fetching`, and needs an HTTP client."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

SAVE_IT = "open it in your browser, save it as HTML, and give the saved file instead of the address"

_LOOKS_LIKE_HTML = re.compile(
    r"(?:<\?xml[^>]*>|<!--(?:(?!-->).)*-->|\s)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)


class PageError(Exception):
    """The reason why a page cannot be had; the caller puts its address in front."""


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched page.

    Attributes:
        url: its final address.
        content: its characters; of a PDF, its text.
        kind: what the characters are.
        title: that of a PDF, from its metadata; empty otherwise.
    """

    url: str
    content: str
    kind: Literal["html", "text", "pdf"]
    title: str = ""


def looks_like_html(text: str) -> bool:
    """Does a text begin as an HTML page does?"""
    return _LOOKS_LIKE_HTML.match(text[:4096]) is not None
