"""Extract the article of a page: title, text, date."""

from __future__ import annotations

import contextlib
from datetime import datetime

from linker.articles.extraction_process import LimitError, read_html
from linker.articles.html.incomplete_pages import NEARLY_EMPTY
from linker.articles.page import SAVE_IT, Page, word_count
from linker.common.console import warn
from linker.common.errors import FetchError, StubError
from linker.data.io.dates import parse_date
from linker.data.types import Article


def extract_article(page: Page, article_id: str, name: str | None = None, force: bool = False) -> Article:
    """Extract the article of a page.

    Args:
        page: HTML, a PDF, or plain text (see `article_from_text`).
        article_id: id of the article.
        name: name of the page in messages; its address by default.
        force: accept text that is too short to be the article.

    Raises:
        StubError: if the text is the teaser of an article, a consent wall, an error page or nearly empty.
        FetchError: if the page has no text.
    """
    name = name or page.url
    url = page.url or None
    if page.kind == "text":
        return article_from_text(page.content, article_id, url)
    if page.kind == "pdf":
        if (words := word_count(page.content)) < NEARLY_EMPTY and not force:
            raise StubError(
                f"{name}: only {words} words were found in the PDF; if its pages are scanned, run OCR on it (for "
                "example with ocrmypdf), or copy the article's text into a .txt file"
            )
        return Article(article_id, page.content, page.title, url)
    try:
        title, text, date, address, fault, notes = read_html(page.content, url)
    except LimitError as error:
        raise FetchError(f"{name}: {error}") from error
    if fault and fault.kind == "list of stories" and not (force and text):
        raise (StubError if text else FetchError)(f"{name}: {fault}; give the address of one of them")
    save = f"{SAVE_IT}; or put the article's text into a .txt file"
    if not text:
        problem = fault or "no article found on the page"
        hint = (
            "put the article's text into a .txt file" if url is None else f"if your browser shows one, {save}"
        )
        raise FetchError(f"{name}: {problem}; {hint}")
    if fault and not force:
        where = "with access to the article, " if url is None else "if your browser shows all of it, "
        raise StubError(f"{name}: {fault}; {where}{save}")
    for note in notes:
        warn(f"{name}: {note}")
    return Article(article_id, text, title, url or address, parsed_date(date))


def article_from_text(text: str, article_id: str, url: str | None = None) -> Article:
    """Return an article from plain text or Markdown; a first line followed by a blank line is the title."""
    lines = text.strip().splitlines()
    if len(lines) > 2 and not lines[1].strip():
        title = lines[0].strip().removeprefix("# ").strip()
        return Article(article_id, "\n".join(lines[2:]).strip(), title, url)
    return Article(article_id, "\n".join(lines), url=url)


def parsed_date(written: str | None) -> datetime | None:
    """Return the date of a page; None if it has none that can be read."""
    with contextlib.suppress(ValueError):
        return parse_date(written) if written else None
    return None
