"""The database of a crawl: links, the pages behind them, and what is known of sites. Survives kill -9."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from linker.articles.crawl.request import date_of, host_of_url
from linker.articles.crawl.state import State
from linker.articles.crawl.visit import Outcome
from linker.articles.fetching import MAX_REDIRECTS
from linker.articles.links.link_key import link_key
from linker.articles.links.wrappers import unwrapped
from linker.common.databases import open_database

_TABLES = """
CREATE TABLE IF NOT EXISTS page (
    id INTEGER PRIMARY KEY, url TEXT UNIQUE, key TEXT, host TEXT, state TEXT NOT NULL DEFAULT 'waiting', detail TEXT,
    status INTEGER, last_url TEXT, target INTEGER, hops INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,
    not_before REAL NOT NULL DEFAULT 0, title TEXT, text TEXT, published TEXT, canonical TEXT, language TEXT
);
CREATE INDEX IF NOT EXISTS waiting ON page (host, not_before, id) WHERE state = 'waiting';
CREATE INDEX IF NOT EXISTS by_key ON page (key);
CREATE TABLE IF NOT EXISTS link (place INTEGER PRIMARY KEY, url TEXT UNIQUE, key TEXT, page INTEGER);
CREATE INDEX IF NOT EXISTS link_by_key ON link (key);
CREATE TABLE IF NOT EXISTS robots (
    origin TEXT PRIMARY KEY, text TEXT, state TEXT, detail TEXT, attempts INTEGER, until REAL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pause (host TEXT PRIMARY KEY, until REAL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS archive (length INTEGER);
"""
_AT_ONCE = 10_000
_DAMAGED = "damaged, or not the database of a crawl ({}); move it away to start again"
_PROBLEMS = {
    "locked": "another `linker fetch` uses this folder; wait for it, or give another --out",
    "not a database": _DAMAGED,
    "malformed": _DAMAGED,
    "no such column": _DAMAGED,
}


class WaitingPage(NamedTuple):
    """A page to visit."""

    id: int
    url: str
    hops: int
    attempts: int


class RobotsRow(NamedTuple):
    """What is known of the robots.txt of a site; `state` is `fetched`, `waiting`, or why it cannot be read."""

    text: str
    state: State
    detail: str
    attempts: int
    until: float


class CrawlStore:
    """The database of a crawl; used by one thread.

    Args:
        database: an open connection.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database

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

    def add_links(self, urls: Iterable[str]) -> tuple[int, int]:
        """Add links and the pages that they lead to, one for all addresses of an article.

        Returns:
            Number of addresses read, and of those that are new.
        """
        before = self.count("link")
        read = 0
        self.database.execute("BEGIN")
        for url in urls:
            read += 1
            self._add_link(url)
            if read % _AT_ONCE == 0:
                self.database.execute("COMMIT")
                self.database.execute("BEGIN")
        self.database.execute("COMMIT")
        return read, self.count("link") - before

    def _add_link(self, url: str) -> None:
        run = self.database.execute
        if run("SELECT 1 FROM link WHERE url = ?", [url]).fetchone():
            return
        key = link_key(url)
        page = None
        if key is not None:
            found = run(
                "SELECT page FROM link WHERE key = ? AND page NOT NULL "
                "UNION ALL SELECT id FROM page WHERE key = ? LIMIT 1",
                [key, key],
            ).fetchone()
            page = found[0] if found else self._add_page(_address(url), key, 0)
        run("INSERT INTO link (url, key, page) VALUES (?, ?, ?)", [url, key, page])

    def _add_page(self, url: str, key: str | None, hops: int) -> int:
        run = self.database.execute
        run(
            "INSERT OR IGNORE INTO page (url, key, host, hops) VALUES (?, ?, ?, ?)",
            [url, key, host_of_url(url), hops],
        )
        return int(run("SELECT id FROM page WHERE url = ?", [url]).fetchone()[0])

    def hosts(self) -> list[tuple[str, float]]:
        """Return the hosts with waiting pages, and the time from which on one may be asked for."""
        return self.database.execute(
            "SELECT page.host, max(min(not_before), coalesce(max(until), 0)) FROM page "
            "LEFT JOIN pause USING (host) WHERE state = 'waiting' GROUP BY page.host"
        ).fetchall()

    def next_page(self, host: str) -> tuple[WaitingPage, float] | None:
        """Return the first waiting page of a host, and the time from which on it may be asked for; None: no page."""
        row = self.database.execute(
            "SELECT id, url, hops, attempts, not_before FROM page WHERE state = 'waiting' AND host = ? "
            "ORDER BY not_before, id LIMIT 1",
            [host],
        ).fetchone()
        return None if row is None else (WaitingPage(*row[:4]), row[4])

    def count(self, table: str) -> int:
        """Return the number of rows of a table."""
        return int(self.database.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    def count_waiting(self) -> int:
        """Return the number of waiting pages."""
        return int(self.database.execute("SELECT count(*) FROM page WHERE state = 'waiting'").fetchone()[0])

    def robots(self, origin: str) -> RobotsRow | None:
        """Return what is known of the robots.txt of a site; None: nothing."""
        row = self.database.execute(
            "SELECT text, state, detail, attempts, until FROM robots WHERE origin = ?", [origin]
        ).fetchone()
        return None if row is None else RobotsRow(*row)

    def set_robots(self, origin: str, row: RobotsRow) -> None:
        """Keep what is known of the robots.txt of a site."""
        self.database.execute("INSERT OR REPLACE INTO robots VALUES (?, ?, ?, ?, ?, ?)", [origin, *row])

    def pause(self, host: str, until: float) -> None:
        """Keep that a host wants no request before a time."""
        self.database.execute("INSERT OR REPLACE INTO pause VALUES (?, ?)", [host, until])

    def wait(self, page: WaitingPage, outcome: Outcome, not_before: float) -> None:
        """Let a page wait for another attempt."""
        self.database.execute(
            "UPDATE page SET attempts = attempts + 1, not_before = ?, status = ?, detail = ? WHERE id = ?",
            [
                not_before,
                outcome.status,
                f"{outcome.detail}; next attempt after {date_of(not_before)}",
                page.id,
            ],
        )

    def finish(self, page: WaitingPage, outcome: Outcome) -> str:
        """Give a page its final state, and add the page that it redirects to.

        Returns:
            Host of the page that it redirects to; empty: there is none, or it is known.
        """
        target, host = None, ""
        if outcome.target:
            hops = page.hops + outcome.hops
            if hops > MAX_REDIRECTS:
                outcome.state, outcome.detail = "redirect loop", f"redirects more than {MAX_REDIRECTS} times"
            else:
                target, host = self._target(page, outcome.target, hops)
        article = outcome.article
        date = article and article.published and article.published.isoformat()
        self.database.execute(
            "UPDATE page SET state = ?, detail = ?, status = ?, last_url = ?, target = ?, attempts = attempts + 1, "
            "title = ?, text = ?, published = ?, canonical = ?, language = ? WHERE id = ?",
            [
                *(outcome.state, outcome.detail, outcome.status, outcome.url, target),
                *((article.title, article.text) if article else (None, None)),
                *(date, outcome.canonical or None, outcome.language, page.id),
            ],
        )
        return host

    def _target(self, page: WaitingPage, url: str, hops: int) -> tuple[int, str]:
        """The page of a redirect's target, and its host if it is new: a page with the same key counts as the target."""
        run = self.database.execute
        key = link_key(url)
        (own,) = run("SELECT key FROM page WHERE id = ?", [page.id]).fetchone()
        same = "SELECT id FROM page WHERE key = ? AND key <> ? ORDER BY id LIMIT 1"
        if found := run(same, [key, own or ""]).fetchone():
            return int(found[0]), ""
        before = self.count_of(url)
        number = self._add_page(url, key, hops)
        return number, "" if before else host_of_url(url)

    def archived(self) -> int | None:
        """Return the length of the WARC file up to the last page that is in the database too; None: never written."""
        row = self.database.execute("SELECT max(length) FROM archive").fetchone()
        return None if row is None or row[0] is None else int(row[0])

    def set_archived(self, length: int) -> None:
        """Keep the length of the WARC file."""
        self.database.execute("DELETE FROM archive")
        self.database.execute("INSERT INTO archive VALUES (?)", [length])

    def count_of(self, url: str) -> int:
        """Return 1 if there is a page with exactly this address, else 0."""
        return int(self.database.execute("SELECT count(*) FROM page WHERE url = ?", [url]).fetchone()[0])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write what the block writes completely or not at all."""
        self.database.execute("BEGIN")
        try:
            yield
        except BaseException:
            self.database.execute("ROLLBACK")
            raise
        self.database.execute("COMMIT")


def _address(url: str) -> str:
    """The address to ask for: with a scheme, without wrappers and fragment."""
    url = url.strip()
    if not url[:8].lower().startswith(("http://", "https://")):
        url = f"https://{url.removeprefix('//')}"
    return unwrapped(url).partition("#")[0]
