"""The date of a page: from its markup and its address, not from whatever looks like a date in the text."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest

from linker.articles.extraction import extract_article
from linker.articles.html.extraction import text_of_html
from linker.articles.page import Page

ROOT = Path(__file__).parents[2]
TEXT = (
    "<p>"
    + "The council closed the bridge on Tuesday after cracks were found in two of its piers. " * 5
    + "</p>"
)


def published(head: str = "", body: str = "", url: str = "") -> datetime | None:
    """The date of a page with this markup."""
    html = f"<html><head><title>Bridge closed</title>{head}</head><body><article>{body}{TEXT}</article></body></html>"
    return extract_article(Page(url, html, "html"), "a", "page").published


def day(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> datetime:
    """A time in UTC."""
    return datetime(year, month, day, hour, minute, tzinfo=timezone.utc)


def test_a_date_to_come_counts_where_the_page_has_no_other() -> None:
    page = Page("", (ROOT / "data" / "article.html").read_text(encoding="utf-8"), "html")
    assert extract_article(page, "a").published == day(2031, 4, 30, 15, 30)
    body = '<time datetime="2021-05-14">14 May 2021</time>'
    event = '<p>It reopens on <time datetime="2091-06-01">1 June 2091</time>.</p>'
    assert published(body=event + body) == day(2021, 5, 14)


def test_a_page_without_any_date_has_none() -> None:
    assert published() is None


def test_dates_in_words_are_not_parsed_at_length(monkeypatch: pytest.MonkeyPatch) -> None:
    def external(*_: object) -> None:
        raise AssertionError("asked the parser that takes seconds")

    monkeypatch.setattr("htmldate.extractors._external_date", external)
    body = '<p class="date">am vierzehnten Mai, einem Freitag im Jahr 2021, 14.V.21</p>'
    assert text_of_html(f"<html><body><article>{body}{TEXT}</article></body></html>", None).date is None
