"""What a session is created with: settings, posts, articles, scores, features; rows of the table `contents`."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from linker.annotation.pool import Pool
from linker.common.errors import DataError
from linker.data.types import Article, Post
from linker.models.score_scale import ScoreScale
from linker.ranking.explanation import Explanation

SCHEMA = """
CREATE TABLE contents (
    name TEXT NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (name, part)
);
"""
#: Bytes of an array in one row; SQLite holds at most 1 GB in one.
_PART = 1 << 26
#: Name of the row that is written whenever posts are added.
ADDED = "added"
_VECTORS = ("scores", "lexical_scores", "vectors", "article_vectors")
_MATRICES = ("words", "article_words")


@dataclass(frozen=True)
class Settings:
    """Settings of a session.

    Attributes:
        model: name of the model that scored the posts.
        strategy: config of the query strategy.
        rule: config of the stopping rule.
        overlap: share of posts that several annotators label.
        seed: random seed.
        guidelines: instructions for the annotators.
        created: time of creation, ISO 8601.
        labels_per_post: number of annotators who label a post of the overlap.
        question: what annotators answer about each post.
        labels: the label set, as `name` and `value`; empty: relevant, not relevant, skip.
        questions: the further questions of the codebook.
        blind: whether annotators see no scores, no marks, and not how posts are drawn.
    """

    model: str
    strategy: dict[str, Any]
    rule: dict[str, Any]
    overlap: float
    seed: int
    guidelines: str
    created: str
    labels_per_post: int = 2
    question: str = ""
    labels: list[dict[str, str]] = field(default_factory=list)
    questions: list[dict[str, Any]] = field(default_factory=list)
    blind: bool = False


@dataclass(frozen=True)
class Contents:
    """What a session was created with.

    Attributes:
        settings: its settings.
        pool: the distinct posts.
        posts: all posts, near-duplicates included, in the order of the input.
        indices: post id → index in the pool.
        added: for each time that posts were added, the numbers of distinct posts and of labels before.
    """

    settings: Settings
    pool: Pool
    posts: list[Post]
    indices: dict[str, int]
    added: list[tuple[int, int]] = field(default_factory=list)


def write_contents(
    database: sqlite3.Connection,
    settings: Settings,
    pool: Pool,
    posts: Sequence[Post],
    explanations: Sequence[Explanation] | None,
) -> None:
    """Write everything; the pool groups the posts. Without explanations the model cannot explain."""
    number = {post.id: i for i, post in enumerate(posts)}
    groups = np.empty(len(posts), dtype=np.int64)
    for index, (post, copies) in enumerate(zip(pool.posts, pool.copies)):
        groups[[number[member.id] for member in (post, *copies)]] = index
    write_settings(database, settings)
    _put(database, "scale", [_json(pool.scale.as_json())])
    _put(database, "posts", (_json(asdict(post)) for post in posts))
    _put(database, "articles", (_json(asdict(article)) for article in pool.articles))
    _put(database, "explanations", map(_words, explanations or ()))
    _put_array(database, "groups", groups)
    _put_array(database, "representatives", np.array([number[post.id] for post in pool.posts]))
    for name in _VECTORS:
        _put_array(database, name, getattr(pool, name))
    for name in _MATRICES:
        for part in ("data", "indices", "indptr", "shape"):
            _put_array(database, f"{name}.{part}", np.asarray(getattr(getattr(pool, name), part)))


def replace_contents(
    database: sqlite3.Connection,
    other: sqlite3.Connection,
    settings: Settings,
    added: Sequence[tuple[int, int]],
) -> None:
    """Replace the contents of this database by the contents of another, with these settings and additions."""
    database.execute("DELETE FROM contents")
    rows = other.execute("SELECT name, part, data, checksum FROM contents")
    database.executemany("INSERT INTO contents VALUES (?, ?, ?, ?)", rows)
    write_settings(database, settings)
    _put(database, ADDED, [_json(added)])


def write_settings(database: sqlite3.Connection, settings: Settings) -> None:
    """Write settings, which replace the former ones."""
    _put(database, "settings", [_json(asdict(settings))])


def read_contents(database: sqlite3.Connection) -> Contents:
    """Read all but the explanations. Damage raises whatever it leads to."""
    posts = [_post(json.loads(part)) for part in _parts(database, "posts")]
    articles = [article_of(json.loads(part)) for part in _parts(database, "articles")]
    groups, representatives = (_array(database, name) for name in ("groups", "representatives"))
    copies: list[list[Post]] = [[] for _ in representatives]
    for i in np.setdiff1d(np.arange(len(posts)), representatives, assume_unique=True):
        copies[groups[i]].append(posts[i])
    pool = Pool(
        articles,
        [posts[i] for i in representatives],
        [tuple(some) for some in copies],
        scale=ScoreScale.from_json(json.loads(_parts(database, "scale")[0])),
        **{name: _array(database, name) for name in _VECTORS},
        **{name: _matrix(database, name) for name in _MATRICES},
    )
    indices = dict(zip((post.id for post in posts), groups.tolist(), strict=True))
    settings = Settings(**json.loads(_parts(database, "settings")[0]))
    added = [(count, labels) for part in _parts(database, ADDED) for count, labels in json.loads(part)]
    return Contents(settings, pool, posts, indices, added)


def read_explanation(database: sqlite3.Connection, index: int) -> Explanation | None:
    """Read the explanation of a post, by its index in the pool; None if the model cannot explain."""
    parts = _parts(database, "explanations", 1, index)
    if not parts:
        return None
    article_words, post_words, spans = ([tuple(pair) for pair in some] for some in json.loads(parts[0]))
    return Explanation(article_words, post_words, spans)


def _put(database: sqlite3.Connection, name: str, parts: Iterable[bytes]) -> None:
    rows = ((name, number, part, zlib.crc32(part)) for number, part in enumerate(parts))
    database.executemany("INSERT OR REPLACE INTO contents VALUES (?, ?, ?, ?)", rows)


def _put_array(database: sqlite3.Connection, name: str, array: np.ndarray | None) -> None:
    header = None if array is None else [array.dtype.str, array.shape]
    data = np.ascontiguousarray([] if array is None else array).view(np.uint8).reshape(-1)
    parts = (data[start : start + _PART].tobytes() for start in range(0, len(data), _PART))
    _put(database, name, chain([_json(header)], parts))


def _parts(database: sqlite3.Connection, name: str, count: int = -1, first: int = 0) -> list[bytes]:
    """Return parts of the contents of a name; empty if there is none."""
    rows = database.execute(
        "SELECT data, checksum FROM contents WHERE name = ? AND part >= ? ORDER BY part LIMIT ?",
        (name, first, count),
    ).fetchall()
    for number, (data, checksum) in enumerate(rows, first):
        if zlib.crc32(data) != checksum:
            raise DataError(f"{name}, part {number}")
    return [data for data, _ in rows]


def _array(database: sqlite3.Connection, name: str) -> Any:
    """Return an array; None if it was None."""
    header, *parts = _parts(database, name)
    if json.loads(header) is None:
        return None
    kind, shape = json.loads(header)
    return np.frombuffer(bytearray(b"".join(parts)), dtype=kind).reshape(shape)


def _matrix(database: sqlite3.Connection, name: str) -> csr_matrix:
    data, indices, ends, shape = (
        _array(database, f"{name}.{part}") for part in ("data", "indices", "indptr", "shape")
    )
    return csr_matrix((data, indices, ends), shape=tuple(shape))


def _json(values: Any) -> bytes:
    text = json.dumps(values, ensure_ascii=False, default=_jsonable, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def _jsonable(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _words(explanation: Explanation) -> bytes:
    weights = (explanation.article_words, explanation.post_words)
    rounded = ([(word, float(f"{weight:.4g}")) for word, weight in words] for words in weights)
    return _json([*rounded, explanation.post_spans])


def article_of(values: dict[str, Any]) -> Article:
    """Return an article from the values of its fields in JSON."""
    return Article(**values | {"published": _time(values["published"])})


def _post(values: dict[str, Any]) -> Post:
    article_ids, created_at = tuple(values["article_ids"]), _time(values["created_at"])
    return Post(**values | {"article_ids": article_ids, "created_at": created_at})


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
