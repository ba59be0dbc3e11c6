"""Load articles from an address, a file, a folder, text, or standard input."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Literal, TypeAlias

from linker.articles.extraction import article_from_text, extract_article
from linker.articles.extraction_process import read_pdf
from linker.articles.html.story_lists import stories_of_feed
from linker.articles.page import Page, PageError, decode, looks_like_html, word_count
from linker.articles.pdf import is_pdf
from linker.common.console import warn
from linker.common.errors import DataError, Faults
from linker.data.files.line_errors import LineError
from linker.data.files.streams import STANDARD_INPUT, open_bytes, shown_name
from linker.data.io.columns import ArticleColumns
from linker.data.io.records import article_from_row, read_articles
from linker.data.types import Article

Kind: TypeAlias = Literal["standard input", "address", "file", "folder", "text"]

_HTML = (".html", ".htm", ".xhtml")
_JSON = (".json", ".jsonl", ".ndjson")
#: Endings of pages, documents and texts with one article.
ONE_ARTICLE = (*_HTML, ".txt", ".md", ".pdf")
# Endings of files that can contain articles, also compressed; tables of articles are read when they are named.
_ENDINGS = (*ONE_ARTICLE, *_JSON)
_TABLES = (".csv", ".tsv", ".xlsx", ".parquet")
# Documents that have to be saved in another format first.
_DOCUMENTS = (".docx", ".doc", ".odt", ".rtf", ".pages")
# All endings of file names, as opposed to a text of few words.
_NAMES = (*_ENDINGS, *_DOCUMENTS, ".mhtml", ".mht", *_TABLES)
_PACKED = re.compile(r"(\.(gz|bz2|xz|zst))*$", re.IGNORECASE)
_LONGEST_NAME = 255
_FEW_WORDS = 8
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
_HOST = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?", re.IGNORECASE)
_MHTML = re.compile(rb"^Content-Type: multipart/related", re.MULTILINE | re.IGNORECASE)
_FORMATS = "HTML, PDF, plain text or Markdown, JSON or a table with title and text, or a list of addresses"
_MAX_FILE = 64 << 20


def load_articles(source: str | Path, force: bool = False) -> list[Article]:
    """Load the article at an address or in a text, or the articles in a file, a folder or standard input (`-`).

    A file is HTML (a saved page), PDF, plain text or Markdown, JSON (an object with `title` and `text`, a list of
    such objects, or one per line), a table with such columns, or a list of web addresses, one per line; its name and
    content decide which. It may be compressed (.gz). In a folder, all files directly in it with the ending of an
    article are read, but no tables; those that cannot be read are reported on standard error.

    The id is the address or the file's name unless JSON gives one, `text` for text, and `stdin` for standard input.

    Only for sources that the user names: any file is read, any address is fetched.

    Args:
        source: an address, a path, text of more than one word, or `-`.
        force: accept pages with too little text to be the article (see `linker.articles.html.incomplete_pages`).

    Raises:
        StubError: if the page is the teaser of an article, a consent wall, an error page or nearly empty.
        FetchError: if the page cannot be fetched, or has no article.
        DataError: if the file cannot be read or has no article.
    """
    kind = source_kind(str(source))
    if kind == "address":
        return [_at_address(str(source), force)]
    if kind == "text":
        return _in_text(str(source), "text", force)
    if kind == "folder":
        articles, faults = read_folder(Path(source), force)
        for fault in faults:
            warn(f"skipped: {fault}")
        return articles
    return _in_file(str(source), force)


def read_folder(folder: Path, force: bool = False) -> tuple[list[Article], list[str]]:
    """Read the articles in a folder, and return them with the reasons why other files cannot be read.

    Raises:
        LinkerError: if no file can be read.
    """
    articles, faults = [], Faults()
    for path in _articles_in(folder):
        with faults:
            articles += _in_file(str(path), force)
    if not articles:
        faults.raise_if_any()
    return articles, faults.messages


def _in_file(source: str, force: bool) -> list[Article]:
    name, ending = shown_name(source), _ending(source)
    if ending in _DOCUMENTS:
        raise DataError(f"{name}: a word-processor document; save it as PDF or as plain text (.txt)")
    if ending in _TABLES:
        return read_articles(source)
    with open_bytes(source) as file:
        body = file.read(_MAX_FILE + 1)
    if len(body) > _MAX_FILE:
        raise DataError(f"{name}: larger than {_MAX_FILE >> 20} MiB, too large for articles")
    article_id = "stdin" if source == STANDARD_INPUT else Path(source).name
    if is_pdf(body):
        try:
            title, text = read_pdf(body)
        except PageError as error:
            raise DataError(f"{name}: {error}") from error
        return [extract_article(Page("", text, "pdf", title), article_id, name, force)]
    if not body.strip():
        raise DataError(f"{name}: empty file; an article is {_FORMATS}")
    if _MHTML.search(body[:2000]):
        raise DataError(f"{name}: a web archive (MHTML); save the page as HTML instead")
    text = decode(body)
    if "\0" in text:
        raise DataError(f"{name}: not text; an article is {_FORMATS}")
    if ending in _JSON or (not ending and text.lstrip().startswith("{")):
        return _in_json(text, name, article_id)
    if ending in _HTML or looks_like_html(text) or stories_of_feed(text) is not None:
        return [extract_article(Page("", text, "html"), article_id, name, force)]
    return _in_text(text, article_id, force)


def _in_text(text: str, article_id: str, force: bool) -> list[Article]:
    """The article that a text is, or those at the addresses of which it consists."""
    words = dict.fromkeys(text.split())
    if not words or not all(word.lower().startswith(("http://", "https://")) for word in words):
        return [article_from_text(text, article_id)]
    articles, faults = [], Faults()
    for url in words:
        with faults:
            articles.append(_at_address(url, force))
    faults.raise_if_any()
    return articles


def _at_address(url: str, force: bool) -> Article:
    # Imported late: an HTTP client takes longer to import than the rest of this package.
    from linker.articles.fetching import fetch

    return extract_article(fetch(url, allow_private=True), url, force=force)


def _in_json(text: str, name: str, article_id: str) -> list[Article]:
    """Read articles from JSON or JSON Lines; missing ids are derived from the file name."""
    rows: list[tuple[str, Any]] = []
    try:
        whole = json.loads(text)
        rows = [(name, row) for row in (whole if isinstance(whole, list) else [whole])]
    except (ValueError, RecursionError):
        for number, line in enumerate(text.split("\n"), 1):
            try:
                rows += [(f"{name}, line {number}", json.loads(line))] if line.strip() else []
            except (ValueError, RecursionError) as error:
                raise DataError(f"{name}, line {number}: broken JSON ({error})") from error
    if not rows:
        raise DataError(f"{name}: no article in this file")
    articles = []
    for number, (where, row) in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise DataError(f"{where}: an article is a JSON object with the fields title and text")
        row = {"id": f"{article_id}:{number}" if len(rows) > 1 else article_id, **row}
        try:
            articles.append(article_from_row(row, ArticleColumns()))
        except LineError as error:
            raise DataError(f"{where}: {error}") from error
    return articles


def source_kind(source: str) -> Kind:
    """Return what a source is. A source that is neither a path nor an address is text if it has several words or is too
    long for a file name.

    Raises:
        DataError: if it is none of these: a missing file, an unsupported address, or empty.
    """
    if source == STANDARD_INPUT:
        return "standard input"
    if is_url(source):
        return "address"
    if not source.strip():
        raise DataError("the article is empty; give an address, a file, a folder or the text itself")
    if "\n" in source or any(len(part.encode()) > _LONGEST_NAME for part in source.split("/")):
        return "text"
    if os.path.exists(source):
        return "folder" if os.path.isdir(source) else "file"
    words, is_name = len(source.split()), _ending(source.strip()) in _NAMES
    # "my page.html" names a file that does not exist.
    if not (words <= _FEW_WORDS and is_name) and (words > 1 or word_count(source) > _FEW_WORDS):
        return "text"
    is_host = _HOST.fullmatch(source) and not (is_name and "/" not in source)
    page = f"give https://{source}" if is_host else "give its whole address (https://...)"
    raise DataError(
        f"{source}: file not found; for a web page, {page}; for text, give more than one word, in quotes"
    )


def is_url(source: str) -> bool:
    """Return whether a source is a single web address.

    Raises:
        DataError: if it is an address other than http and https.
    """
    match = _SCHEME.match(source)
    if match is None or len(source.split()) != 1:
        return False
    if match[1].lower() not in ("http", "https"):
        raise DataError(
            f"{source}: {match[1]} addresses cannot be fetched; give an http or https address or a file"
        )
    return True


def _articles_in(folder: Path) -> list[Path]:
    """Return the article files directly in a folder, sorted, without hidden files, READMEs, licenses and `posts`.

    Raises:
        DataError: if there is none, or the folder cannot be read.
    """
    try:
        paths = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        raise DataError(f"{folder}: cannot be read ({error.strerror})") from error
    others = (".", "readme", "license", "licence", "posts.")
    articles = [p for p in paths if _ending(p.name) in _ENDINGS and not p.name.lower().startswith(others)]
    if not articles:
        raise DataError(f"{folder}: no article in this folder (expected *{', *'.join(_ENDINGS)})")
    return articles


def _ending(name: str) -> str:
    """Return the ending of a file name in lower case, compressed or not; empty if it has none."""
    return os.path.splitext(_PACKED.sub("", name))[1].lower()
