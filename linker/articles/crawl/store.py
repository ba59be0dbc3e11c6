"""The database of a crawl: links, the pages behind them, and what is known of sites. Survives kill -9."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from linker.articles.crawl.visit import Outcome, State
from linker.articles.links.link_key import link_key
from linker.articles.links.wrappers import unwrapped
from linker.articles.request import MAX_REDIRECTS
from linker.common.databases import Database, open_database

_TABLES = """
CREATE TABLE IF NOT EXISTS page (
    id INTEGER PRIMARY KEY, url TEXT UNIQUE, key TEXT, host TEXT, state TEXT NOT NULL DEFAULT 'waiting', detail TEXT,
    status INTEGER, last_url TEXT, target INTEGER, hops INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,
    not_before REAL NOT NULL DEFAULT 0, title TEXT, text TEXT, published TEXT, canonical TEXT, language TEXT
);
CREATE INDEX IF NOT EXISTS waiting ON page (host, not_before, id) WHERE state = 'waiting';
CREATE INDEX IF NOT EXISTS by_key ON page (key);
CREATE TABLE IF NOT EXISTS link (number INTEGER PRIMARY KEY, url TEXT UNIQUE, key TEXT, page INTEGER);
CREATE INDEX IF NOT EXISTS link_by_key ON link (key);
CREATE TABLE IF NOT EXISTS robots (
    origin TEXT PRIMARY KEY, text TEXT, state TEXT, detail TEXT, attempts INTEGER, until REAL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pause (host TEXT PRIMARY KEY, until REAL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS archive (length INTEGER);
"""
_DAMAGED = "damaged, or not the database of a crawl ({}); move it away to start again"
_PROBLEMS = {
    "locked": "another `linker mine fetch` uses this folder; wait for it, or give another --out",
    "not a database": _DAMAGED,
    "malformed": _DAMAGED,
    "no such column": _DAMAGED,
}
WAITING = "page WHERE state = 'waiting'"


class WaitingPage(NamedTuple):
    """A page to visit; `not_before` is the time from which on it may be asked for."""

    id: int
    url: str
    hops: int
    attempts: int
    not_before: float


class RobotsRow(NamedTuple):
    """What is known of the robots.txt of a site; `state` is `fetched`, `waiting`, or why it cannot be read."""

    text: str
    state: State
    detail: str
    attempts: int
    until: float


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

    def add_links(self, urls: Sequence[str]) -> int:
        """Add links and the pages that they lead to, one for all addresses of an article; return how many are new."""
        before = self.count("link")
        with self.transaction():
            for url in dict.fromkeys(urls):
                if not self.run("SELECT 1 FROM link WHERE url = ?", [url]).fetchone():
                    self._add_link(url)
        return self.count("link") - before

    def _add_link(self, url: str) -> None:
        key, page = link_key(url), None
        if key is not None:
            same = self.run(
                "SELECT page FROM link WHERE key = ? AND page NOT NULL "
                "UNION ALL SELECT id FROM page WHERE key = ? LIMIT 1",
                [key, key],
            ).fetchone()
            # A shortener and the article's own link cause one request.
            page = same[0] if same else self._add_page(_address(url), key, 0)[0]
        self.run("INSERT INTO link (url, key, page) VALUES (?, ?, ?)", [url, key, page])

    def _add_page(self, url: str, key: str | None, hops: int) -> tuple[int, bool]:
        """Add a page; return its number, and whether it is new."""
        values = [url, key, host_of_url(url), hops]
        added = self.run("INSERT OR IGNORE INTO page (url, key, host, hops) VALUES (?, ?, ?, ?)", values)
        (number,) = self.run("SELECT id FROM page WHERE url = ?", [url]).fetchone()
        return number, added.rowcount > 0

    def hosts(self) -> list[tuple[str, float]]:
        """Return the hosts with waiting pages, and the time from which on one may be asked for."""
        return self.run(
            "SELECT page.host, max(min(not_before), coalesce(max(until), 0)) FROM page "
            "LEFT JOIN pause USING (host) WHERE state = 'waiting' GROUP BY page.host"
        ).fetchall()

    def next_page(self, host: str) -> WaitingPage | None:
        """Return the first waiting page of a host; None: there is none."""
        row = self.run(
            f"SELECT id, url, hops, attempts, not_before FROM {WAITING} AND host = ? ORDER BY not_before, id LIMIT 1",
            [host],
        ).fetchone()
        return row and WaitingPage(*row)

    def robots(self, origin: str) -> RobotsRow | None:
        """Return what is known of the robots.txt of a site; None: nothing."""
        columns = "text, state, detail, attempts, until"
        row = self.run(f"SELECT {columns} FROM robots WHERE origin = ?", [origin]).fetchone()
        return row and RobotsRow(*row)

    def set_robots(self, origin: str, row: RobotsRow) -> None:
        """Keep what is known of the robots.txt of a site."""
        self.run("INSERT OR REPLACE INTO robots VALUES (?, ?, ?, ?, ?, ?)", [origin, *row])

    def pause(self, host: str, until: float) -> None:
        """Keep that a host wants no request before a time."""
        self.run("INSERT OR REPLACE INTO pause VALUES (?, ?)", [host, until])

    def wait(self, page: WaitingPage, outcome: Outcome, not_before: float) -> None:
        """Let a page wait for another attempt."""
        time = datetime.fromtimestamp(not_before, timezone.utc).isoformat(timespec="seconds")
        self.run(
            "UPDATE page SET attempts = attempts + 1, not_before = ?, status = ?, detail = ? WHERE id = ?",
            [not_before, outcome.status, f"{outcome.detail}; next attempt after {time}", page.id],
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
        self.run(
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
        key = link_key(url)
        same = self.run(
            "SELECT id FROM page WHERE key = ? AND key IS NOT (SELECT key FROM page WHERE id = ?) ORDER BY id LIMIT 1",
            [key, page.id],
        ).fetchone()
        if same:
            return same[0], ""
        number, is_new = self._add_page(url, key, hops)
        return number, host_of_url(url) if is_new else ""

    def archived(self) -> int | None:
        """Return the length of the WARC file up to the last page that is in the database too; None: never written."""
        length: int | None = self.run("SELECT max(length) FROM archive").fetchone()[0]
        return length

    def set_archived(self, length: int) -> None:
        """Keep the length of the WARC file."""
        self.run("DELETE FROM archive")
        self.run("INSERT INTO archive VALUES (?)", [length])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write what the block writes completely or not at all."""
        self.run("BEGIN")
        try:
            yield
        except BaseException:
            self.run("ROLLBACK")
            raise
        self.run("COMMIT")


def _address(url: str) -> str:
    """The address to ask for: with a scheme, without wrappers and fragment."""
    url = url.strip()
    if not url[:8].lower().startswith(("http://", "https://")):
        url = f"https://{url.removeprefix('//')}"
    return unwrapped(url).partition("#")[0]
