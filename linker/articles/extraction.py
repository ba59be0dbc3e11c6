"""Extract the article of a page, document or text: title, text, date."""

import contextlib
from dataclasses import replace
from datetime import datetime

from linker.articles.extraction_process import LimitError, read_html, read_pdf
from linker.articles.html.incomplete_pages import NEARLY_EMPTY
from linker.articles.page import SAVE_IT, Page, PageError
from linker.common.console import warn
from linker.common.errors import DataError, FetchError, StubError
from linker.data.characters import word_count
from linker.data.io.dates import parse_date
from linker.data.types import Article


def extract_article(page: Page, force: bool = False) -> Article:
    """Extract the article of a page.

    Args:
        page: HTML, a PDF, or plain text (see `article_from_text`).
        force: accept text that is too short to be the article.

    Raises:
        StubError: if the text is the teaser of an article, a consent wall, an error page or nearly empty.
        FetchError: if the page has no text.
        DataError: if a file is a PDF that cannot be read.
    """
    if page.kind == "text":
        return replace(article_from_text(page.content, page.id, page.url), source=page.name)
    if page.kind == "pdf":
        return _from_pdf(page, force)
    try:
        title, text, date, address, fault, notes = read_html(page.content, page.url)
    except LimitError as error:
        raise FetchError(f"{page.name}: {error}") from error
    if fault and fault.kind == "list of stories" and not (force and text):
        raise (StubError if text else FetchError)(f"{page.name}: {fault}; give the address of one of them")
    save = f"{SAVE_IT}; or put the article's text into a .txt file"
    if not text:
        raise FetchError(
            f"{page.name}: {fault or 'no article found on the page'}; "
            + (
                f"if your browser shows one, {save}"
                if page.url
                else "put the article's text into a .txt file"
            )
        )
    if fault and not force:
        where = "if your browser shows all of it, " if page.url else "with access to the article, "
        raise StubError(f"{page.name}: {fault}; {where}{save}")
    for note in notes:
        warn(f"{page.name}: {note}")
    return Article(page.id, text, title, page.url or address, parsed_date(date), source=page.name)


def _from_pdf(page: Page, force: bool) -> Article:
    try:
        title, text = read_pdf(page.body)
    except PageError as error:
        raise (FetchError if page.url else DataError)(f"{page.name}: {error}") from error
    if (words := word_count(text)) < NEARLY_EMPTY and not force:
        raise StubError(
            f"{page.name}: only {words} words were found in the PDF; if its pages are scanned, run OCR on it (for "
            "example with ocrmypdf), or copy the article's text into a .txt file"
        )
    return Article(page.id, text, title, page.url, source=page.name)


def article_from_text(text: str, article_id: str, url: str | None = None) -> Article:
    """Return an article from plain text or Markdown; a first line followed by a blank line is the title."""
    title, lines = "", text.strip().splitlines()
    if len(lines) > 2 and not lines[1].strip():
        title, lines = lines[0].strip().removeprefix("# ").strip(), lines[2:]
    return Article(article_id, "\n".join(lines).strip(), title, url)


def parsed_date(written: str | None) -> datetime | None:
    """Return the date of a page; None if it has none that can be read."""
    with contextlib.suppress(ValueError):
        return parse_date(written) if written else None
    return None
