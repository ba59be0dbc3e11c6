"""A visit to one page or one robots.txt: requests, redirects on the same site, and what came of it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, get_args
from urllib.parse import urlsplit

import httpx

from linker.articles.crawl.politeness import MAX_ROBOTS, Rules
from linker.articles.extraction import parsed_date
from linker.articles.extraction_process import LimitError, read_html
from linker.articles.html.incomplete_pages import CONSENT_TEXT, FaultKind, is_error
from linker.articles.page import RequestError, RequestFault, looks_like_html, word_count
from linker.articles.request import MAX_REDIRECTS, Response, StatusFault
from linker.data.languages import language_of
from linker.data.types import Article

State = Literal[
    "fetched",
    "robots.txt",
    "opt-out",
    StatusFault,
    FaultKind,
    "no article",
    "not HTML",
    RequestFault,
    "redirect loop",
    "redirected",
    "waiting",
]
#: All states, in the order of the report. `redirected` is a page that leads to another one, which has the outcome;
#: `waiting` is not final.
STATES: tuple[State, ...] = get_args(State)
#: States that may be others a little later.
RETRIED: frozenset[State] = frozenset({"too slow", "no connection", "rate limited", "server error"})

_META = re.compile(r"<meta\b[^>]{0,300}>", re.IGNORECASE)
_RESERVED = re.compile(r"name\s*=\s*[\"']?tdm-reservation\b", re.IGNORECASE)
_RESERVED_CONTENT = re.compile(r"content\s*=\s*[\"']?\s*1\b", re.IGNORECASE)
_HEAD = 100_000


@dataclass
class Outcome:
    """What came of a visit; an empty text or None where there is nothing.

    Attributes:
        state: the state of the page; for a robots.txt, `fetched` or why it could not be read.
        url: the last address that was asked.
        detail: a clause that says more.
        status: the last HTTP status.
        target: address of another site that the page redirects to.
        hops: number of redirects followed.
        retry_at: time, in seconds since 1970, before which the site wants no request.
        title: title of the article.
        text: text of the article, or content of the robots.txt.
        published: date of the article in ISO 8601.
        canonical: the canonical address that the page declares.
        language: ISO 639-1 code of the article's language.
        responses: the responses, in order.
    """

    state: State
    url: str
    detail: str = ""
    status: int | None = None
    target: str = ""
    hops: int = 0
    retry_at: float | None = None
    title: str | None = None
    text: str | None = None
    published: str | None = None
    canonical: str | None = None
    language: str | None = None
    responses: list[Response] = field(default_factory=list)

    def fail(self, state: State, detail: str) -> None:
        """Take a state that ends the visit."""
        self.state, self.detail = state, detail


def origin_of(url: str) -> str:
    """Return scheme, host and port of an address."""
    parts = urlsplit(url)
    return f"{parts.scheme.lower()}://{parts.netloc.rpartition('@')[2].lower()}"


def visit(url: str, rules: Rules | None, ask: Callable[[str, httpx.Cookies], Response]) -> Outcome:
    """Visit a page that the rules of its site allow, or a robots.txt.

    Args:
        url: the address. Redirects of a page are followed as long as they stay on its site.
        rules: the rules of the site; None: `url` is its robots.txt.
        ask: asks for an address with cookies; raises `RequestError`.
    """
    outcome = Outcome("fetched", url)
    # Cookies are kept across redirects: some sites redirect in circles without them.
    cookies = httpx.Cookies()
    try:
        while (response := ask(outcome.url, cookies)).redirects:
            outcome.responses.append(response)
            outcome.status, outcome.hops, target = response.status, outcome.hops + 1, response.target
            if not target:
                outcome.fail("other status", "redirects without a valid address")
            elif outcome.hops > MAX_REDIRECTS:
                outcome.fail("redirect loop", f"redirects more than {MAX_REDIRECTS} times")
            elif rules is not None and origin_of(target) != origin_of(url):
                outcome.state, outcome.target = "redirected", target
            else:
                outcome.url = target
                if rules is None or rules.allows(target):
                    continue
                outcome.state = "robots.txt"
            break
        else:
            outcome.responses.append(response)
            outcome.status = response.status
    except RequestError as error:
        outcome.fail(error.kind, str(error))
    if rules is None:
        _read_rules(outcome)
    elif outcome.state == "fetched":
        _judge(outcome)
    return outcome


def _read_rules(outcome: Outcome) -> None:
    """Take the rules of a robots.txt. Where it is missing, everything is allowed (RFC 9309, section 2.3.1)."""
    outcome.text = ""
    if outcome.state in ("other status", "redirect loop"):
        outcome.state = "fetched"
    elif outcome.state in ("too large", "not an address"):
        outcome.state = "no connection"
    elif outcome.state == "fetched":
        response = outcome.responses[-1]
        if not response.fault:
            outcome.text = response.body[:MAX_ROBOTS].decode("utf-8", "replace")
        elif response.fault in RETRIED:
            outcome.fail(response.fault, f"status {response.status}")
            outcome.retry_at = response.retry_after(time.time())
    outcome.detail = outcome.detail and f"robots.txt: {outcome.detail}"


def _judge(outcome: Outcome) -> None:
    """Give the outcome the state, and the article, of its last response."""
    response = outcome.responses[-1]
    if response.fault:
        outcome.fail(response.fault, f"status {response.status}")
        outcome.retry_at = response.retry_after(time.time())
        return
    html = response.text
    tags = _META.findall(html[:_HEAD])
    if response.header("tdm-reservation") == "1":
        outcome.fail("opt-out", "header tdm-reservation")
    elif ("html" not in response.type if response.type else not looks_like_html(html)) or "\0" in html:
        outcome.fail("not HTML", response.type or "no content type")
    elif any(_RESERVED.search(tag) and _RESERVED_CONTENT.search(tag) for tag in tags):
        outcome.fail("opt-out", "meta tag tdm-reservation")
    else:
        _extract(html, outcome)
    if outcome.state == "opt-out":
        # What is reserved is not kept, in WARC files neither.
        outcome.responses[-1] = replace(response, raw=b"", body=b"")


def _extract(html: str, outcome: Outcome) -> None:
    try:
        title, text, date, outcome.canonical, fault, _ = read_html(html, outcome.url)
    except LimitError as error:
        outcome.fail("too large", str(error))
        return
    if fault:
        outcome.fail(fault.kind, str(fault))
    elif not text:
        outcome.fail("no article", "no text was found")
    elif word_count(text) < CONSENT_TEXT and is_error(title):
        outcome.fail("soft 404", f"an error page ({title[:60]!r})")
    else:
        published = parsed_date(date)
        outcome.title, outcome.text = title, text
        outcome.published = published.isoformat() if published else None
        outcome.language = language_of(Article(outcome.url, text, title))
