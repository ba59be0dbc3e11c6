"""From a page to its article: title, text, date."""

from __future__ import annotations

import contextlib
import re
from datetime import datetime, timedelta, timezone
from typing import Any

from linker.data.dates import parse_date
from linker.data.types import Article
from linker.errors import FetchError
from linker.progress import stderr
from linker.ranking.page import SAVE_IT, Page

_SHORT = 150
"""Words. A shorter text on a page that asks for a subscription is most likely only the beginning."""

_NO_LIMIT = datetime(9999, 12, 31)

_SCRAP = 10
"""Words. Less is a button or a name, no article."""

_PAYWALL = re.compile(
    r'"isAccessibleForFree"\s*:\s*"?false'
    r"|subscribe (?:now|today|to (?:read|continue|keep|unlock))|subscribers?[ -]only"
    r"|already a (?:subscriber|member)|(?:sign|log) ?in to (?:read|continue|keep)"
    r"|(?:continue|keep) reading|to read the (?:full|rest)|unlock this"
    r"|jetzt weiterlesen|artikel freischalten|réservé aux abonnés|suscríbete para|per gli abbonati",
    re.IGNORECASE,
)


def extract_article(page: Page, article_id: str, name: str | None = None) -> Article:
    """The article on a page. A warning goes to standard error where it looks cut off by a paywall.

    Args:
        page: HTML, or plain text, which is taken as it is (see `article_from_text`).
        article_id: the id of the result.
        name: what messages call the page; its address by default.

    Raises:
        FetchError: there is no article on the page.
    """
    name = name or page.url
    url = page.url or None
    if page.kind == "text":
        return article_from_text(page.content, article_id, url)
    title, text, date, address = _extract(page.content, url)
    if not text:
        hint = "" if url is None else f"; if it shows one in your browser, {SAVE_IT}"
        raise FetchError(
            f"{name}: no article could be found on the page{hint}; or put its text into a .txt file"
        )
    words = len(text.split())
    if words < _SHORT and _PAYWALL.search(page.content):
        _warn(
            f"{name}: only {words} words, and the page speaks of a subscription: the rest may be "
            "missing. With access, open it in your browser, save it, and give the saved file."
        )
    elif words < _SCRAP:
        _warn(f"{name}: only {text!r} was found on the page; is it an article?")
    return Article(article_id, text, title, url or address, date)


def _warn(message: str) -> None:
    stderr.print(f"warning: {message}", style="yellow", highlight=False, markup=False, soft_wrap=True)


def article_from_text(text: str, article_id: str, url: str | None = None) -> Article:
    """An article from plain text or Markdown: a first line with a blank line behind it is the title."""
    lines = text.strip().splitlines()
    if len(lines) > 2 and not lines[1].strip():
        title = lines[0].strip().removeprefix("# ").strip()
        return Article(article_id, "\n".join(lines[2:]).strip(), title, url)
    return Article(article_id, "\n".join(lines), url=url)


def _extract(html: str, url: str | None) -> tuple[str, str, datetime | None, str | None]:
    """Title, text, date and canonical address, empty or None where they are missing."""
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
    """The date of a page without any that has passed: an embargoed story, or one that is set in the future.

    Only asked second: elsewhere a date that is still to come is that of an event.
    """
    from trafilatura import extract_metadata

    date: str | None = extract_metadata(html, url, _date_search(_NO_LIMIT)).date
    return date


def _date_search(latest: datetime) -> dict[str, Any]:
    """Settings of htmldate: the date of publication, from markup and the address.

    Its extensive search guesses at every number in the text: 4 s instead of 10 ms (decision 140).
    """
    return {"original_date": True, "extensive_search": False, "max_date": latest.strftime("%Y-%m-%d")}
