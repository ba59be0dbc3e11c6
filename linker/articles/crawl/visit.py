"""A visit to one page or one robots.txt: requests, redirects on the same site, and what came of it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

import httpx

from linker.articles.crawl.request import RequestError, Response
from linker.articles.crawl.robots import MAX_BYTES, Rules
from linker.articles.crawl.state import State, state_of_status
from linker.articles.extraction import parsed_date
from linker.articles.extraction_process import LimitError, read_html
from linker.articles.fetching import MAX_REDIRECTS
from linker.articles.incomplete_pages import CONSENT_TEXT, ERROR, word_count
from linker.articles.page import decode, looks_like_html
from linker.data.languages import language_of
from linker.data.types import Article

_CHARSET = re.compile(r"charset=[\"']?([\w.:-]+)", re.IGNORECASE)
_META = re.compile(r"<meta\b[^>]{0,300}>", re.IGNORECASE)
_RESERVED = re.compile(r"name\s*=\s*[\"']?tdm-reservation\b", re.IGNORECASE)
_ONE = re.compile(r"content\s*=\s*[\"']?\s*1\b", re.IGNORECASE)
_HEAD = 100_000
_ON_THE_WEB = re.compile(r"https?://[^/\s]", re.IGNORECASE)

Ask = Callable[[str, httpx.Cookies, bool], Response]
"""Asks for an address (with cookies; whether it is a robots.txt); raises `RequestError`."""


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


def origin_of(url: str) -> str:
    """Return scheme, host and port of an address."""
    parts = urlsplit(url)
    return f"{parts.scheme.lower()}://{parts.netloc.rpartition('@')[2].lower()}"


def visit_page(url: str, rules: Rules, ask: Ask) -> Outcome:
    """Visit a page; redirects are followed as long as they stay on the site.

    Args:
        url: address of the page, which `rules` allow.
        rules: robots.txt of the site.
        ask: sends a request.
    """
    outcome = Outcome("fetched", url)
    # Cookies are kept across redirects: some sites redirect in circles without them.
    cookies = httpx.Cookies()
    while True:
        try:
            response = ask(outcome.url, cookies, False)
        except RequestError as error:
            outcome.state, outcome.detail = error.state, error.detail
            return outcome
        outcome.responses.append(response)
        outcome.status = response.status
        if not response.redirects:
            _judge(response, outcome)
            return outcome
        outcome.hops += 1
        target = _target(response)
        if not target:
            outcome.state, outcome.detail = "other status", "redirects without a valid address"
        elif outcome.hops > MAX_REDIRECTS:
            outcome.state, outcome.detail = "redirect loop", f"redirects more than {MAX_REDIRECTS} times"
        elif origin_of(target) != origin_of(url):
            outcome.state, outcome.target = "redirected", target
        elif not rules.allows(target):
            outcome.state, outcome.url = "robots.txt", target
        else:
            outcome.url = target
            continue
        return outcome


def visit_robots(origin: str, ask: Ask) -> Outcome:
    """Visit the robots.txt of a site. Where it is missing, everything is allowed (RFC 9309, section 2.3.1).

    Args:
        origin: scheme, host and port of the site.
        ask: sends a request.
    """
    outcome = Outcome("fetched", f"{origin}/robots.txt")
    while True:
        try:
            response = ask(outcome.url, httpx.Cookies(), True)
        except RequestError as error:
            outcome.state, outcome.detail = error.state, f"robots.txt: {error.detail}"
            if error.state in ("too large", "not an address"):
                outcome.state = "no connection"
            return outcome
        outcome.responses.append(response)
        outcome.status = response.status
        if not response.redirects:
            break
        outcome.hops += 1
        target = _target(response)
        if not target or outcome.hops > MAX_REDIRECTS:
            return outcome
        outcome.url = target
    if 200 <= response.status < 300:
        outcome.rules = response.body[:MAX_BYTES].decode("utf-8", "replace")
    elif response.status == 429 or response.status >= 500:
        outcome.state = state_of_status(response.status)
        outcome.detail = f"robots.txt: status {response.status}"
        outcome.retry_at = response.retry_after(time.time())
    return outcome


def _target(response: Response) -> str:
    """The address that a response redirects to, without fragment; empty if there is none on the web."""
    try:
        target = urljoin(response.url, response.header("location").strip()).partition("#")[0]
        url = str(httpx.URL(target))
    except (ValueError, httpx.InvalidURL):
        return ""
    return url if response.header("location").strip() and _ON_THE_WEB.match(url) else ""


def _judge(response: Response, outcome: Outcome) -> None:
    """Give the outcome the state, and the article, of a response that is no redirect."""
    if not 200 <= response.status < 300:
        outcome.state, outcome.detail = state_of_status(response.status), f"status {response.status}"
        outcome.retry_at = response.retry_after(time.time())
        return
    if response.header("tdm-reservation").strip() == "1":
        _opt_out(outcome, "header tdm-reservation")
        return
    kind = response.header("content-type")
    charset = _CHARSET.search(kind)
    html = decode(response.body, charset and charset[1])
    named = kind.partition(";")[0].strip().lower()
    if (named and "html" not in named) or (not named and not looks_like_html(html)) or "\0" in html:
        outcome.state, outcome.detail = "not HTML", named or "no content type"
        return
    if any(_RESERVED.search(tag) and _ONE.search(tag) for tag in _META.findall(html[:_HEAD])):
        _opt_out(outcome, "meta tag tdm-reservation")
        return
    _extract(html, outcome)


def _opt_out(outcome: Outcome, detail: str) -> None:
    outcome.state, outcome.detail = "opt-out", detail
    # What is reserved is not kept, in WARC files neither.
    last = outcome.responses[-1]
    outcome.responses[-1] = Response(last.url, last.status, last.headers)


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
    elif word_count(text) < CONSENT_TEXT and ERROR.match(title):
        outcome.state, outcome.detail = "soft 404", f"an error page ({title[:60]!r})"
    else:
        outcome.article = Article(outcome.url, text, title, outcome.url, parsed_date(date))
        outcome.language = language_of(outcome.article)
