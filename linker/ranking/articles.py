"""Articles from wherever a person has them: an address, a file, standard input."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from linker.data.columns import ArticleColumns
from linker.data.formats.bad_lines import LineError
from linker.data.formats.opening import STANDARD_INPUT, open_bytes, shown_name
from linker.data.records import article_of
from linker.data.types import Article
from linker.errors import DataError
from linker.ranking.charset import decode
from linker.ranking.extraction import article_from_text, extract_article
from linker.ranking.page import PDF, Page, looks_like_html

FORMATS = "HTML, plain text or Markdown, or JSON with the fields title and text"
_URL = re.compile(r"https?://", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
_JSON_ENDINGS = (".json", ".jsonl", ".ndjson")
_HTML_ENDINGS = (".html", ".htm", ".xhtml")
_MAX_FILE = 64 << 20


def load_articles(source: str | Path) -> list[Article]:
    """The article at an address, or the articles in a file or on standard input (`-`).

    A file is HTML (a saved page), plain text or Markdown, or JSON: an object with `title` and `text`, a list
    of such objects, or one a line. What it is is told from its name and its content. It may be packed (.gz).
    The id is the address or the file's name unless JSON gives one.

    For sources that the person at the keyboard names: any file is read, any address is fetched.

    Raises:
        FetchError: the page cannot be fetched, or there is no article on it.
        DataError: the file cannot be read, or holds no article.
    """
    source = str(source)
    if is_url(source):
        # Only now: an HTTP client takes longer to import than the rest of this package.
        from linker.ranking.fetching import fetch

        return [extract_article(fetch(source, allow_private=True), source)]
    return _in_file(source)


def is_url(source: str) -> bool:
    """Is it an address, not a file?

    Raises:
        DataError: an address of another kind than http and https.
    """
    if _URL.match(source):
        return True
    if match := _OTHER_SCHEME.match(source):
        raise DataError(
            f"{source}: {match[1]} addresses cannot be fetched; give an http or https address or a file"
        )
    return False


def check_source(source: str | Path) -> None:
    """Find out before any work begins whether a source is there; addresses are not tried.

    Raises:
        DataError: it is a file that is not there, or an address of an unknown kind.
    """
    source = str(source)
    if source == STANDARD_INPUT or is_url(source):
        return
    path = Path(source)
    if path.is_dir():
        raise DataError(f"{source}: is a folder; give a file")
    if not path.exists():
        hint = f"; for a web page, give https://{source}" if source.startswith("www.") else ""
        raise DataError(f"{source}: there is no such file{hint}")


def _in_file(source: str) -> list[Article]:
    check_source(source)
    name = shown_name(source)
    with open_bytes(source) as file:
        body = file.read(_MAX_FILE + 1)
    if len(body) > _MAX_FILE:
        raise DataError(f"{name}: larger than {_MAX_FILE >> 20} MiB, too large for articles")
    endings = [] if source == STANDARD_INPUT else [ending.lower() for ending in Path(source).suffixes]
    text = _characters(body, name)
    article_id = "stdin" if source == STANDARD_INPUT else Path(source).name
    if any(ending in _JSON_ENDINGS for ending in endings) or (not endings and text.lstrip().startswith("{")):
        return _in_json(text, name, article_id)
    if any(ending in _HTML_ENDINGS for ending in endings) or looks_like_html(text):
        return [extract_article(Page("", text, "html"), article_id, name)]
    return [article_from_text(text, article_id)]


def _characters(body: bytes, name: str) -> str:
    if body.startswith(b"%PDF-"):
        raise DataError(f"{name}: {PDF}")
    if not body.strip():
        raise DataError(f"{name}: is empty; an article is {FORMATS}")
    if re.search(rb"^Content-Type: multipart/related", body[:2000], re.MULTILINE | re.IGNORECASE):
        raise DataError(f"{name}: is a web archive (MHTML); save the page as HTML instead")
    text = decode(body)
    if "\0" in text:
        raise DataError(f"{name}: is not text; an article is {FORMATS}")
    return text


def _in_json(text: str, name: str, article_id: str) -> list[Article]:
    """Articles of JSON or JSON lines; ids that are missing are made from the file's name."""
    try:
        whole = json.loads(text)
        places = [(name, value) for value in whole] if isinstance(whole, list) else [(name, whole)]
    except (ValueError, RecursionError):
        lines = [(f"{name}, line {n}", line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
        places = [(where, _json(line, where)) for where, line in lines]
    if not places:
        raise DataError(f"{name}: not one article is in it")
    several = len(places) > 1
    return [
        _article(value, where, f"{article_id}:{n}" if several else article_id)
        for n, (where, value) in enumerate(places, start=1)
    ]


def _json(line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: broken JSON ({error})") from error


def _article(value: Any, where: str, article_id: str) -> Article:
    if not isinstance(value, dict):
        raise DataError(f"{where}: an article is a JSON object with the fields title and text")
    try:
        return article_of({"id": article_id, **value}, ArticleColumns())
    except LineError as error:
        raise DataError(f"{where}: {error}") from error
