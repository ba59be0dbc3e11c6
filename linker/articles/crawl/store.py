"""The database of a crawl: links, the pages behind them, and the robots.txt of sites. Survives kill -9."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from linker.articles.crawl.visit import Outcome, State, origin_of
from linker.articles.links.link_key import link_key
from linker.articles.links.wrappers import unwrapped
from linker.articles.request import MAX_REDIRECTS
from linker.common.databases import Database, open_database

# A robots.txt is a page with its rules as the text; `not_before` is when it may be asked for, or is to be read again.
_TABLES = """
CREATE TABLE IF NOT EXISTS page (
    id INTEGER PRIMARY KEY, url TEXT, key TEXT, host TEXT, is_robots INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'waiting', detail TEXT, status INTEGER, last_url TEXT, target INTEGER,
    hops INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0, not_before REAL NOT NULL DEFAULT 0,
    title TEXT, text TEXT, published TEXT, canonical TEXT, language TEXT, UNIQUE (url, is_robots)
);
CREATE INDEX IF NOT EXISTS waiting ON page (host, not_before, id) WHERE state = 'waiting' AND NOT is_robots;
CREATE INDEX IF NOT EXISTS by_key ON page (key);
CREATE TABLE IF NOT EXISTS link (number INTEGER PRIMARY KEY, url TEXT UNIQUE, key TEXT, page INTEGER);
CREATE INDEX IF NOT EXISTS link_by_key ON link (key);
CREATE TABLE IF NOT EXISTS archive (id INTEGER PRIMARY KEY, length INTEGER);
"""
_DAMAGED = "damaged, or not the database of a crawl ({}); move it away to start again"
_PROBLEMS = {
    "locked": "another `linker mine fetch` uses this folder; wait for it, or give another --out",
    "not a database": _DAMAGED,
    "malformed": _DAMAGED,
    "no such column": _DAMAGED,
}
WAITING = "page WHERE state = 'waiting' AND NOT is_robots"


class PageRow(NamedTuple):
    """A page of the database; see `Outcome`. The defaults are of a link that is not an address.

    Attributes:
        last_url: the last address that was asked.
        target: number of the page that it redirects to.
        not_before: the time from which on it may be asked for.
    """

    id: int = 0
    url: str = ""
    state: State = "not an address"
    detail: str = "not an http or https address"
    status: int | None = None
    last_url: str | None = None
    target: int | None = None
    hops: int = 0
    attempts: int = 0
    not_before: float = 0.0
    title: str | None = None
    text: str | None = None
    published: str | None = None
    canonical: str | None = None
    language: str | None = None


_ROW = f"SELECT {', '.join(PageRow._fields)} FROM"


def host_of_url(url: str) -> str:
    """Return the host of an address, in lower case."""
    return (urlsplit(url).hostname or "").rstrip(".")


class CrawlStore(Database):
    """The database of a crawl; used by one thread."""

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator[CrawlStore]:
        """Open the database in a file, made if missing, for this process alone.

        Raises:
            LinkerError: if another process uses it, or it is not such a database; if there is no room, also later.
        """
        with open_database(path, _PROBLEMS, timeout=0) as database:
            database.execute("PRAGMA locking_mode = EXCLUSIVE")
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            database.executescript(_TABLES)
            yield cls(database)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write what the block writes completely or not at all."""
        with self.database:
            self.run("BEGIN")
            yield

    def add_links(self, urls: Sequence[str]) -> int:
        """Add links and the pages that they lead to, one for all addresses of an article; return how many are new."""
        before = self.count("link")
        with self.transaction():
            for url in dict.fromkeys(urls):
                if self.run("SELECT 1 FROM link WHERE url = ?", [url]).fetchone():
                    continue
                key, page = link_key(url), None
                if key is not None:
                    # A shortener and the article's own link cause one request.
                    same = self.run(
                        "SELECT page FROM link WHERE key = ? AND page NOT NULL "
                        "UNION ALL SELECT id FROM page WHERE key = ? LIMIT 1",
                        [key, key],
                    ).fetchone()
                    page = same[0] if same else self._add_page(_address(url), key)[0]
                self.run("INSERT INTO link (url, key, page) VALUES (?, ?, ?)", [url, key, page])
        return self.count("link") - before

    def _add_page(self, url: str, key: str | None, hops: int = 0) -> tuple[int, bool]:
        """Add a page; return its number and whether it is new. Where all pages of its host wait, it waits with them."""
        host = host_of_url(url)
        added = self.run(
            "INSERT OR IGNORE INTO page (url, key, host, hops, not_before) VALUES (?, ?, ?, ?, "
            f"coalesce((SELECT min(not_before) FROM {WAITING} AND host = ?), 0))",
            [url, key, host, hops, host],
        )
        (number,) = self.run("SELECT id FROM page WHERE url = ? AND NOT is_robots", [url]).fetchone()
        return number, added.rowcount > 0

    def hosts(self) -> list[tuple[str, float]]:
        """Return the hosts with waiting pages, and the time from which on one may be asked for."""
        return self.run(f"SELECT host, min(not_before) FROM {WAITING} GROUP BY host").fetchall()

    def next_page(self, host: str) -> PageRow | None:
        """Return the first waiting page of a host; None: there is none."""
        row = self.run(f"{_ROW} {WAITING} AND host = ? ORDER BY not_before, id LIMIT 1", [host]).fetchone()
        return row and PageRow(*row)

    def robots(self, page_url: str, now: float) -> PageRow:
        """Return the robots.txt of the site of a page; it is waiting if it is new or out of date."""
        url = f"{origin_of(page_url)}/robots.txt"
        self.run(
            "INSERT OR IGNORE INTO page (url, host, is_robots) VALUES (?, ?, 1)", [url, host_of_url(url)]
        )
        self.run(
            "UPDATE page SET state = 'waiting', attempts = 0 "
            "WHERE url = ? AND is_robots AND state != 'waiting' AND not_before <= ?",
            [url, now],
        )
        return PageRow(*self.run(f"{_ROW} page WHERE url = ? AND is_robots", [url]).fetchone())

    def pause(self, host: str, until: float) -> None:
        """Let the waiting pages of a host wait until a time."""
        self.run(
            f"UPDATE page SET not_before = max(not_before, ?) WHERE id IN (SELECT id FROM {WAITING} AND host = ?)",
            [until, host],
        )

    def wait(self, page: PageRow, outcome: Outcome, not_before: float) -> None:
        """Let a page wait for another attempt."""
        time = datetime.fromtimestamp(not_before, timezone.utc).isoformat(timespec="seconds")
        self.run(
            "UPDATE page SET attempts = attempts + 1, not_before = ?, status = ?, detail = ? WHERE id = ?",
            [not_before, outcome.status, f"{outcome.detail}; next attempt after {time}", page.id],
        )

    def finish(self, page: PageRow, outcome: Outcome, until: float = 0.0) -> str:
        """Give a page its final state, and add the page that it redirects to.

        Args:
            page: the page.
            outcome: what came of its visit.
            until: time at which a robots.txt is out of date.

        Returns:
            Host of the page that it redirects to; empty: there is none, or it is known.
        """
        target, host = None, ""
        if outcome.target:
            hops = page.hops + outcome.hops
            if hops > MAX_REDIRECTS:
                outcome.fail("redirect loop", f"redirects more than {MAX_REDIRECTS} times")
            else:
                target, host = self._target(page, outcome.target, hops)
        values = {
            **{"state": outcome.state, "detail": outcome.detail, "status": outcome.status},
            **{"last_url": outcome.url, "target": target, "attempts": page.attempts + 1, "not_before": until},
            **{"title": outcome.title, "text": outcome.text, "published": outcome.published},
            **{"canonical": outcome.canonical, "language": outcome.language},
        }
        columns = ", ".join(f"{name} = ?" for name in values)
        self.run(f"UPDATE page SET {columns} WHERE id = ?", [*values.values(), page.id])
        return host

    def _target(self, page: PageRow, url: str, hops: int) -> tuple[int, str]:
        """The page of a redirect's target, and its host if it is new: a page with the same key counts as the target."""
        key = link_key(url)
        same = self.run(
            "SELECT id FROM page WHERE key = ? AND key IS NOT (SELECT key FROM page WHERE id = ?) ORDER BY id LIMIT 1",
            [key, page.id],
        ).fetchone()
        if same:
            return same[0], ""
        number, is_new = self._add_page(url, key, hops)
        return number, host_of_url(url) if is_new else ""

    def page(self, number: int) -> PageRow:
        """Return a page by its number."""
        return PageRow(*self.run(f"{_ROW} page WHERE id = ?", [number]).fetchone())

    def archived(self) -> int:
        """Return the length of the WARC file up to the last page that is in the database too; 0: never written."""
        return int(self.run("SELECT coalesce(max(length), 0) FROM archive").fetchone()[0])

    def set_archived(self, length: int) -> None:
        """Keep the length of the WARC file."""
        self.run("INSERT OR REPLACE INTO archive VALUES (1, ?)", [length])


def _address(url: str) -> str:
    """The address to ask for: with a scheme, without wrappers and fragment."""
    url = url.strip()
    if not url[:8].lower().startswith(("http://", "https://")):
        url = f"https://{url.removeprefix('//')}"
    return unwrapped(url).partition("#")[0]
