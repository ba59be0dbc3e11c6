"""The file of a session: a SQLite database with what was created once, and every event since then."""

from __future__ import annotations

import json
import os
import sqlite3
import weakref
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, astuple, dataclass, field, fields
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from linker.annotation.pool import Pool
from linker.annotation.session.events import Event
from linker.common.console import warn
from linker.common.errors import DataError, LinkerError
from linker.common.files import check_regular_files, is_network_drive
from linker.common.locks import only_writer
from linker.data.types import Article, Post
from linker.models.score_scale import ScoreScale
from linker.ranking.explanation import Explanation
from linker.version import __version__

FILE = "session.sqlite"
FORMAT = 1
#: Seconds to wait for another process that writes.
_PATIENCE = 30.0
#: Bytes of an array in one row; SQLite holds at most 1 GB in one.
_PART = 1 << 26
_MATRICES = ("words", "article_words")
_VECTORS = ("vectors", "article_vectors")
_SCHEMA = f"""
PRAGMA user_version = {FORMAT};
CREATE TABLE contents (
    name TEXT NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (name, part)
);
CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('assign', 'label', 'undo', 'note', 'resolve', 'machine')),
    annotator TEXT NOT NULL,
    post TEXT NOT NULL,
    value TEXT CHECK (value IN ('relevant', 'not', 'skip')),
    note TEXT,
    id TEXT UNIQUE,
    choice TEXT,
    time TEXT NOT NULL,
    imported INTEGER NOT NULL,
    position INTEGER NOT NULL,
    strategy TEXT,
    at_random INTEGER NOT NULL,
    frame INTEGER,
    probability REAL,
    checksum INTEGER NOT NULL
);
CREATE TABLE queue (revision INTEGER NOT NULL, posts BLOB NOT NULL);
"""
#: Words in messages of SQLite when a file cannot be opened, read or written.
_NO_ACCESS = ("disk", "full", "open", "readonly")
#: What reading damaged contents raises.
_DAMAGE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
_COLUMNS = [one.name for one in fields(Event)]
_SELECT = f"SELECT number, checksum, {', '.join(_COLUMNS)} FROM events WHERE number > ? ORDER BY number"
# Text is bound as bytes: it may have lone surrogates, which Python's binding of text refuses.
_INSERT = (
    f"INSERT INTO events (checksum, {', '.join(_COLUMNS)}) VALUES (?, "
    + ", ".join(f"CAST(? AS {kind})" for kind in ["TEXT"] * 8 + ["INTEGER"] * 2 + ["TEXT"] + ["INTEGER"] * 2)
    + ", ?)"
)


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


@dataclass(frozen=True)
class SessionData:
    """What a session was created with.

    Attributes:
        settings: its settings.
        pool: the distinct posts.
        posts: all posts, near-duplicates included, in the order of the input.
        indices: post id → index in the pool.
    """

    settings: Settings
    pool: Pool
    posts: list[Post]
    indices: dict[str, int]


