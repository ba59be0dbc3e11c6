"""Rankings as HTML: a self-contained page, and a table for notebooks."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timezone
from functools import lru_cache
from importlib.resources import files
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from linker.ranking.explanation import printable
from linker.ranking.post_links import link_of
from linker.ranking.ranked_post import QueryResult, RankedPost

if TYPE_CHECKING:
    from jinja2 import Environment

TOP = 1_000
"""Default number of posts on a page."""
_IN_NOTEBOOKS = 20
_BEGINNING = 20_000
"""Number of characters of an article to show."""
_LONGEST_FIELD = 60
"""Number of characters of a field of the platform, such as likes, to show at most."""
_ARTICLE_WORDS, _TELLING = 20, 20
"""Number of article words to show, and number of posts to choose them by."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# A post must not change the text direction of what follows.
_DIRECTIONS = re.compile(r"[\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def write_page(file: IO[str], rankings: Sequence[QueryResult]) -> None:
    """Write articles, and posts as tables that can be sorted and searched, with marked words and links."""
    from markupsafe import Markup

    page = (
        _environment()
        .get_template("page.html")
        .stream(
            rankings=rankings,
            most=TOP,
            beginning=_BEGINNING,
            heaviest=_heaviest,
            longest_field=_LONGEST_FIELD,
            style=Markup(_part("page.css")),  # ours
            script=Markup(_part("page.js")),
        )
    )
    file.writelines(page)


def as_table(ranking: QueryResult, heading: str) -> str:
    """Return a table of the first 20 posts for notebooks, with explained words in <mark>."""
    template = _environment().get_template("notebook.html")
    return template.render(
        ranking=ranking[:_IN_NOTEBOOKS], count=len(ranking), heading=heading, meaning=ranking.meaning
    ).replace("\n", "")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    """Return the templates; they escape all values."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("linker.ranking", "formats"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "clean": _clean,
        "day_or_minute": _day_or_minute,
        "hash": _hash,
        "host": _host,
        "link_of": link_of,
        "name": lambda article: _clean(article.title or article.text[:80] or article.id),
        "one_line": printable,
        "two_digits": lambda number: "" if number is None else f"{number:.2f}",
    }
    return environment


def _part(name: str) -> str:
    return files("linker.ranking.formats").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash by which the content security policy allows an inline style or script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _host(url: str | None) -> str:
    """Return the host of a web address, which may be a link; empty for other addresses."""
    parts = urlsplit(url) if url and "://" in url else None
    return parts.netloc if parts is not None and parts.scheme in ("http", "https") else ""


def _heaviest(ranking: Sequence[RankedPost]) -> list[str]:
    """Return the article words with the highest weight for the first posts."""
    totals: Counter[str] = Counter()
    for ranked in ranking[:_TELLING]:
        totals.update(dict(ranked.explanation.article_words) if ranked.explanation else {})
    return sorted(totals, key=lambda word: (-totals[word], word))[:_ARTICLE_WORDS]


def _day_or_minute(moment: datetime) -> str:
    utc = moment.astimezone(timezone.utc) if moment.tzinfo else moment
    return f"{utc:%Y-%m-%d}" if (utc.hour, utc.minute, utc.second) == (0, 0, 0) else f"{utc:%Y-%m-%d %H:%M}"


def _clean(text: str) -> str:
    """Return untrusted text without control characters and characters that change its direction."""
    return _DIRECTIONS.sub("", _CONTROL.sub(" ", text))
