"""A database on disk of posts that link to articles, so that memory does not grow with their number."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection

from linker.articles.links.link_key import host_of
from linker.common.databases import Database, open_database
from linker.data.types import Post
from linker.mining.linked_post import SHORTENED, Link, bare_id
from linker.mining.options import MiningOptions

_TABLES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -131072;
PRAGMA temp_store = FILE;
CREATE TABLE article (
    id INTEGER PRIMARY KEY, key TEXT, host TEXT, url TEXT, title TEXT DEFAULT '', text TEXT DEFAULT '',
    published REAL, source TEXT, split TEXT, story TEXT, shortened INTEGER
);
CREATE TABLE redirect (short INTEGER PRIMARY KEY, article INTEGER);
CREATE TABLE card (article INTEGER, title TEXT, description TEXT, posts INTEGER,
    PRIMARY KEY (article, title, description)) WITHOUT ROWID;
CREATE TABLE post (
    number INTEGER PRIMARY KEY, id TEXT, bare TEXT, draw INTEGER, article INTEGER, thread TEXT, author INTEGER,
    time REAL, text TEXT, lang TEXT, url TEXT
);
CREATE TABLE dropped (post INTEGER PRIMARY KEY, fate TEXT);
CREATE TABLE pair (post INTEGER PRIMARY KEY, article INTEGER, text TEXT, hash INTEGER);
BEGIN;
"""
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

    def __init__(self, database: Connection) -> None:
        super().__init__(database)
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
        article = self._add_article(link.key, link.url, link.shortened) if link.key else None
        author, url = (
            value if isinstance(value, str) and value else None
            for value in map(post.extra.get, ("author", "url"))
        )
        ids = (None, post.id, bare_id(post.id), hash_of(post.id), article, link.thread or None)
        time = post.created_at and post.created_at.timestamp()
        values = (author and hash_of(author), time, post.text, post.language, url)
        self.run("INSERT INTO post VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", [*ids, *values])
        if link.title or link.description:
            self.run(
                "INSERT INTO card VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET posts = posts + 1",
                [article, link.title, link.description],
            )

    def _add_article(self, key: str, url: str, shortened: bool) -> int:
        number = hash_of(key)
        self.run(
            "INSERT INTO article (id, key, host, url, shortened) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
            "url = min(url, excluded.url)",
            [number, key, host_of(key), url, shortened],
        )
        return number

    def add_redirect(self, short: str, key: str, url: str) -> None:
        """Remember the article that a shortened link leads to, by their keys; not if no post has the link."""
        source = hash_of(short)
        if self.run("SELECT 1 FROM article WHERE id = ? AND shortened", [source]).fetchone():
            article = self._add_article(key, url, False)
            self.run("INSERT OR REPLACE INTO redirect VALUES (?, ?)", [source, article])

    def follow_redirects(self) -> None:
        """Give posts with nothing but a shortened link the article that it leads to; drop those where it is unknown."""
        self.run(
            "UPDATE post SET article = (SELECT article FROM redirect WHERE short = post.article) "
            "WHERE article IN (SELECT short FROM redirect)"
        )
        self.run(
            "INSERT INTO card SELECT redirect.article, title, description, posts FROM card "
            "JOIN redirect ON short = card.article WHERE true ON CONFLICT DO UPDATE SET posts = posts + excluded.posts"
        )
        self.run("DELETE FROM card WHERE article IN (SELECT short FROM redirect)")
        self.drop(SHORTENED, "SELECT number FROM post JOIN article ON article.id = article WHERE shortened")

    def resolve_threads(self) -> None:
        """Give comments the article of the post that they answer; drop the others."""
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

    def set_article(self, key: str, title: str, text: str, published: float | None) -> bool:
        """Give an article its title, text and date; return whether a post links to it and it had none before."""
        changed = self.run(
            "UPDATE article SET title = ?, text = ?, published = ?, source = 'given' WHERE id = ? AND source IS NULL",
            [title, text, published, hash_of(key)],
        )
        return changed.rowcount > 0
