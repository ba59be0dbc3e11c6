"""Pages: their encodings and kinds, and reasons why one cannot be read. Imports no HTTP client; see `fetching`."""

import codecs
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import webencodings

from linker.articles.html.story_lists import stories_of_feed
from linker.data.files.encodings import encoding_of

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_META = re.compile(rb"<meta\b[^>]{0,300}>", re.IGNORECASE)
_CONTENT = re.compile(rb"""\bcontent\s*=\s*(?:"[^"]*"|'[^']*')""", re.IGNORECASE)
_CHARSET = re.compile(rb"""\bcharset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_XML = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)""")
_HEAD = 4096
HTML_TYPES = ("text/html", "application/xhtml+xml")
JSON_TYPE = "application/json"
# Readers of PDFs accept up to 1,024 bytes before the signature.
_PDF, _PDF_HEAD = b"%PDF-", 1024
# Python's decoders of these lack characters that browsers read.
_LARGER = {"gbk": "gb18030", "euc_jp": "euc_jis_2004"}


def decode(body: bytes, declared: str | None = None) -> str:
    """Decode a page; invalid bytes become U+FFFD.

    In this order: a byte order mark; UTF-8, if the page has more characters in valid UTF-8 than broken ones (other
    encodings hardly ever do by chance, and wrong declarations are common); the declared encoding (`declared` is the
    HTTP header's, then a meta tag's), by its label in browsers; the most likely one.
    """
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, errors="replace")
    header, page = _codec(declared), _codec(_declared_in(body[:_HEAD]))
    if header.startswith("utf-16") and b"\0" in body[:_HEAD]:
        return body.decode(header, errors="replace")
    codec = header or ("utf-8" if page.startswith("utf-16") else page)
    if not codec.startswith(("iso2022", "hz")):  # text in these is valid UTF-8, too
        text = body.decode("utf-8", errors="replace")
        broken = text.count("\ufffd") - body.count("\ufffd".encode())
        if not broken or sum(character > "\x7f" for character in text) >= 2 * broken:
            return text
    return body.decode(encoding_of(body) if codec in ("", "utf-8") else codec, errors="replace")


def _declared_in(head: bytes) -> str | None:
    """Return the label of the encoding that a page declares in an XML declaration or a meta tag."""
    head = _COMMENT.sub(b"", head)
    tags = (tag if b"http-equiv" in tag.lower() else _CONTENT.sub(b"", tag) for tag in _META.findall(head))
    match = next(filter(None, (_XML.search(head), *map(_CHARSET.search, tags))), None)
    return match[1].decode("ascii") if match else None


def _codec(label: str | None) -> str:
    """Return Python's codec for the label of an encoding; empty if browsers know none."""
    encoding = webencodings.lookup(label or "")
    name = encoding.codec_info.name if encoding else ""
    return "" if name in ("replacement", "x-user-defined") else _LARGER.get(name, name)


SAVE_IT = "open it in your browser, save it as HTML, and give the saved file instead of the address"

_LOOKS_LIKE_HTML = re.compile(
    r"(?:<\?xml[^>]*>|<!--(?:(?!-->).)*-->|\s)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)


class PageError(Exception):
    """Reason why a page cannot be read; the caller prepends its address."""


RequestFault = Literal[
    "not found", "login or blocked", "rate limited", "server error", "other status", "redirect loop",
    "robots.txt", "too large", "too slow", "refused address", "not an address", "host not found",
    "no connection",
]  # fmt: skip


class RequestError(PageError):
    """A request without a usable response.

    Attributes:
        kind: the reason, as a state of `linker mine fetch`.
    """

    def __init__(self, kind: RequestFault, reason: str) -> None:
        super().__init__(reason)
        self.kind: RequestFault = kind


@dataclass(frozen=True)
class Page:
    """A page, document or text, as it was fetched or read.

    Attributes:
        id: id of its article.
        name: address or path as the user gave it, for messages.
        body: its bytes.
        url: final address; None: not from the web.
        type: content type, by the HTTP header or the ending of the file's name; empty if there is neither.
        charset: encoding that the HTTP header declares, if it does.
    """

    id: str
    name: str
    body: bytes
    url: str | None = None
    type: str = ""
    charset: str | None = None

    @cached_property
    def content(self) -> str:
        """The decoded body."""
        return decode(self.body, self.charset)

    @cached_property
    def kind(self) -> Literal["pdf", "json", "html", "text"]:
        """The kind of the content, by its beginning and its type."""
        head, is_html = self.body[:_PDF_HEAD], self.type in HTML_TYPES
        if head.startswith(_PDF) or (_PDF in head and not is_html):
            return "pdf"
        if self.type == JSON_TYPE or (
            not self.type and self.url is None and self.content.lstrip().startswith("{")
        ):
            return "json"
        is_html = is_html or looks_like_html(self.content) or stories_of_feed(self.content) is not None
        return "html" if is_html else "text"

    @property
    def addresses(self) -> list[str]:
        """The web addresses of which a text consists, each once; empty: it is something else."""
        words = list(dict.fromkeys(self.content.split())) if self.kind == "text" else []
        return words if all(word.lower().startswith(("http://", "https://")) for word in words) else []


def charset_of(content_type: str) -> str | None:
    """Return the encoding that the header `Content-Type` names, if it does."""
    match = _CHARSET.search(content_type.encode("ascii", "replace"))
    return match[1].decode() if match else None


def looks_like_html(text: str) -> bool:
    """Return whether a text begins like an HTML page."""
    return _LOOKS_LIKE_HTML.match(text[:4096]) is not None
