"""Articles in WARC files, as crawlers and web archives write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

from linker.articles.extraction import extract_article
from linker.articles.page import Page, charset_of, decode
from linker.common.errors import DataError, FetchError, LinkerError
from linker.data.types import Article

_MAX_PAGE = 10 << 20


def is_warc(name: str) -> bool:
    """Return whether a file is a WARC file by its name."""
    return name.lower().endswith((".warc", ".warc.gz"))


def articles_in_warc(
    path: Path, wanted: Callable[[str], bool], counts: Counter[str] | None = None
) -> Iterator[Article]:
    """Yield the articles of the HTML pages in a WARC file, in file order; their ids are their addresses.

    Args:
        path: the file, with or without gzip.
        wanted: whether the page at an address is to be extracted, which takes most of the time.
        counts: receives the number of pages left out, by reason.

    Raises:
        LinkerError: if the package warcio is missing.
        DataError: if the file is damaged.
    """
    counts = Counter() if counts is None else counts
    for url, content_type, body in _pages(path):
        if not wanted(url):
            counts["pages that no post links to"] += 1
            continue
        try:
            yield extract_article(Page(url, decode(body, charset_of(content_type)), "html"), url)
        except FetchError:
            counts["pages without an article"] += 1


def warcio_for(path: Path) -> None:
    """Check that the package warcio is there.

    Raises:
        LinkerError: if it is missing.
    """
    if find_spec("warcio") is None:
        raise LinkerError(
            f"{path}: WARC files need a package that is not installed: pip install 'article-linker[warc]'"
        )


def _pages(path: Path) -> Iterator[tuple[str, str, bytes]]:
    """Yield address, content type and content of each HTML page that was fetched successfully."""
    warcio_for(path)
    from warcio.archiveiterator import ArchiveIterator
    from warcio.exceptions import ArchiveLoadFailed

    with open(path, "rb") as file:
        try:
            for record in ArchiveIterator(file):
                if record.format != "warc":
                    raise DataError(f"{path}: damaged, or not a WARC file; give a .warc or .warc.gz file")
                if record.rec_type != "response" or record.http_headers is None:
                    continue
                url = (record.rec_headers.get_header("WARC-Target-URI") or "").strip("<>")
                kind = record.http_headers.get_header("Content-Type") or ""
                if record.http_headers.get_statuscode() == "200" and "html" in kind.lower():
                    yield url, kind, record.content_stream().read(_MAX_PAGE)
        except ArchiveLoadFailed as error:
            raise DataError(f"{path}: damaged, or not a WARC file ({error})") from error
