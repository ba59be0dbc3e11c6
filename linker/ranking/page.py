"""A page that may hold an article. Light: what fetches pages is in `fetching`, and needs an HTTP client."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

SAVE_IT = "open it in your browser, save it as HTML, and give the saved file instead of the address"
PDF = "is a PDF; copy the article's text into a .txt file and give that"

_LOOKS_LIKE_HTML = re.compile(
    r"(?:<\?xml[^>]*>|<!--(?:(?!-->).)*-->|\s)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched page: its final address, its characters, and whether they are HTML or plain text."""

    url: str
    content: str
    kind: Literal["html", "text"]


def looks_like_html(text: str) -> bool:
    """Does a text begin as an HTML page does?"""
    return _LOOKS_LIKE_HTML.match(text[:4096]) is not None
