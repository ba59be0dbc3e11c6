"""The file of a session: a SQLite database with what was created once, and every event since then."""

from __future__ import annotations

import json
import os
import sqlite3
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from linker.annotation.pool import Pool
from linker.annotation.session import contents
from linker.annotation.session.contents import Contents, Settings
from linker.annotation.session.events import Event
from linker.common.console import warn
from linker.common.errors import DataError, LinkerError
from linker.common.files import check_regular_files, is_network_drive
from linker.common.locks import only_writer
from linker.data.types import Post
from linker.ranking.explanation import Explanation
from linker.version import __version__

FILE = "session.sqlite"
FORMAT = 2
#: Seconds to wait for another process that writes.
_PATIENCE = 30.0
_SCHEMA = f"""
PRAGMA user_version = {FORMAT};
{contents.SCHEMA}
CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('assign', 'label', 'undo', 'note', 'resolve', 'machine', 'reveal', 'answers')),
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
    answers TEXT,
    blind INTEGER NOT NULL,
    checksum INTEGER NOT NULL
);
"""
#: Words in messages of SQLite when a file cannot be opened, read or written.
_NO_ACCESS = ("disk", "full", "open", "readonly")
#: What reading damaged contents raises.
_DAMAGE = (ValueError, TypeError, LookupError, AttributeError, RecursionError, DataError)
_COLUMNS = [column.name for column in fields(Event)]
_STORED: dict[type, Callable[[Any], Any]] = {
    datetime: lambda time: time.isoformat(timespec="microseconds"),
    bool: int,
    dict: json.dumps,
}
_TYPES = [*["TEXT"] * 8, *["INTEGER"] * 2, "TEXT", *["INTEGER"] * 2, "REAL", "TEXT", "INTEGER"]


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
            file = _identity(self.path)
            self._database = _connected(self.path)
            # Not at the end of the interpreter, when a thread may still use it.
            weakref.finalize(self, self._database.close).atexit = False
            version = self._database.execute("PRAGMA user_version").fetchone()[0]
            self._identity = file, self._additions()
        # The first format has no answers, no questions, and does not say which labels are blind.
        self._columns = _COLUMNS[: -2 if version == 1 else None]
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

    def contents(self) -> Contents:
        """Read what the session was created with.

        Raises:
            DataError: if it is damaged.
        """
        with self._errors(*_DAMAGE):
            return contents.read_contents(self._database)

    def explanation(self, index: int) -> Explanation | None:
        """Return the explanation of a post, by its index in the pool; None if the model cannot explain.

        Raises:
            DataError: if it is damaged.
        """
        with self._errors(*_DAMAGE):
            return contents.read_explanation(self._database, index)

    def change(self, settings: Settings) -> None:
        """Write other settings, all or none; a `LinkerError` if they cannot be written, or labels cannot be blind."""
        if settings.blind and self._columns != _COLUMNS:
            raise LinkerError(
                f"{self.path}: written by an older linker, without blind labels; start another session"
            )
        with self.writing():
            contents.write_settings(self._database, settings)

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
            self._database.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            try:
                self._database.execute("BEGIN IMMEDIATE")
                self._check_identity()
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
        with self._errors():
            self._check_identity()
        with self._errors(*_DAMAGE):
            query = f"SELECT number, checksum, {', '.join(self._columns)} FROM events WHERE number > ?"
            rows = self._database.execute(f"{query} ORDER BY number", (self.count,)).fetchall()
            for number, checksum, *values in rows:
                if _checksum(values) != checksum:
                    raise DataError(f"event {number:,}")
            events = [_event(values) for _, _, *values in rows]
        self.count = rows[-1][0] if rows else self.count
        return events

    def add(self, events: Iterable[Event]) -> None:
        """Add events, in the block of `writing`."""
        # Text is bound as bytes: it may have lone surrogates, which Python's binding of text refuses.
        columns, rows = self._columns, (_row(event, len(self._columns)) for event in events)
        casts = ", ".join(f"CAST(? AS {kind})" for kind in _TYPES[: len(columns)])
        insert = f"INSERT INTO events (checksum, {', '.join(columns)}) VALUES (?, {casts})"
        self._database.executemany(insert, rows)

    def copy_to(self, folder: Path) -> None:
        """Copy the session to an empty folder, also in the block of `writing`, whose changes are not in the copy."""
        temporary = folder / f".{FILE}.new"
        with (
            self._errors(),
            closing(sqlite3.connect(self.path)) as here,
            closing(sqlite3.connect(temporary)) as there,
        ):
            here.backup(there)
        os.replace(temporary, folder / FILE)

    def replace_contents(
        self, other: SessionFile, settings: Settings, added: Sequence[tuple[int, int]]
    ) -> None:
        """Take the posts and scores of another session, in the block of `writing`.

        Events stay, but posts drawn at random are no longer a sample: they were drawn from fewer posts. From then on,
        every open object of this file, also in other processes, only raises that the file was replaced.

        Args:
            other: the session with these posts and further ones.
            settings: the settings to write.
            added: as in `Contents`.
        """
        with self._errors(*_DAMAGE):
            contents.replace_contents(self._database, other._database, settings, added)
            no_sample = {"at_random": 0, "frame": None, "probability": None, "strategy": None}
            where = "at_random OR lower(trim(strategy)) = 'random'"
            query = f"SELECT number, {', '.join(self._columns)} FROM events WHERE {where}"
            for number, *values in self._database.execute(query).fetchall():
                checksum = _checksum([*(dict(zip(self._columns, values)) | no_sample).values()])
                self._database.execute(
                    "UPDATE events SET (checksum, at_random, frame, probability, strategy) = (?, ?, ?, ?, ?) "
                    "WHERE number = ?",
                    (checksum, *no_sample.values(), number),
                )

    def post_of_action(self, id: str) -> str | None:
        """Return the post of the action with an idempotency key; empty: of none; None: unknown action."""
        with self._errors():
            row = self._database.execute(
                "SELECT post FROM events WHERE id = CAST(? AS TEXT)", (_bytes(id),)
            ).fetchone()
        return None if row is None else str(row[0])

    def _check_identity(self) -> None:
        """Check that file and posts are still those that were opened: SQLite would write to a deleted file."""
        with suppress(OSError):
            if (_identity(self.path), self._additions()) == self._identity:
                return
        raise DataError(f"{self.path}: was moved, deleted or replaced; open the session again")

    def _additions(self) -> Any:
        """Return what changes whenever posts are added."""
        query = "SELECT checksum FROM contents WHERE name = ? AND part = 0"
        return self._database.execute(query, (contents.ADDED,)).fetchone()

    @contextmanager
    def _errors(self, *damage: type[Exception]) -> Iterator[None]:
        """Raise errors of SQLite and of damaged contents as one message."""
        try:
            yield
        except (sqlite3.Error, *damage) as error:  # type: ignore[misc]
            message = str(error)
            if "closed database" in message:
                raise LinkerError(f"{self.path.parent}: was closed meanwhile; reload the page") from error
            if "locked" in message:
                raise LinkerError(
                    f"{self.path}: another process has been writing for {_PATIENCE:.0f} seconds; wait for its end"
                ) from error
            if isinstance(error, sqlite3.OperationalError) and any(word in message for word in _NO_ACCESS):
                raise LinkerError(
                    f"{self.path}: cannot be written ({message}); the last step was not recorded; make room, or copy "
                    "the folder to where you can write"
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
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    if others := [name for name in names if not name.startswith(f".{FILE}")]:
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
                contents.write_contents(database, settings, pool, posts, explanations)
                database.execute("COMMIT")
            os.replace(temporary, folder / FILE)
        except (OSError, sqlite3.Error) as error:
            raise LinkerError(f"{folder}: cannot be written ({error}); make room and try again") from error
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def _connected(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        timeout=_PATIENCE,
        isolation_level=None,
        check_same_thread=False,
        uri=True,
    )
    database.text_factory = lambda data: data.decode("utf-8", "surrogatepass")
    database.execute("SELECT 1 FROM contents LIMIT 1").fetchone()
    _choose_journal(database, path)
    return database


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
    status = os.stat(path)
    return status.st_dev, status.st_ino


def _row(event: Event, count: int) -> list[Any]:
    values = [
        _STORED[type(value)](value) if type(value) in _STORED else value for value in astuple(event)[:count]
    ]
    return [_checksum(values), *(_bytes(value) if isinstance(value, str) else value for value in values)]


def _event(values: Sequence[Any]) -> Event:
    event = dict(zip(_COLUMNS, values))
    flags = {name: bool(event.get(name)) for name in ("imported", "at_random", "blind")}
    answers = json.loads(event.get("answers") or "null")
    return Event(**event | flags | {"time": datetime.fromisoformat(event["time"]), "answers": answers})


def _checksum(values: Sequence[Any]) -> int:
    return zlib.crc32(json.dumps(values).encode())


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
