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
_ONE = re.compile(r"content\s*=\s*[\"']?\s*1\b", re.IGNORECASE)
_HEAD = 100_000

Ask = Callable[[str, httpx.Cookies, bool], Response]
"""Asks for an address (with cookies; whether it is a robots.txt); raises `PageError`."""


@dataclass
class Outcome:
    """What came of a visit.

    Attributes:
        state: the state of the page; for a robots.txt, `fetched` or why it could not be read.
        url: the last address that was asked.
        detail: a clause that says more.
        status: the last HTTP status; None: no response.
        target: address of another site that the page redirects to; empty: none.
        hops: number of redirects followed.
        retry_at: time, in seconds since 1970, before which the site wants no request; None: not given.
        article: title, text and date of the page; None: no article.
        canonical: the canonical address that the page declares; empty: none.
        language: ISO 639-1 code of the article's language; None: unknown.
        rules: content of the robots.txt.
        responses: the responses, in order.
    """

    state: State
    url: str
    detail: str = ""
    status: int | None = None
    target: str = ""
    hops: int = 0
    retry_at: float | None = None
    article: Article | None = None
    canonical: str = ""
    language: str | None = None
    rules: str = ""
    responses: list[Response] = field(default_factory=list)

    def fail(self, state: State, response: Response) -> None:
        """Take the state of a status that is neither a success nor a redirect."""
        self.state, self.detail = state, f"status {response.status}"
        self.retry_at = response.retry_after(time.time())


def origin_of(url: str) -> str:
    """Return scheme, host and port of an address."""
    parts = urlsplit(url)
    return f"{parts.scheme.lower()}://{parts.netloc.rpartition('@')[2].lower()}"


def visit_page(url: str, rules: Rules, ask: Ask) -> Outcome:
    """Visit a page that the rules of its site allow; redirects are followed as long as they stay on the site."""
    outcome = Outcome("fetched", url)

    def may_follow(target: str) -> bool:
        if origin_of(target) != origin_of(url):
            outcome.state, outcome.target = "redirected", target
        elif not rules.allows(target):
            outcome.state, outcome.url = "robots.txt", target
        return outcome.state == "fetched"

    response = _last_response(outcome, ask, False, may_follow)
    if response is not None:
        _judge(response, outcome)
    return outcome


def visit_robots(origin: str, ask: Ask) -> Outcome:
    """Visit the robots.txt of a site. Where it is missing, everything is allowed (RFC 9309, section 2.3.1)."""
    outcome = Outcome("fetched", f"{origin}/robots.txt")
    response = _last_response(outcome, ask, True, lambda target: True)
    if response is None:
        is_lost = outcome.state in ("other status", "redirect loop")
        is_unread = outcome.state in ("too large", "not an address")
        outcome.state = "fetched" if is_lost else "no connection" if is_unread else outcome.state
    elif not response.fault:
        outcome.rules = response.body[:MAX_ROBOTS].decode("utf-8", "replace")
    elif response.fault in RETRIED:
        outcome.fail(response.fault, response)
    outcome.detail = outcome.detail and f"robots.txt: {outcome.detail}"
    return outcome


def _last_response(
    outcome: Outcome, ask: Ask, robots: bool, may_follow: Callable[[str], bool]
) -> Response | None:
    """Return the response at the end of the redirects; None: there is none, the outcome has the reason."""
    # Cookies are kept across redirects: some sites redirect in circles without them.
    cookies = httpx.Cookies()
    while True:
        try:
            response = ask(outcome.url, cookies, robots)
        except RequestError as error:
            outcome.state, outcome.detail = error.kind, str(error)
            return None
        outcome.responses.append(response)
        outcome.status = response.status
        if not response.redirects:
            return response
        outcome.hops += 1
        if not response.target:
            outcome.state, outcome.detail = "other status", "redirects without a valid address"
        elif outcome.hops > MAX_REDIRECTS:
            outcome.state, outcome.detail = "redirect loop", f"redirects more than {MAX_REDIRECTS} times"
        elif may_follow(response.target):
            outcome.url = response.target
            continue
        return None


def _judge(response: Response, outcome: Outcome) -> None:
    """Give the outcome the state, and the article, of a response that is no redirect."""
    if response.fault:
        outcome.fail(response.fault, response)
        return
    html = response.text
    if response.header("tdm-reservation") == "1":
        outcome.state, outcome.detail = "opt-out", "header tdm-reservation"
    elif ("html" not in response.type if response.type else not looks_like_html(html)) or "\0" in html:
        outcome.state, outcome.detail = "not HTML", response.type or "no content type"
    elif any(_RESERVED.search(tag) and _ONE.search(tag) for tag in _META.findall(html[:_HEAD])):
        outcome.state, outcome.detail = "opt-out", "meta tag tdm-reservation"
    else:
        _extract(html, outcome)
    if outcome.state == "opt-out":
        # What is reserved is not kept, in WARC files neither.
        outcome.responses[-1] = replace(response, raw=b"", body=b"")


def _extract(html: str, outcome: Outcome) -> None:
    try:
        title, text, date, canonical, fault, _ = read_html(html, outcome.url)
    except LimitError as error:
        outcome.state, outcome.detail = "too large", str(error)
        return
    outcome.canonical = canonical or ""
    if fault:
        outcome.state, outcome.detail = fault.kind, str(fault)
    elif not text:
        outcome.state, outcome.detail = "no article", "no text was found"
    elif word_count(text) < CONSENT_TEXT and is_error(title):
        outcome.state, outcome.detail = "soft 404", f"an error page ({title[:60]!r})"
    else:
        outcome.article = Article(outcome.url, text, title, outcome.url, parsed_date(date))
        outcome.language = language_of(outcome.article)
