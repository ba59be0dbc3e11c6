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

# Endings of files that can contain articles, also compressed.
_ENDINGS = (".html", ".htm", ".xhtml", ".txt", ".md", ".json", ".jsonl", ".ndjson", ".pdf")
_PACKED = (".gz", ".bz2", ".xz", ".zst")
# Tables of articles, which are read when they are named.
_TABLES = (".csv", ".tsv", ".xlsx", ".parquet")
# Documents that have to be saved in another format first.
_DOCUMENTS = (".docx", ".doc", ".odt", ".rtf", ".pages")
# Other endings of file names, as opposed to a text of few words.
_OTHER_ENDINGS = (*_DOCUMENTS, ".mhtml", ".mht", *_TABLES)
_LONGEST_NAME = 255
_FEW_WORDS = 8
_URL = re.compile(r"https?://", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
_HOST = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?", re.IGNORECASE)
_FORMATS = "HTML, PDF, plain text or Markdown, JSON or a table with title and text, or a list of addresses"
_JSON_ENDINGS = (".json", ".jsonl", ".ndjson")
_HTML_ENDINGS = (".html", ".htm", ".xhtml")
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
    if _has_ending(source, _DOCUMENTS):
        raise DataError(
            f"{shown_name(source)}: a word-processor document; save it as PDF or as plain text (.txt)"
        )
    if _has_ending(source, _TABLES):
        return read_articles(source)
    name = shown_name(source)
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
    text = _characters(body, name)
    has_ending = source != STANDARD_INPUT and bool(Path(source).suffix)
    if _has_ending(source, _JSON_ENDINGS) or (not has_ending and text.lstrip().startswith("{")):
        return _in_json(text, name, article_id)
    if _has_ending(source, _HTML_ENDINGS) or looks_like_html(text) or stories_of_feed(text) is not None:
        return [extract_article(Page("", text, "html"), article_id, name, force)]
    return _in_text(text, article_id, force)


def _in_text(text: str, article_id: str, force: bool) -> list[Article]:
    """The article that a text is, or those at the addresses of which it consists."""
    words = dict.fromkeys(text.split())
    articles, faults = [], Faults()
    try:
        is_list = bool(words) and all(map(is_url, words))
    except DataError:  # not http: a text that begins with another kind of address
        is_list = False
    if not is_list:
        return [article_from_text(text, article_id)]
    for url in words:
        with faults:
            articles.append(_at_address(url, force))
    faults.raise_if_any()
    return articles


def _at_address(url: str, force: bool) -> Article:
    # Imported late: an HTTP client takes longer to import than the rest of this package.
    from linker.articles.fetching import fetch

    return extract_article(fetch(url, allow_private=True), url, force=force)


def _characters(body: bytes, name: str) -> str:
    if not body.strip():
        raise DataError(f"{name}: empty file; an article is {_FORMATS}")
    if re.search(rb"^Content-Type: multipart/related", body[:2000], re.MULTILINE | re.IGNORECASE):
        raise DataError(f"{name}: a web archive (MHTML); save the page as HTML instead")
    text = decode(body)
    if "\0" in text:
        raise DataError(f"{name}: not text; an article is {_FORMATS}")
    return text


def _in_json(text: str, name: str, article_id: str) -> list[Article]:
    """Read articles from JSON or JSON Lines; missing ids are derived from the file name."""
    try:
        whole = json.loads(text)
        rows = [(name, row) for row in whole] if isinstance(whole, list) else [(name, whole)]
    except (ValueError, RecursionError):
        lines = [(f"{name}, line {n}", line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
        rows = [(where, _json(line, where)) for where, line in lines]
    if not rows:
        raise DataError(f"{name}: no article in this file")
    ids = [f"{article_id}:{n}" if len(rows) > 1 else article_id for n in range(1, len(rows) + 1)]
    return [_article(row, where, id_) for id_, (where, row) in zip(ids, rows)]


def _json(line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: broken JSON ({error})") from error


def _article(value: Any, where: str, article_id: str) -> Article:
    if not isinstance(value, dict):
        raise DataError(f"{where}: an article is a JSON object with the fields title and text")
    try:
        return article_from_row({"id": article_id, **value}, ArticleColumns())
    except LineError as error:
        raise DataError(f"{where}: {error}") from error


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
    if not _is_too_long(source):
        if os.path.isdir(source):
            return "folder"
        if os.path.exists(source):
            return "file"
    if _is_text(source):
        return "text"
    raise DataError(f"{source}: file not found; {_remedy(source)}")


def is_url(source: str) -> bool:
    """Return whether a source is a single web address.

    Raises:
        DataError: if it is an address other than http and https.
    """
    if len(source.split()) != 1:
        return False
    if _URL.match(source):
        return True
    if match := _OTHER_SCHEME.match(source):
        raise DataError(
            f"{source}: {match[1]} addresses cannot be fetched; give an http or https address or a file"
        )
    return False


def check_source(source: str | Path) -> None:
    """Check that a source exists, before any work begins; addresses are not fetched.

    Raises:
        DataError: if it is a missing file, a folder without articles, or an unsupported address.
    """
    if source_kind(str(source)) == "folder":
        _articles_in(Path(source))


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
    articles = [
        path
        for path in paths
        if _has_ending(path.name, _ENDINGS) and not path.name.lower().startswith(others)
    ]
    if not articles:
        raise DataError(f"{folder}: no article in this folder (expected *{', *'.join(_ENDINGS)})")
    return articles


def _has_ending(name: str, endings: tuple[str, ...]) -> bool:
    """Return whether a file name has one of these endings, compressed or not."""
    name = name.lower()
    for packed in _PACKED:
        name = name.removesuffix(packed)
    return name.endswith(endings)


def _is_too_long(source: str) -> bool:
    return "\n" in source or any(len(part.encode()) > _LONGEST_NAME for part in source.split("/"))


def _is_text(source: str) -> bool:
    if _is_too_long(source):
        return True
    words = len(source.split())
    if words <= _FEW_WORDS and _has_ending(source.strip(), (*_ENDINGS, *_OTHER_ENDINGS)):
        return False  # "my page.html" names a file that does not exist
    return words > 1 or word_count(source) > _FEW_WORDS


def _remedy(source: str) -> str:
    is_name = "/" not in source and _has_ending(source, (*_ENDINGS, *_OTHER_ENDINGS))
    is_host = _HOST.fullmatch(source) and not is_name
    page = f"give https://{source}" if is_host else "give its whole address (https://...)"
    return f"for a web page, {page}; for text, give more than one word, in quotes"
