"""The journal of a session: an append-only file of events, shared by several processes."""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal, get_args

from linker.common.errors import DataError, LinkerError
from linker.common.locks import lock
from linker.data.labels.values import LabelValue

Kind = Literal["hand", "label", "undo", "note", "resolve", "machine"]
VALUES: tuple[str, ...] = get_args(LabelValue)

_NAME = re.compile(r"[^\x00-\x1f\x7f\s](?:[^\x00-\x1f\x7f]{0,98}[^\x00-\x1f\x7f\s])?")
_KINDS = get_args(Kind)
# The last value of a line: the CRC-32 of the file up to there; in journals of earlier versions, of the line alone.
_CHAIN, _CHECK = b',"chain":"', b',"check":"'
_END = len(_CHAIN) + len('01234567"}\n')


class EventError(Exception):
    """A line of a journal is invalid."""


def now() -> datetime:
    """Return the time in UTC, in microseconds, so that sorting by time keeps the order of labels."""
    return datetime.now(timezone.utc)


@dataclass(frozen=True, slots=True)
class Action:
    """What an annotator did.

    Attributes:
        kind: `label`; `undo`: take back the annotator's last label; `note`; `resolve`: set the adjudicated label
            of a post on which annotators disagree; `hand` (events only): a post was assigned; `machine` (events
            only): the label of a program, which is compared with those of people and counts for nothing else.
        annotator: name of the annotator.
        post: id of the post; empty for `undo`.
        value: the label, for `label` and `resolve`.
        note: text of `note`, or the note given with a `label`; None leaves an earlier note as it is.
        id: idempotency key: an action whose id is in the journal is not applied again.
        choice: name of the label in the session's label set, if several names have the same `value`.
    """

    kind: Kind
    annotator: str
    post: str = ""
    value: LabelValue | None = None
    note: str | None = None
    id: str | None = None
    choice: str | None = None


@dataclass(frozen=True, slots=True)
class Event(Action):
    """An action as the journal records it.

    Attributes:
        time: time of the action, with its time zone.
        at_random: of `hand` and `label`: whether the post was sampled uniformly from the unlabeled posts.
        position: of `hand`: the post's position in the queue, from 1; 0 if it did not come from the queue.
        imported: of `label`: whether it was imported from a file.
    """

    time: datetime = field(default_factory=now)
    at_random: bool = False
    position: int = 0
    imported: bool = False

    def line(self, before: int = 0) -> bytes:
        """Return the event as JSON with the CRC-32 of the journal up to here, and a newline.

        Args:
            before: the CRC-32 of all lines before.
        """
        values: dict[str, Any] = {
            "event": self.kind,
            "annotator": self.annotator,
            "post": self.post,
            "time": self.time.isoformat(timespec="microseconds"),
        }
        for name in ("value", "choice", "note", "at_random", "position", "imported", "id"):
            if (value := getattr(self, name)) not in (None, False, 0):
                values[name] = value
        body = json.dumps(values, ensure_ascii=False, separators=(",", ":"))[:-1].encode(
            "utf-8", "surrogatepass"
        )
        return body + _CHAIN + _sum(zlib.crc32(body, before))


def _sum(value: int) -> bytes:
    return f'{value:08x}"}}\n'.encode()


def is_chained(line: bytes) -> bool:
    """Return whether the checksum of a line covers the lines before it."""
    return line[-_END:].startswith(_CHAIN)


def event_of(line: bytes, before: int = 0) -> Event:
    """Parse a line, which ends with a newline.

    Args:
        line: the line.
        before: the CRC-32 of all lines before.

    Raises:
        EventError: if the line is damaged, or was written by a newer version; or lines before it were removed, added
            or exchanged.
    """
    body, end = line[:-_END], line[-_END:]
    chained = is_chained(line)
    if end != (_CHAIN + _sum(zlib.crc32(body, before)) if chained else _CHECK + _sum(zlib.crc32(body))):
        raise EventError(
            "damaged, it does not match its checksum, or lines before it were removed, added or exchanged"
        )
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise EventError(f"damaged ({error})") from error
    if values.get("event") not in _KINDS or values.get("value") not in (*VALUES, None):
        raise EventError("written by a newer linker; upgrade this one")
    return Event(
        values["event"],
        values["annotator"],
        values["post"],
        values.get("value"),
        values.get("note"),
        values.get("id"),
        values.get("choice"),
        datetime.fromisoformat(values["time"]),
        values.get("at_random", False),
        values.get("position", 0),
        values.get("imported", False),
    )


