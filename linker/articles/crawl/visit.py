"""What came of a visit to a page, and what the robots.txt of its site allows (RFC 9309)."""

import re
import time
from dataclasses import dataclass
from typing import Any, Literal, get_args

from protego import Protego

from linker.articles.extraction import parsed_date
from linker.articles.extraction_process import LimitError, read_html
from linker.articles.fetching import Response
from linker.articles.html.incomplete_pages import FaultKind
from linker.articles.page import RequestError, RequestFault, looks_like_html
from linker.data.languages import language_of
from linker.data.types import Article

State = Literal["fetched", RequestFault, "opt-out", FaultKind, "no article", "not HTML", "waiting"]
#: All states, in the order of the report; `waiting` is not final.
STATES: tuple[State, ...] = get_args(State)
#: States that may be others a little later.
RETRIED: frozenset[State] = frozenset({"too slow", "no connection", "rate limited", "server error"})
AGENT = "linker"
"""Name that groups of robots.txt address this crawler by."""

# What asks for more is a mistake, or meant to keep crawlers away, for which there is Disallow.
_LONGEST_DELAY = 1e6
_RESERVED = re.compile(
    r"<meta\b(?=[^>]{0,300}name\s*=\s*[\"']?tdm-reservation\b)[^>]{0,300}content\s*=\s*[\"']?\s*1\b",
    re.IGNORECASE,
)
_HEAD = 100_000


@dataclass
class Outcome:
    """What came of a visit.

    Attributes:
        url: the last address that was asked.
        state: the state of the page.
        detail: a clause that says more; may be empty.
        status: the last HTTP status; None: no answer.
        retry_at: time, in seconds since 1970, before which the site wants no request; None: not given.
        is_final: whether another attempt is in vain.
        canonical_url: the canonical address that the page declares, if it does.
        article: `title`, `text`, `published` (ISO 8601) and `lang`; None: the page has none.
    """

    url: str
    state: State = "fetched"
    detail: str = ""
    status: int | None = None
    retry_at: float | None = None
    is_final: bool = False
    canonical_url: str | None = None
    article: dict[str, Any] | None = None

    def fail(self, state: State, detail: str) -> None:
        """Take the state of a page without an article."""
        self.state, self.detail = state, detail


class Rules:
    """The rules of one robots.txt.

    Args:
        text: content of the file; empty: everything is allowed.
    """

    def __init__(self, text: str) -> None:
        self._rules = Protego.parse(text.lstrip("\ufeff"))
        delay = self._rules.crawl_delay(AGENT) or 0.0
        self.delay = delay if 0 <= delay < _LONGEST_DELAY else 0.0
        """Seconds between two requests that the site asks for; 0: no wish."""

    def allows(self, url: str) -> bool:
        """Return whether the page at `url` may be fetched."""
        return bool(self._rules.can_fetch(url, AGENT))


def rules_of(response: Response) -> Rules:
    """Return the rules of a robots.txt. Where it is missing, everything is allowed (RFC 9309, section 2.3.1).

    Raises:
        RequestError: if the site cannot deliver it now.
    """
    if response.fault is not None and response.fault in RETRIED:
        raise RequestError(response.fault, f"status {response.status}")
    return Rules("" if response.fault else response.body.decode("utf-8", "replace"))


def judge(response: Response, outcome: Outcome) -> None:
    """Give the outcome the state, and the article, of the response at the end of all redirects."""
    if response.fault:
        outcome.fail(response.fault, f"status {response.status}")
        outcome.retry_at = response.retry_after(time.time())
        return
    html = response.text
    if response.header("tdm-reservation") == "1":
        outcome.fail("opt-out", "header tdm-reservation")
    elif ("html" not in response.type if response.type else not looks_like_html(html)) or "\0" in html:
        outcome.fail("not HTML", response.type or "no content type")
    elif _RESERVED.search(html[:_HEAD]):
        outcome.fail("opt-out", "meta tag tdm-reservation")
    else:
        _extract(html, outcome)


def _extract(html: str, outcome: Outcome) -> None:
    try:
        title, text, date, outcome.canonical_url, fault, _ = read_html(html, outcome.url)
    except LimitError as error:
        outcome.fail("too large", str(error))
        return
    if fault:
        outcome.fail(fault.kind, str(fault))
    elif not text:
        outcome.fail("no article", "no text was found")
    else:
        published, language = parsed_date(date), language_of(Article(outcome.url, text, title))
        outcome.article = {"title": title, "text": text, "published": published and published.isoformat()}
        outcome.article["lang"] = language
