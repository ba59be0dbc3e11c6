"""Extract title, text and date from HTML, in the process that `extraction_process` starts for it.

Imports little, so that the process starts fast.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

from linker.articles.html.blocks import key_of
from linker.articles.html.body import heading_with, whole_body
from linker.articles.html.dates import date_of, drop_other_stories
from linker.articles.html.incomplete_pages import Fault, fault_of, list_fault
from linker.articles.html.metadata import Metadata
from linker.articles.html.story_lists import stories_of, stories_of_feed
from linker.articles.page import word_count

_NO_LIMIT = datetime(9999, 12, 31)


class HtmlText(NamedTuple):
    """The article of a page.

    Attributes:
        title: empty if missing.
        text: empty if missing.
        date: date of publication in ISO 8601, or as the page has it, if known.
        address: canonical address, if known.
        fault: why the text cannot be the whole article, if it cannot.
        notes: what is uncertain, as clauses after "page.html: ".
    """

    title: str
    text: str
    date: str | None
    address: str | None
    fault: Fault | None
    notes: list[str]


def text_of_html(html: str, url: str | None) -> HtmlText:
    """Extract the article of a page. Time and memory are unbounded: may take a minute for 1 MB of attributes."""
    from trafilatura import bare_extraction, load_html

    if (entries := stories_of_feed(html)) is not None:
        return HtmlText("", "", None, None, list_fault(entries, "a feed"), [])
    dates = _date_search(_NO_LIMIT)
    result = bare_extraction(
        html, url=url, with_metadata=True, include_comments=False, date_extraction_params=dates
    )
    values = {} if result is None else result if isinstance(result, dict) else result.as_dict()
    title, text = values.get("title") or "", (values.get("text") or "").strip()
    date, address = values.get("date"), values.get("url")
    tree = load_html(html)
    if tree is None:
        return HtmlText(title, text, date, address, fault_of(html, title, text), [])
    about = Metadata(tree, url)
    if about.is_list or not about.is_article:
        is_article = about.is_article or about.meta("og:type").lower() in ("article", "news")
        if stories := stories_of(tree, text, about.host, is_article, about.is_list):
            return HtmlText(title, text, date, address, list_fault(stories), [])
    extracted, title = title, about.title(title)
    if title != extracted and key_of(text.partition("\n")[0]) == key_of(title):
        text = text.partition("\n")[2].strip()  # it was taken for a subtitle
    heading = heading_with(tree, title)
    notes = []
    if text and (further := about.further_page()):
        notes.append(f"the article continues on {further}, which is not read")
    if text:
        text, left_out = whole_body(tree, text, about.body, heading)
        if left_out:
            notes.append(
                f"about {word_count(left_out):,} words may be missing, beginning with {left_out[:60]!r}"
            )
    declared = date_of(about, heading)
    date = declared or (_guessed_date(tree, heading, url) if text else None)
    if text and date and not declared:
        notes.append(f"the date {date} is a guess; give --published if it is wrong")
    return HtmlText(title, text, date, address, fault_of(html, title, text), notes)


def _guessed_date(tree: Any, heading: Any, url: str | None) -> str | None:
    """Return a date that a page shows outside of teasers and other stories; one to come if there is no other.

    Changes the tree.
    """
    from htmldate import find_date

    drop_other_stories(tree, heading)
    for latest in (datetime.now(timezone.utc) + timedelta(days=1), _NO_LIMIT):
        date: str | None = find_date(tree, url=url, **_date_search(latest))
        if date:
            return date
    return None


def _date_search(latest: datetime) -> dict[str, Any]:
    """Return settings of htmldate: the date of publication, from markup and the address.

    Its extensive search tries every number in the text: 4 s instead of 10 ms (decision 140).
    """
    return {"original_date": True, "extensive_search": False, "max_date": latest.strftime("%Y-%m-%d")}
