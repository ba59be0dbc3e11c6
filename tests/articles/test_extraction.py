"""The date of a page: from its markup and its address, not from whatever looks like a date in the text."""

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


def test_a_date_to_come_counts_where_the_page_has_no_other() -> None:
    page = Page("a", "article.html", (ROOT / "data" / "article.html").read_bytes())
    assert extract_article(page).published == datetime(2031, 4, 30, 15, 30, tzinfo=timezone.utc)
    event = '<p>It reopens on <time datetime="2091-06-01">1 June 2091</time>.</p>'
    body = f'{event}<time datetime="2021-05-14">14 May 2021</time>{TEXT}'
    page = Page(
        "a",
        "a.html",
        f"<html><title>Bridge closed</title><body><article>{body}</article></body></html>".encode(),
    )
    assert extract_article(page).published == datetime(2021, 5, 14, tzinfo=timezone.utc)


def test_dates_in_words_are_not_parsed_at_length(monkeypatch: pytest.MonkeyPatch) -> None:
    def external(*_: object) -> None:
        raise AssertionError("asked the parser that takes seconds")

    monkeypatch.setattr("htmldate.extractors._external_date", external)
    body = '<p class="date">am vierzehnten Mai, einem Freitag im Jahr 2021, 14.V.21</p>'
    assert text_of_html(f"<html><body><article>{body}{TEXT}</article></body></html>", None).date is None
