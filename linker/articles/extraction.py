"""Extract the article of a page: title, text, date."""

from __future__ import annotations

import contextlib
from datetime import datetime, timedelta, timezone
from typing import Any

from linker.articles.incomplete_pages import NEARLY_EMPTY, fault_of, word_count
from linker.articles.page import SAVE_IT, Page
from linker.common.errors import FetchError, StubError
from linker.data.io.dates import parse_date
from linker.data.types import Article

_NO_LIMIT = datetime(9999, 12, 31)


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
    title, text, date, address = extract(page.content, url)
    fault = fault_of(page.content, title, text) if not force or not text else None
    save = f"{SAVE_IT}; or put the article's text into a .txt file"
    if not text:
        problem = fault or "no article found on the page"
        hint = (
            "put the article's text into a .txt file" if url is None else f"if your browser shows one, {save}"
        )
        raise FetchError(f"{name}: {problem}; {hint}")
    if fault:
        where = "with access to the article, " if url is None else "if your browser shows all of it, "
        raise StubError(f"{name}: {fault}; {where}{save}")
    return Article(article_id, text, title, url or address, date)


def article_from_text(text: str, article_id: str, url: str | None = None) -> Article:
    """Return an article from plain text or Markdown; a first line followed by a blank line is the title."""
    lines = text.strip().splitlines()
    if len(lines) > 2 and not lines[1].strip():
        title = lines[0].strip().removeprefix("# ").strip()
        return Article(article_id, "\n".join(lines[2:]).strip(), title, url)
    return Article(article_id, "\n".join(lines), url=url)


def extract(html: str, url: str | None) -> tuple[str, str, datetime | None, str | None]:
    """Return title, text, date and canonical address of a page, empty or None if missing.

    Args:
        html: the page.
        url: its address, if known.
    """
    from trafilatura import bare_extraction

    dates = _date_search(datetime.now(timezone.utc) + timedelta(days=1))
    found = bare_extraction(
        html, url=url, with_metadata=True, include_comments=False, date_extraction_params=dates
    )
    if found is None:
        return "", "", None, None
    values = found if isinstance(found, dict) else found.as_dict()
    date = None
    if written := values.get("date") or _future_date(html, url):
        with contextlib.suppress(ValueError):
            date = parse_date(written)
    return values.get("title") or "", (values.get("text") or "").strip(), date, values.get("url")


def _future_date(html: str, url: str | None) -> str | None:
    """Return the date of a page that has only future dates, such as an embargoed story.

    Only a fallback: on other pages a future date is that of an event.
    """
    from trafilatura import extract_metadata

    date: str | None = extract_metadata(html, url, _date_search(_NO_LIMIT)).date
    return date


def _date_search(latest: datetime) -> dict[str, Any]:
    """Return settings of htmldate: the date of publication, from markup and the address.

    Its extensive search tries every number in the text: 4 s instead of 10 ms (decision 140).
    """
    return {"original_date": True, "extensive_search": False, "max_date": latest.strftime("%Y-%m-%d")}
