"""Articles from wherever a person has them: an address, a file, a folder, text, standard input."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from linker.articles.extraction import article_from_text, extract_article
from linker.articles.page import Page, PageError, decode, looks_like_html
from linker.articles.pdf import is_pdf, text_of_pdf
from linker.articles.sources import DOCUMENTS, articles_in, check_source, has_ending, is_url, kind_of
from linker.common.console import stderr
from linker.common.errors import DataError, Faults
from linker.data.io.columns import ArticleColumns
from linker.data.io.line_errors import LineError
from linker.data.io.records import article_from_row
from linker.data.io.streams import STANDARD_INPUT, open_bytes, shown_name
from linker.data.types import Article

__all__ = ["FORMATS", "check_source", "is_url", "load_articles", "read_folder"]

FORMATS = "HTML, PDF, plain text or Markdown, JSON with the fields title and text, or a list of addresses"
_JSON_ENDINGS = (".json", ".jsonl", ".ndjson")
_HTML_ENDINGS = (".html", ".htm", ".xhtml")
_MAX_FILE = 64 << 20


def load_articles(source: str | Path, force: bool = False) -> list[Article]:
    """The article at an address or in text, or the articles in a file, in a folder or on standard input (`-`).

    A file is HTML (a saved page), PDF, plain text or Markdown, JSON (an object with `title` and `text`, a list of
    such objects, or one per line), or text whose every line is the address of a page. Its name and its content tell
    which. It may be packed (.gz). Of a folder, all files directly in it are read whose names end like articles; those
    that cannot be read are reported on standard error.

    The id is the address or the file's name unless JSON gives one, `text` for text, and `stdin` for standard input.

    For sources that the person at the keyboard names: any file is read, any address is fetched.

    Args:
        source: an address, a path, text of more than one word, or `-`.
        force: also take pages with too little text to be the article (see `linker.articles.incomplete_pages`).

    Raises:
        StubError: the page is the teaser of an article, a consent wall, an error page or nearly empty.
        FetchError: the page cannot be fetched, or there is no article on it.
        DataError: the file cannot be read, or holds no article.
    """
    kind = kind_of(str(source))
    if kind == "address":
        # Only now: an HTTP client takes longer to import than the rest of this package.
        from linker.articles.fetching import fetch

        return [extract_article(fetch(str(source), allow_private=True), str(source), force=force)]
    if kind == "text":
        urls = _addresses(str(source))
        return _at_addresses(urls, force) if urls else [article_from_text(str(source), "text")]
    if kind == "folder":
        articles, faults = read_folder(Path(source), force)
        for fault in faults:
            stderr.print(f"skipped: {fault}", style="yellow", highlight=False, markup=False, soft_wrap=True)
        return articles
    return _in_file(str(source), force)


def read_folder(folder: Path, force: bool = False) -> tuple[list[Article], list[str]]:
    """The articles in the files of a folder, and why others of its files cannot be read.

    Raises:
        LinkerError: not one can be read.
    """
    articles, faults = [], Faults()
    for path in articles_in(folder):
        with faults:
            articles += _in_file(str(path), force)
    if not articles:
        faults.raise_if_any()
    return articles, faults.messages


def _in_file(source: str, force: bool) -> list[Article]:
    name = shown_name(source)
    if has_ending(source, DOCUMENTS):
        raise DataError(f"{name}: is a word processor's document; save it as PDF or as plain text (.txt)")
    with open_bytes(source) as file:
        body = file.read(_MAX_FILE + 1)
    if len(body) > _MAX_FILE:
        raise DataError(f"{name}: larger than {_MAX_FILE >> 20} MiB, too large for articles")
    article_id = "stdin" if source == STANDARD_INPUT else Path(source).name
    if is_pdf(body):
        return [_in_pdf(body, name, article_id, force)]
    text = _characters(body, name)
    has_name = source != STANDARD_INPUT and bool(Path(source).suffix)
    if (has_name and has_ending(source, _JSON_ENDINGS)) or (not has_name and text.lstrip().startswith("{")):
        return _in_json(text, name, article_id)
    if (has_name and has_ending(source, _HTML_ENDINGS)) or looks_like_html(text):
        return [extract_article(Page("", text, "html"), article_id, name, force)]
    if urls := _addresses(text):
        return _at_addresses(urls, force)
    return [article_from_text(text, article_id)]


def _in_pdf(body: bytes, name: str, article_id: str, force: bool) -> Article:
    try:
        title, text = text_of_pdf(body)
    except PageError as error:
        raise DataError(f"{name}: {error}") from error
    return extract_article(Page("", text, "pdf", title), article_id, name, force)


def _addresses(text: str) -> list[str]:
    """The words of a text, each once, if every one is an address."""
    words = dict.fromkeys(text.split())
    try:
        return list(words) if all(is_url(word) for word in words) else []
    except DataError:  # of another kind than http: a text that begins with one
        return []


def _at_addresses(urls: list[str], force: bool) -> list[Article]:
    articles, faults = [], Faults()
    # Only now: an HTTP client takes longer to import than the rest of this package.
    from linker.articles.fetching import fetch

    for url in urls:
        with faults:
            articles.append(extract_article(fetch(url, allow_private=True), url, force=force))
    faults.raise_if_any()
    return articles


def _characters(body: bytes, name: str) -> str:
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
        return article_from_row({"id": article_id, **value}, ArticleColumns())
    except LineError as error:
        raise DataError(f"{where}: {error}") from error