def annotator_name(name: str) -> str:
    """Return the name without surrounding white space.

    Raises:
        LinkerError: if it is not a valid name.
    """
    name = name.strip()
    if not _NAME.fullmatch(name):
        raise LinkerError(f"annotator {name[:120]!r}: give a name of 1 to 100 characters on one line")
    return name


class Journal:
    """An append-only file, one event per line. An incomplete last line, left by a kill, is cut off by the next writer.

    Reading never changes the file. Adding needs the lock, which also returns what other processes have added:
    `with journal.locked() as news: …; journal.add([…])`. One object serves one thread at a time.

    Args:
        path: the file; it must exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read = 0
        self._lines = 0
        # CRC-32 of the lines read or added, and whether the newest of them is chained.
        self._sum, self._chained = 0, False
        self._file: int | None = None

    @property
    def lines(self) -> int:
        """Number of lines read or added so far."""
        return self._lines

    def news(self) -> list[Event]:
        """Return the events added since the last call, by any process.

        Raises:
            DataError: if a line is damaged, or the file cannot be read.
        """
        try:
            size = os.stat(self.path).st_size
            if size == self._read:
                return []
            with open(self.path, "rb") as file:
                file.seek(self._read)
                data = file.read()
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read ({error.strerror})") from error
        if size < self._read:
            raise DataError(
                f"{self.path}: is shorter than it was, so it was replaced; open the session again"
            )
        events = []
        before, chained = self._sum, self._chained
        whole = data[: data.rfind(b"\n") + 1]
        lines = [line + b"\n" for line in whole.split(b"\n")[:-1]]
        for number, line in enumerate(lines, start=self._lines + 1):
            try:
                if chained and not is_chained(line):
                    raise EventError("damaged, its checksum does not cover the lines before it")
                events.append(event_of(line, before))
                before, chained = zlib.crc32(line, before), is_chained(line)
            except EventError as error:
                if number == self._lines + len(lines) and b"\0" in line:
                    # After a power loss, blocks that never reached the disk read as zeros.
                    whole = whole[: -len(line)]
                    break
                raise DataError(
                    f"{self.path}, line {number}: {error}; put back a copy of the file, or delete this line and all "
                    "after it to continue from the one before"
                ) from error
        self._read += len(whole)
        self._lines += len(events)
        self._sum, self._chained = before, chained
        return events

    def add(self, events: Sequence[Event], durable: bool = True) -> None:
        """Add events, under the lock.

        Args:
            events: the events.
            durable: wait for the disk; if False, a power loss (not a kill) may lose them.

        Raises:
            LinkerError: if they cannot be written; then none is recorded.
        """
        assert self._file is not None, "add() needs locked()"
        lines, total = [], self._sum
        for event in events:
            lines.append(event.line(total))
            total = zlib.crc32(lines[-1], total)
        data = memoryview(b"".join(lines))
        try:
            os.ftruncate(self._file, self._read)
            os.lseek(self._file, self._read, os.SEEK_SET)
            left = data
            while left:
                left = left[os.write(self._file, left) :]
            if durable:
                os.fsync(self._file)
        except OSError as error:
            try:
                os.ftruncate(self._file, self._read)
            except OSError:
                pass
            raise LinkerError(
                f"{self.path}: cannot be written ({error.strerror}); the last step was not recorded"
            ) from error
        self._read += len(data)
        self._lines += len(events)
        self._sum, self._chained = total, self._chained or bool(lines)

    @contextmanager
    def locked(self) -> Iterator[list[Event]]:
        """Lock the journal against other writers and return the `news`.

        Raises:
            LinkerError: if the file cannot be written, or its file system has no locks.
            DataError: as `news`.
        """
        try:
            file = os.open(self.path, os.O_RDWR | getattr(os, "O_BINARY", 0))
        except OSError as error:
            raise LinkerError(f"{self.path}: cannot be written ({error.strerror})") from error
        try:
            try:
                lock(file)
            except OSError as error:
                raise LinkerError(
                    f"{self.path}: cannot be locked here ({error.strerror}); keep the session on a disk of this machine"
                ) from error
            news = self.news()
            self._file = file
            yield news
        finally:
            self._file = None
            os.close(file)  # releases the lock
