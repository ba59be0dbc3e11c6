"""The results of a crawl: articles, a state for every address, and a report."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from rich.table import Table

from linker.articles.crawl.state import STATES
from linker.articles.crawl.store import CrawlStore
from linker.articles.fetching import MAX_REDIRECTS
from linker.articles.links.link_key import link_key
from linker.common.console import table_of_counts
from linker.common.files import write_lines

COLUMNS = ("url", "state", "detail", "status", "final_url", "canonical_url", "article_id", "attempts")


class _Page(NamedTuple):
    state: str
    detail: str | None
    status: int | None
    last_url: str | None
    target: int | None
    attempts: int
    canonical: str | None


@dataclass
class CrawlReport:
    """Counts of a crawl; each address is in one row, and the rows of a section add up to its first figure.

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
        """Return the sections of counts: first the total, then its parts."""
        return {
            "links": {
                "read": self.read,
                "repeated, or of an earlier run": self.read - self.new,
                "new": self.new,
            },
            "addresses": {
                "in all": self.states.total(),
                **{state: self.states[state] for state in STATES if self.states[state]},
            },
        }

    def table(self) -> Table:
        """Return the report as a table for the terminal."""
        return table_of_counts(self.sections())


def write_results(store: CrawlStore, folder: Path, report: CrawlReport) -> None:
    """Write `articles.jsonl` and `states.csv`, and count into the report.

    Args:
        store: the crawl.
        folder: an existing folder.
        report: receives states and articles.
    """
    report.states.clear()
    report.articles = 0
    write_lines(folder / "states.csv", _states(store, report))
    write_lines(folder / "articles.jsonl", _articles(store, report))


def _states(store: CrawlStore, report: CrawlReport) -> Iterator[str]:
    yield _csv(COLUMNS)
    for url, key, page in _links(store):
        state, detail, last, _ = _resolved(store, url, key, page)
        report.states[state] += 1
        yield _csv(
            (
                url,
                state,
                detail,
                last.status if last else None,
                last.last_url if last else None,
                last.canonical if last else None,
                key if state == "fetched" else None,
                last.attempts if last else 0,
            )
        )


def _articles(store: CrawlStore, report: CrawlReport) -> Iterator[str]:
    seen: set[str] = set()
    for url, key, page in _links(store):
        state, _, last, number = _resolved(store, url, key, page)
        if state != "fetched" or key is None or key in seen:
            continue
        seen.add(key)
        report.articles += 1
        title, text, published, language = store.database.execute(
            "SELECT title, text, published, language FROM page WHERE id = ?", [number]
        ).fetchone()
        row: dict[str, Any] = {
            "id": key,
            "title": title,
            "text": text,
            "url": url,
            "canonical_url": last and (last.canonical or last.last_url),
            "published": published,
            "lang": language,
        }
        filled = {name: value for name, value in row.items() if value is not None}
        yield json.dumps(filled, ensure_ascii=False) + "\n"


def _links(store: CrawlStore) -> Iterator[tuple[str, str | None, int | None]]:
    yield from store.database.execute("SELECT url, key, page FROM link ORDER BY place")


def _resolved(
    store: CrawlStore, url: str, key: str | None, page: int | None
) -> tuple[str, str, _Page | None, int | None]:
    """State and detail of a link, and the page at the end of its redirects with its number."""
    if page is None:
        return "not an address", "not an http or https address", None, None
    seen: set[int] = set()
    while True:
        row = store.database.execute(
            "SELECT state, detail, status, last_url, target, attempts, canonical FROM page WHERE id = ?",
            [page],
        ).fetchone()
        last = _Page(*row)
        if last.state != "redirected" or last.target is None:
            break
        seen.add(page)
        if last.target in seen or len(seen) > MAX_REDIRECTS:
            why = "in a circle" if last.target in seen else f"more than {MAX_REDIRECTS} times"
            return "redirect loop", f"redirects {why}", last, page
        page = last.target
    if last.state == "fetched" and _is_home(last.last_url or "") and not _is_home(f"https://{key}"):
        return "soft 404", "redirects to the home page", last, page
    return last.state, last.detail or "", last, page


def _is_home(url: str) -> bool:
    parts = urlsplit(f"https://{link_key(url) or ''}")
    return not parts.path.strip("/") and not parts.query


def _csv(values: tuple[object, ...]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(["" if value is None else value for value in values])
    return line.getvalue()
