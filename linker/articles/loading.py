"""Load articles from an address, a file, a folder, text, or standard input."""

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

from linker.articles.extraction import extract_article
from linker.articles.page import HTML_TYPES, JSON_TYPE, Page
from linker.common.console import info, warn
from linker.common.errors import DataError, Faults
from linker.data.characters import UNSPACED
from linker.data.files.streams import STANDARD_INPUT, open_bytes, shown_name
from linker.data.io.records import articles_of_json, read_articles
from linker.data.types import Article

Kind: TypeAlias = Literal["standard input", "address", "file", "table", "folder", "text"]

_HTML = (".html", ".htm", ".xhtml")
_JSON = (".json", ".jsonl", ".ndjson")
# Without an ending, the content decides.
_TYPES = {"": "", **dict.fromkeys(_HTML, HTML_TYPES[0]), **dict.fromkeys(_JSON, JSON_TYPE)}
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
_LONGEST_NAME, _LONGEST_PATH = 255, 1024
_FEW_WORDS = 8
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
_HOST = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?", re.IGNORECASE)
_MHTML = re.compile(rb"^Content-Type: multipart/related", re.MULTILINE | re.IGNORECASE)
_FORMATS = "HTML, PDF, plain text or Markdown, JSON or a table with title and text, or a list of addresses"
_MAX_FILE = 64 << 20


def load_articles(
    source: str | Path, force: bool = False, most: int | None = None, **fetching: Any
) -> list[Article]:
    """Load the article at an address or in a text, or the articles in a file, a folder or standard input (`-`).

    A file is HTML (a saved page), PDF, plain text or Markdown, JSON (an object with `title` and `text`, a list of
    such objects, or one per line), a table with such columns, or a list of web addresses, one per line; its name and
    content decide which. It may be compressed (.gz). In a folder, all files directly in it with the ending of an
    article are read, but no tables; the number of articles, and files that cannot be read, are reported on standard
    error.

    The id is the address or the file's name unless JSON gives one, `text` for text, and `stdin` for standard input.

    Only for sources that the user names: any file is read, and any address is fetched unless `fetching` says otherwise.

    Args:
        source: an address, a path, text of more than one word, or `-`.
        force: accept pages with too little text to be the article (see `linker.articles.html.incomplete_pages`).
        most: number of articles, or pages, after which reading ends.
        fetching: how addresses are fetched, see `linker.articles.fetching.fetch`.

    Raises:
        StubError: if the page is the teaser of an article, a consent wall, an error page or nearly empty.
        FetchError: if the page cannot be fetched, or has no article.
        DataError: if the file cannot be read or has no article.
    """
    source = str(source)
    kind = source_kind(source)
    articles, faults = [], Faults()
    for page in islice(_pages(source, kind, faults), most):
        with faults:
            if isinstance(page, str):
                # Imported late: an HTTP client takes longer to import than the rest of this package.
                from linker.articles.fetching import fetch

                page = fetch(page, **{"allow_private": True, **fetching})
            if page.kind != "json":
                articles.append(extract_article(page, force))
            else:
                articles += articles_of_json(page.content, page.name, page.id)
    if kind == "table":
        return read_articles(source, most=most)
    if kind != "folder" or not articles:
        faults.raise_if_any()
        return articles
    plural, skipped = "s"[: len(articles) != 1], f", {len(faults.messages)} could not be read"
    info(f"{source}: {len(articles):,} article{plural} in this folder{skipped if faults.messages else ''}")
    for message in faults.messages:
        warn(f"skipped: {message}")
    return articles


def _pages(source: str, kind: Kind, faults: Faults) -> Iterator[Page | str]:
    """Yield the pages of a source, of an address or a list of addresses these; none of a table."""
    if kind == "address":
        yield source
    if kind in ("address", "table"):
        return
    for path in _files_in(source) if kind == "folder" else [source]:
        with faults:
            if kind == "text":
                page = Page(
                    "text", "text on the command line", source.encode(errors="replace"), type="text/plain"
                )
            else:
                page = _read(path)
            yield from page.addresses
            if not page.addresses:
                yield page


def _read(path: str) -> Page:
    """Read a file or standard input.

    Raises:
        DataError: if it cannot be read, is empty, too large, binary, or a format that has to be saved as another.
    """
    name, ending = shown_name(path), _ending(path)
    if ending in _DOCUMENTS:
        raise DataError(f"{name}: a word-processor document; save it as PDF or as plain text (.txt)")
    with open_bytes(path) as file:
        body = file.read(_MAX_FILE + 1)
    if len(body) > _MAX_FILE:
        raise DataError(f"{name}: larger than {_MAX_FILE >> 20} MiB, too large for articles")
    page_id = "stdin" if path == STANDARD_INPUT else Path(path).name
    page = Page(page_id, name, body, type=_TYPES.get(ending, "text/plain"))
    if page.kind == "pdf":
        return page
    if not body.strip():
        raise DataError(f"{name}: empty file; an article is {_FORMATS}")
    if _MHTML.search(body[:2000]):
        raise DataError(f"{name}: a web archive (MHTML); save the page as HTML instead")
    if "\0" in page.content:
        raise DataError(f"{name}: not text; an article is {_FORMATS}")
    return page


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
    if "\n" in source or any(len(name.encode()) > _LONGEST_NAME for name in source.split("/")):
        return "text"
    if os.path.exists(source):
        is_table = _ending(source) in _TABLES
        return "folder" if os.path.isdir(source) else "table" if is_table else "file"
    words, is_name = len(source.split()), _ending(source.strip()) in _NAMES
    # "my page.html" names a file that does not exist.
    # Two characters of Chinese, Japanese or Thai are a word.
    is_long = words > 1 or len(UNSPACED.findall(source)) > 2 * _FEW_WORDS
    if is_long and not (words <= _FEW_WORDS and is_name):
        return "text"
    is_host = _HOST.fullmatch(source) and not (is_name and "/" not in source)
    page = f"give https://{source}" if is_host else "give its whole address (https://...)"
    raise DataError(
        f"{source}: file not found; for a web page, {page}; for text, give more than one word, in quotes"
    )


def names_source(text: str) -> bool:
    """Return whether a text is a web address or a path; with the ending of a file of articles it is a path, even
    if the file is missing.

    Raises:
        DataError: if it is an address other than http and https.
    """
    if is_url(text):
        return True
    path = text.strip()
    if not path or "\n" in text or len(text) > _LONGEST_PATH:
        return False
    return (path.lower().endswith(_ENDINGS) and " " not in path) or Path(text).is_file()


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


def _files_in(path: str) -> list[str]:
    """Return the article files directly in a folder, sorted, without hidden files, READMEs, licenses and `posts`.

    Raises:
        DataError: if there is none, or the folder cannot be read.
    """
    try:
        files = sorted(file for file in Path(path).iterdir() if file.is_file())
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error
    others = (".", "readme", "license", "licence", "posts.")
    files = [f for f in files if _ending(f.name) in _ENDINGS and not f.name.lower().startswith(others)]
    if not files:
        raise DataError(f"{path}: no article in this folder (expected *{', *'.join(_ENDINGS)})")
    return list(map(str, files))


def _ending(name: str) -> str:
    """Return the ending of a file name in lower case, compressed or not; empty if it has none."""
    return os.path.splitext(_PACKED.sub("", name))[1].lower()
