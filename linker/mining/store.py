"""A database on disk of posts that link to articles, so that memory does not grow with their number."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linker.articles.links.link_key import host_of, link_key
from linker.common.databases import Database, open_database
from linker.data.types import Post
from linker.mining.linked_post import Link, bare_id
from linker.mining.options import MiningOptions

_TABLES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -131072;
PRAGMA temp_store = FILE;
CREATE TABLE article (
    id INTEGER PRIMARY KEY, key TEXT, host TEXT, url TEXT, title TEXT DEFAULT '', text TEXT DEFAULT '',
    published REAL, source TEXT, begins REAL, split TEXT, story TEXT, shortened INTEGER DEFAULT 0
);
CREATE TABLE redirect (short INTEGER PRIMARY KEY, article INTEGER);
CREATE TABLE card (article INTEGER, title TEXT, description TEXT, posts INTEGER,
    PRIMARY KEY (article, title, description)) WITHOUT ROWID;
CREATE TABLE post (
    number INTEGER PRIMARY KEY, id TEXT, bare TEXT, draw INTEGER, article INTEGER, thread TEXT, author INTEGER,
    time REAL, text TEXT, lang TEXT, url TEXT, card INTEGER
);
CREATE TABLE dropped (post INTEGER PRIMARY KEY, fate TEXT);
CREATE TABLE pair (post INTEGER PRIMARY KEY, article INTEGER, text TEXT, hash INTEGER);
BEGIN;
"""
_AT_ONCE = 5_000
_DAY = 86_400
#: All posts; the fate of those that are kept is null.
POSTS = "post LEFT JOIN dropped ON dropped.post = number"
#: Fewer links of an author say nothing about the share of one site.
FEW_LINKS = 10


def hash_of(text: str) -> int:
    """Return 64 bits of a text's hash as a signed integer."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


class LinkStore(Database):
    """The posts, articles and pairs of one run.

    Attributes:
        fates: number of posts that were dropped, by reason, in the order of the filters.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        super().__init__(database)
        self._posts: list[tuple[object, ...]] = []
        self._articles: list[tuple[object, ...]] = []
        self._cards: list[tuple[object, ...]] = []
        self._number = 0
        self.fates: Counter[str] = Counter()

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator[LinkStore]:
        """Make an empty store in a file.

        Raises:
            LinkerError: if there is no room for it; also while it is used.
        """
        with open_database(path) as database:
            database.executescript(_TABLES)
            yield cls(database)

    def add(self, post: Post, link: Link) -> None:
        """Add a post and its link."""
        article = hash_of(link.key) if link.key else None
        author, url = (
            value if isinstance(value, str) and value else None
            for value in map(post.extra.get, ("author", "url"))
        )
        time = post.created_at and post.created_at.timestamp()
        self._number += 1
        ids = (self._number, post.id, bare_id(post.id), hash_of(post.id), article, link.thread or None)
        values = (author and hash_of(author), time, post.text, post.language, url, bool(link.title))
        self._posts.append((*ids, *values))
        if article is not None:
            self._articles.append((article, link.key, host_of(link.key), link.url, link.shortened))
            if link.title or link.description:
                self._cards.append((article, link.title, link.description))
        if len(self._posts) >= _AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write what was added."""
        self.database.executemany(f"INSERT INTO post VALUES ({','.join('?' * 12)})", self._posts)
        self.database.executemany(
            "INSERT INTO article (id, key, host, url, shortened) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
            "url = min(url, excluded.url)",
            self._articles,
        )
        self.database.executemany(
            "INSERT INTO card VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET posts = posts + 1", self._cards
        )
        self._posts, self._articles, self._cards = [], [], []

    def redirect(self, short: str, url: str) -> None:
        """Give posts with a shortened link, by its key, the article at an address; not if no post has the link."""
        key = link_key(url)
        source = hash_of(short)
        if (
            key is None
            or self.run("SELECT 1 FROM article WHERE id = ? AND shortened", [source]).fetchone() is None
        ):
            return
        target = hash_of(key)
        self._articles.append((target, key, host_of(key), url, False))
        self.flush()
        self.run("INSERT OR REPLACE INTO redirect VALUES (?, ?)", [source, target])
        self.run("UPDATE post SET article = ? WHERE article = ?", [target, source])
        self.run(
            "INSERT INTO card SELECT ?, title, description, posts FROM card WHERE article = ? "
            "ON CONFLICT DO UPDATE SET posts = posts + excluded.posts",
            [target, source],
        )
        self.run("DELETE FROM card WHERE article = ?", [source])

    def article_of(self, key: str) -> int:
        """Return the number of the article that a link with this key leads to."""
        number = hash_of(key)
        row = self.run("SELECT article FROM redirect WHERE short = ?", [number]).fetchone()
        return number if row is None else int(row[0])

    def resolve_threads(self) -> None:
        """Give comments the article of the post that they answer; drop the others."""
        if self.run("SELECT 1 FROM post WHERE thread IS NOT NULL LIMIT 1").fetchone() is None:
            return
        self.run("CREATE INDEX by_bare ON post (bare) WHERE article IS NOT NULL AND thread IS NULL")
        self.run(
            "UPDATE post SET article = (SELECT other.article FROM post AS other WHERE other.bare = post.thread AND "
            "other.article IS NOT NULL AND other.thread IS NULL AND other.article NOT IN (SELECT id FROM article "
            "WHERE shortened) ORDER BY other.number LIMIT 1) "
            "WHERE thread IS NOT NULL"
        )
        self.drop("comments on posts without an article", "SELECT number FROM post WHERE article IS NULL")

    def drop_bots(self, options: MiningOptions) -> None:
        """Drop all posts of authors with too many links a day, or with nearly all links to one site."""
        links = f"{POSTS} WHERE fate IS NULL AND author IS NOT NULL AND thread IS NULL"
        self.run(
            "CREATE TABLE of_site AS SELECT author, host, count(*) AS n FROM "
            f"(SELECT author, article FROM {links}) JOIN article ON article.id = article GROUP BY author, host"
        )
        self.drop(
            "by authors with too many links a day",
            "SELECT number FROM post WHERE author IN (SELECT author FROM "
            f"(SELECT author, cast(time / {_DAY} AS INTEGER) AS day FROM {links} AND time IS NOT NULL) "
            "GROUP BY author, day HAVING count(*) > ?)",
            options.max_links_a_day,
        )
        # In posts that were collected by their links to one site, its share says nothing of an author.
        self.drop(
            "by authors with one site",
            "SELECT number FROM post WHERE author IN (SELECT author FROM "
            "(SELECT author, host, max(n) AS most, sum(n) AS links FROM of_site GROUP BY author) "
            "WHERE links >= ? AND most > ? * links AND host NOT IN (SELECT host FROM of_site GROUP BY host "
            "HAVING sum(n) * 2 > (SELECT sum(n) FROM of_site)))",
            FEW_LINKS,
            options.max_site_share,
        )

    def drop(self, fate: str, numbers: str, *values: float) -> None:
        """Drop the posts that a query with some values selects, if they were not dropped before; count them."""
        query = f"INSERT OR IGNORE INTO dropped SELECT number, ? FROM ({numbers})"
        self.fates[fate] += self.run(query, [fate, *values]).rowcount
