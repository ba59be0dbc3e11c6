"""Results of a crawl: articles, a state for every address, and a report."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from linker.articles.crawl.store import CrawlStore, PageRow
from linker.articles.crawl.visit import STATES
from linker.articles.links.link_key import link_key
from linker.articles.request import MAX_REDIRECTS
from linker.common.files import write_lines

COLUMNS = ("url", "state", "detail", "status", "final_url", "canonical_url", "article_id", "attempts")


@dataclass
class CrawlReport:
    """Counts of a crawl.

    Attributes:
        read: number of addresses read in this run.
        new: number of those that no earlier run and no earlier line had.
        requests: number of requests of this run.
        states: number of addresses by state, of all runs.
        articles: number of articles.
    """

    read: int
    new: int
    requests: int = 0
    states: Counter[str] = field(default_factory=Counter)
    articles: int = 0

    def sections(self) -> dict[str, dict[str, int]]:
        """Return the sections of counts: first the total, then its parts, which add up to it."""
        repeated = {"repeated, or of an earlier run": self.read - self.new}
        states: dict[str, int] = {state: self.states[state] for state in STATES if self.states[state]}
        return {
            "links": {"read": self.read, **repeated, "new": self.new},
            "addresses": {"in all": self.states.total(), **states},
        }


def write_results(store: CrawlStore, folder: Path, report: CrawlReport) -> None:
    """Write `articles.jsonl` and `states.csv` into a folder, and count states and articles into the report."""
    write_lines(folder / "states.csv", _states(store, report))
    write_lines(folder / "articles.jsonl", _articles(store, report))


def _states(store: CrawlStore, report: CrawlReport) -> Iterator[str]:
    yield _csv(COLUMNS)
    for url, key, page in _links(store):
        report.states[page.state] += 1
        article = key if page.state == "fetched" else None
        columns = (page.status, page.last_url, page.canonical, article, page.attempts)
        yield _csv((url, page.state, page.detail, *columns))


def _articles(store: CrawlStore, report: CrawlReport) -> Iterator[str]:
    seen: set[str | None] = set()
    for url, key, page in _links(store):
        if page.state != "fetched" or key in seen:
            continue
        seen.add(key)
        report.articles += 1
        address = {"url": url, "canonical_url": page.canonical or page.last_url}
        row = {"id": key, "title": page.title, "text": page.text, **address}
        row |= {"published": page.published, "lang": page.language}
        filled = {name: value for name, value in row.items() if value is not None}
        yield json.dumps(filled, ensure_ascii=False) + "\n"


def _links(store: CrawlStore) -> Iterator[tuple[str, str | None, PageRow]]:
    """Address and key of each link, and the page that it leads to."""
    for url, key, number in store.run("SELECT url, key, page FROM link ORDER BY number"):
        page, passed = PageRow(), [number]
        while passed[-1] is not None:
            page = store.page(passed[-1])
            if page.target in passed or len(passed) > MAX_REDIRECTS + 1:
                why = "in a circle" if page.target in passed else f"more than {MAX_REDIRECTS} times"
                page = page._replace(state="redirect loop", detail=f"redirects {why}", target=None)
            passed.append(page.target)
        if page.state == "fetched" and _is_home(page.last_url or "") and not _is_home(f"https://{key}"):
            page = page._replace(state="soft 404", detail="redirects to the home page")
        yield url, key, page


def _is_home(url: str) -> bool:
    parts = urlsplit(f"https://{link_key(url) or ''}")
    return not parts.path.strip("/") and not parts.query


def _csv(values: Iterable[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue()