class SessionFile:
    """The open database of a session; several processes may have it open. One object serves one thread at a time.

    Args:
        folder: the session.

    Attributes:
        path: the database.
        count: number of events read so far.

    Raises:
        DataError: if the session is not found, damaged, or of a newer version.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self.count = 0
        if not folder.is_dir():
            raise DataError(
                f"{folder}: session not found; create one with `linker annotate start {folder} --article ARTICLE "
                "--posts POSTS`"
            )
        check_regular_files(folder)
        if not self.path.is_file():
            raise DataError(f"{folder}: not a session, it has no {FILE}")
        with self._errors():
            self._identity = _identity(self.path)
            self._database = _connected(self.path)
            # Not at the end of the interpreter, when a thread may still store its queue.
            weakref.finalize(self, self._database.close).atexit = False
            version = self._database.execute("PRAGMA user_version").fetchone()[0]
        if version > FORMAT:
            self.close()
            raise DataError(
                f"{folder}: written by a newer linker, in format {version}; this is linker {__version__}: upgrade it"
            )

    def __enter__(self) -> SessionFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    # What was created once

    @property
    def settings(self) -> Settings:
        """The settings of the session.

        Raises:
            DataError: if they are damaged.
        """
        with self._errors(*_DAMAGE):
            return Settings(**json.loads(self._parts("settings")[0]))

    def data(self) -> SessionData:
        """Read what `write_session` wrote.

        Raises:
            DataError: if it is damaged.
        """
        with self._errors(*_DAMAGE):
            posts = [_post(json.loads(part)) for part in self._parts("posts")]
            groups, representatives = self._array("groups"), self._array("representatives")
            copies: list[list[Post]] = [[] for _ in representatives]
            for i in np.setdiff1d(np.arange(len(posts)), representatives, assume_unique=True):
                copies[groups[i]].append(posts[i])
            vectors, article_vectors = (
                self._array(name) if self._parts(name, 1) else None for name in _VECTORS
            )
            pool = Pool(
                [_article(json.loads(part)) for part in self._parts("articles")],
                [posts[i] for i in representatives],
                [tuple(some) for some in copies],
                self._array("scores"),
                self._array("lexical_scores"),
                self._matrix("words"),
                self._matrix("article_words"),
                vectors,
                article_vectors,
                scale=ScoreScale.from_json(json.loads(self._parts("scale")[0])),
            )
            indices = dict(zip((post.id for post in posts), groups.tolist(), strict=True))
        return SessionData(self.settings, pool, posts, indices)

    def explanation(self, index: int) -> Explanation | None:
        """Return the explanation of a post, by its index in the pool; None if the model cannot explain.

        Raises:
            DataError: if it is damaged.
        """
        with self._errors(*_DAMAGE):
            found = self._parts("explanations", 1, index)
            article_words, post_words, spans = json.loads(found[0]) if found else ([], [], [])
        if not found:
            return None
        return Explanation(
            [(word, weight) for word, weight in article_words],
            [(word, weight) for word, weight in post_words],
            [(start, end) for start, end in spans],
        )

    def rescore(self, settings: Settings, pool: Pool, explanations: Sequence[Explanation] | None) -> None:
        """Replace the scores of the posts, all or none; the queue, a cache, is dropped."""
        with self.writing():
            _put_scores(self._database, settings, pool, explanations)
            self._database.execute("DELETE FROM queue")

    def _parts(self, name: str, count: int = -1, first: int = 0) -> list[bytes]:
        """Return parts of the contents of a name; empty if there is none."""
        rows = self._database.execute(
            "SELECT data, checksum FROM contents WHERE name = ? AND part >= ? ORDER BY part LIMIT ?",
            (name, first, count),
        ).fetchall()
        for number, (data, checksum) in enumerate(rows):
            if zlib.crc32(data) != checksum:
                raise DataError(f"{self.path}: damaged ({name}, part {number}); put back a copy of it")
        return [data for data, _ in rows]

    def _array(self, name: str) -> np.ndarray:
        header, *parts = self._parts(name)
        kind, shape = json.loads(header)
        return np.frombuffer(bytearray(b"".join(parts)), dtype=kind).reshape(shape)

    def _matrix(self, name: str) -> csr_matrix:
        parts = (self._array(f"{name}.{part}") for part in ("data", "indices", "indptr"))
        return csr_matrix(tuple(parts), shape=tuple(self._array(f"{name}.shape")))

    # Events

    @contextmanager
    def writing(self, durable: bool = True) -> Iterator[None]:
        """Begin a transaction that no other process can write beside.

        At the end of the block everything is on the disk; after an error, nothing of it.

        Args:
            durable: wait for the disk; if False, a power loss (not a kill) may lose the transaction.

        Raises:
            LinkerError: if the file cannot be written, or another process writes for too long.
            DataError: if the file was moved, deleted or replaced.
        """
        with self._errors():
            self._check_identity()
            self._database.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            try:
                self._database.execute("BEGIN IMMEDIATE")
                yield
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise

    def news(self) -> list[Event]:
        """Return the events added since the last call, by any process.

        Raises:
            DataError: if they are damaged, or the file was moved, deleted or replaced.
        """
        with self._errors(*_DAMAGE):
            self._check_identity()
            rows = self._database.execute(_SELECT, (self.count,)).fetchall()
            for number, checksum, *values in rows:
                if _checksum(values) != checksum:
                    raise DataError(f"{self.path}: event {number:,} is damaged; put back a copy of it")
            events = [_event(values) for _, _, *values in rows]
        self.count = rows[-1][0] if rows else self.count
        return events

    def add(self, events: Iterable[Event]) -> None:
        """Add events, in the block of `writing`."""
        self._database.executemany(_INSERT, map(_row, events))

    def post_of_action(self, id: str) -> str | None:
        """Return the post of the action with an idempotency key; empty: of none; None: unknown action."""
        with self._errors():
            found = self._database.execute(
                "SELECT post FROM events WHERE id = CAST(? AS TEXT)", (_bytes(id),)
            ).fetchone()
        return None if found is None else str(found[0])

    # The queue, a cache: whatever is wrong with it, it is computed again

    def queue(self, size: int) -> tuple[int, np.ndarray] | None:
        """Return the revision and the posts (int64, below `size`) of the queue stored last; None if there is none."""
        with suppress(sqlite3.Error, *_DAMAGE):
            revision, posts = self._database.execute("SELECT revision, posts FROM queue").fetchone()
            posts = np.frombuffer(posts, dtype=np.int64)
            if np.all((posts >= 0) & (posts < size)):
                return int(revision), posts
        return None

    def store_queue(self, revision: int, posts: np.ndarray) -> None:
        """Replace the stored queue."""
        with suppress(LinkerError), self.writing(durable=False):
            self._database.execute("DELETE FROM queue")
            self._database.execute("INSERT INTO queue VALUES (?, ?)", (revision, posts.tobytes()))

    def _check_identity(self) -> None:
        """Check that the file is still the one that was opened: SQLite would write to a deleted one."""
        try:
            same = _identity(self.path) == self._identity
        except OSError:
            same = False
        if not same:
            raise DataError(f"{self.path}: was moved, deleted or replaced; open the session again")

    @contextmanager
    def _errors(self, *damage: type[Exception]) -> Iterator[None]:
        """Raise errors of SQLite and of damaged contents as one message."""
        try:
            yield
        except (sqlite3.Error, *damage) as error:  # type: ignore[misc]
            message = str(error)
            if "locked" in message:
                raise LinkerError(
                    f"{self.path}: another process has been writing for {_PATIENCE:.0f} seconds; wait for its end"
                ) from error
            if isinstance(error, sqlite3.OperationalError) and any(word in message for word in _NO_ACCESS):
                raise LinkerError(
                    f"{self.path}: cannot be written ({message}); the last step was not recorded"
                ) from error
            raise DataError(f"{self.path}: damaged ({error}); put back a copy of it") from error


def check_new(folder: Path) -> None:
    """Check that a session can be created here; what an interrupted creation left does not count.

    Raises:
        LinkerError: if the folder holds a session, or anything else.
    """
    if (folder / FILE).exists():
        raise LinkerError(f"{folder}: already holds a session; open it, or choose another folder")
    if folder.exists() and not folder.is_dir():
        raise LinkerError(f"{folder}: is a file; give a folder")
    others = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    if others := [name for name in others if not name.startswith(f".{FILE}")]:
        raise LinkerError(f"{folder}: is not empty ({others[0]}); choose a new folder")


def write_session(
    folder: Path,
    settings: Settings,
    pool: Pool,
    posts: Sequence[Post],
    explanations: Sequence[Explanation] | None,
) -> None:
    """Write the file of a new session; it appears when it is complete.

    Raises:
        LinkerError: if it cannot be written, or another process was faster.
    """
    temporary = folder / f".{FILE}.new"
    with only_writer(folder):
        check_new(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            temporary.unlink(missing_ok=True)
            with closing(sqlite3.connect(temporary, isolation_level=None)) as database:
                database.execute("PRAGMA journal_mode = OFF")
                database.execute("BEGIN")
                for statement in _SCHEMA.split(";"):
                    database.execute(statement)
                _put(database, "posts", (_line(asdict(post)) for post in posts))
                _put(database, "articles", (_line(asdict(article)) for article in pool.articles))
                number = {post.id: i for i, post in enumerate(posts)}
                groups = np.empty(len(posts), dtype=np.int64)
                for index, (post, copies) in enumerate(zip(pool.posts, pool.copies)):
                    groups[[number[member.id] for member in (post, *copies)]] = index
                _put_array(database, "groups", groups)
                _put_array(database, "representatives", np.array([number[post.id] for post in pool.posts]))
                _put_scores(database, settings, pool, explanations)
                database.execute("COMMIT")
            os.replace(temporary, folder / FILE)
        except (OSError, sqlite3.Error) as error:
            raise LinkerError(f"{folder}: cannot be written ({error}); make room and try again") from error
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def _put_scores(
    database: sqlite3.Connection, settings: Settings, pool: Pool, explanations: Sequence[Explanation] | None
) -> None:
    """Replace all that depends on the model."""
    _put(database, "settings", [_line(asdict(settings))])
    _put(database, "scale", [_line(pool.scale.as_json())])
    _put(database, "explanations", map(_words, explanations or ()))
    _put_array(database, "scores", pool.scores)
    _put_array(database, "lexical_scores", pool.lexical_scores)
    for name in _MATRICES:
        matrix: csr_matrix = getattr(pool, name)
        for part in ("data", "indices", "indptr", "shape"):
            _put_array(database, f"{name}.{part}", np.asarray(getattr(matrix, part)))
    for name in _VECTORS:
        _put_array(database, name, getattr(pool, name))


def _put(database: sqlite3.Connection, name: str, parts: Iterable[bytes]) -> None:
    database.execute("DELETE FROM contents WHERE name = ?", (name,))
    rows = ((name, number, part, zlib.crc32(part)) for number, part in enumerate(parts))
    database.executemany("INSERT INTO contents VALUES (?, ?, ?, ?)", rows)


def _put_array(database: sqlite3.Connection, name: str, array: np.ndarray | None) -> None:
    if array is None:
        _put(database, name, ())
        return
    data = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
    parts = (data[start : start + _PART].tobytes() for start in range(0, len(data), _PART))
    _put(database, name, chain([_line([array.dtype.str, array.shape])], parts))


def _connected(path: Path) -> sqlite3.Connection:
    """Open a database; where nothing can be written, for reading."""

    def connect(options: str) -> sqlite3.Connection:
        uri = f"{path.absolute().as_uri()}?{options}"
        database = sqlite3.connect(
            uri, timeout=_PATIENCE, isolation_level=None, check_same_thread=False, uri=True
        )
        database.text_factory = lambda data: data.decode("utf-8", "surrogatepass")
        database.execute("SELECT count(*) FROM queue").fetchone()
        return database

    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        database = connect("mode=rw")
        _choose_journal(database, path)
        return database
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise DataError(
            f"{path}: the latest labels are in {log.name}, and cannot be read where nothing can be written; "
            "copy the folder to where you can write, and open the copy"
        )
    return connect("immutable=1")


def _choose_journal(database: sqlite3.Connection, path: Path) -> None:
    """Use the write-ahead log of SQLite, except on network drives, where it does not work."""
    remote = is_network_drive(path)
    with suppress(sqlite3.OperationalError):  # another process has it open, in the mode that works there
        mode = database.execute(f"PRAGMA journal_mode = {'DELETE' if remote else 'WAL'}").fetchone()[0]
        if mode != "wal":
            warn(
                f"{path.parent}: on a network drive or another file system without shared memory, labels take longer; "
                "keep the session on a disk of this machine"
            )


def _identity(path: Path) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino


def _row(event: Event) -> list[Any]:
    values = [
        value.isoformat(timespec="microseconds")
        if isinstance(value, datetime)
        else int(value)
        if isinstance(value, bool)
        else value
        for value in astuple(event)
    ]
    return [_checksum(values), *(_bytes(value) if isinstance(value, str) else value for value in values)]


def _event(values: Sequence[Any]) -> Event:
    found = dict(zip(_COLUMNS, values))
    found["time"] = datetime.fromisoformat(found["time"])
    return Event(**found | {name: bool(found[name]) for name in ("imported", "at_random")})


def _checksum(values: Sequence[Any]) -> int:
    return zlib.crc32(json.dumps(values).encode())


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _line(values: dict[str, Any] | list[Any]) -> bytes:
    return _bytes(json.dumps(values, ensure_ascii=False, default=_jsonable, separators=(",", ":")))


def _jsonable(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _words(explanation: Explanation) -> bytes:
    article_words = [(word, float(f"{weight:.4g}")) for word, weight in explanation.article_words]
    post_words = [(word, float(f"{weight:.4g}")) for word, weight in explanation.post_words]
    return _line([article_words, post_words, explanation.post_spans])


def _article(values: dict[str, Any]) -> Article:
    return Article(**{**values, "published": _time(values["published"])})


def _post(values: dict[str, Any]) -> Post:
    article_ids, created_at = tuple(values["article_ids"]), _time(values["created_at"])
    return Post(**{**values, "article_ids": article_ids, "created_at": created_at})


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
