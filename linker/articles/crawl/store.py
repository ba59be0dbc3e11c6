"""The database of a crawl: links and the pages behind them. Survives kill -9."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from sqlite3 import Connection
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from linker.articles.crawl.visit import Outcome, State
from linker.common.databases import open_database
from linker.data.links.link_key import link_key
from linker.data.links.wrappers import unwrapped

# All keys that lead to a page: those of its links, and those of the addresses that these redirect to.
_TABLES = """
CREATE TABLE IF NOT EXISTS link (number INTEGER PRIMARY KEY, url TEXT UNIQUE, key TEXT);
CREATE TABLE IF NOT EXISTS key (key TEXT PRIMARY KEY, page INTEGER);
CREATE INDEX IF NOT EXISTS by_page ON key (page);
CREATE TABLE IF NOT EXISTS page (
    id INTEGER PRIMARY KEY, url TEXT, host TEXT, state TEXT NOT NULL DEFAULT 'waiting', detail TEXT, status INTEGER,
    final_url TEXT, canonical_url TEXT, attempts INTEGER NOT NULL DEFAULT 0, not_before REAL NOT NULL DEFAULT 0,
    article TEXT
);
CREATE INDEX IF NOT EXISTS waiting ON page (host, not_before, id) WHERE state = 'waiting';
"""
_DAMAGED = "damaged, or not the database of a crawl ({}); move it away to start again"
_PROBLEMS = {
    "locked": "another `linker mine fetch` uses this folder; wait for it, or give another --out",
    "not a database": _DAMAGED,
    "malformed": _DAMAGED,
    "no such column": _DAMAGED,
}


class WaitingPage(NamedTuple):
    """A page to be visited; not before a time, in seconds since 1970."""

    id: int
    url: str
    host: str
    attempts: int
    not_before: float


def host_of_url(url: str) -> str:
    """Return the host of an address, in lower case."""
    return (urlsplit(url).hostname or "").rstrip(".")


class CrawlStore:
    """The database of a crawl; used by one thread at a time."""

    def __init__(self, database: Connection) -> None:
        self.database = database
        self.run = database.execute

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
        """Add links, and a page for all addresses of an article; return how many links are new."""
        count = "SELECT count(*) FROM link"
        (before,) = self.run(count).fetchone()
        with self.transaction():
            for url in urls:
                key = link_key(url)
                self.run("INSERT OR IGNORE INTO link (url, key) VALUES (?, ?)", [url, key])
                if key and not self.run("SELECT 1 FROM key WHERE key = ?", [key]).fetchone():
                    address = _address(url)
                    page = self.run(
                        "INSERT INTO page (url, host) VALUES (?, ?)", [address, host_of_url(address)]
                    )
                    self.run("INSERT INTO key VALUES (?, ?)", [key, page.lastrowid])
        return int(self.run(count).fetchone()[0]) - before

    def waiting(self) -> int:
        """Return the number of waiting pages."""
        return int(self.run("SELECT count(*) FROM page WHERE state = 'waiting'").fetchone()[0])

    def hosts(self) -> list[tuple[float, str]]:
        """Return the hosts with waiting pages, after the time from which on one may be asked for."""
        query = "SELECT min(not_before), host FROM page WHERE state = 'waiting' GROUP BY host"
        return self.run(query).fetchall()

    def next_page(self, host: str) -> WaitingPage | None:
        """Return the first waiting page of a host; None: there is none."""
        row = self.run(
            f"SELECT {', '.join(WaitingPage._fields)} FROM page WHERE state = 'waiting' AND host = ? "
            "ORDER BY not_before, id LIMIT 1",
            [host],
        ).fetchone()
        return row and WaitingPage(*row)

    def claim(self, page: WaitingPage, url: str) -> bool:
        """Return whether an address that a page redirects to is not that of another page, with which it is merged."""
        key = link_key(url)
        if key is None:
            return True
        with self.transaction():
            self.run("INSERT OR IGNORE INTO key VALUES (?, ?)", [key, page.id])
            (owner,) = self.run("SELECT page FROM key WHERE key = ?", [key]).fetchone()
            if owner != page.id:
                self.run("UPDATE key SET page = ? WHERE page = ?", [owner, page.id])
                self.run("DELETE FROM page WHERE id = ?", [page.id])
        return bool(owner == page.id)

    def pause(self, host: str, until: float) -> None:
        """Let the waiting pages of a host wait until a time."""
        query = "UPDATE page SET not_before = max(not_before, ?) WHERE host = ? AND state = 'waiting'"
        self.run(query, [until, host])

    def wait(self, page: WaitingPage, outcome: Outcome, attempts: int, not_before: float) -> None:
        """Let a page wait for another attempt."""
        time = datetime.fromtimestamp(not_before, timezone.utc).isoformat(timespec="seconds")
        self.run(
            "UPDATE page SET attempts = ?, not_before = ?, status = ?, detail = ? WHERE id = ?",
            [attempts, not_before, outcome.status, f"{outcome.detail}; next attempt after {time}", page.id],
        )

    def finish(self, page: WaitingPage, outcome: Outcome, attempts: int) -> None:
        """Give a page its final state."""
        article = outcome.article and json.dumps(outcome.article, ensure_ascii=False)
        self.run(
            "UPDATE page SET state = ?, detail = ?, status = ?, final_url = ?, canonical_url = ?, attempts = ?, "
            "article = ? WHERE id = ?",
            [
                *(outcome.state, outcome.detail, outcome.status, outcome.url, outcome.canonical_url),
                *(attempts, article, page.id),
            ],
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the links in order: `url`, `key` (None: not an address), and the columns of their pages."""
        rows = self.run(
            "SELECT link.url, link.key, state, detail, status, final_url, canonical_url, attempts, article FROM link "
            "LEFT JOIN key USING (key) LEFT JOIN page ON page.id = key.page ORDER BY number"
        )
        names = [column[0] for column in rows.description]
        for row in rows:
            values = dict(zip(names, row))
            if values["key"] is None:
                state: State = "not an address"
                values |= {"state": state, "detail": "not an http or https address", "attempts": 0}
            yield values


def _address(url: str) -> str:
    """The address to ask for: with a scheme, without wrappers and fragment."""
    url = url.strip()
    if not url[:8].lower().startswith(("http://", "https://")):
        url = f"https://{url.removeprefix('//')}"
    return unwrapped(url).partition("#")[0]
