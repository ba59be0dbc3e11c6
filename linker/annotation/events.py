"""What happens in a session, as lines of its journal."""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal, get_args

from linker.annotation.records import Value
from linker.errors import LinkerError

Kind = Literal["hand", "label", "undo", "note", "resolve"]
VALUES: tuple[str, ...] = get_args(Value)

_NAME = re.compile(r"[^\x00-\x1f\x7f\s](?:[^\x00-\x1f\x7f]{0,98}[^\x00-\x1f\x7f\s])?")
_KINDS = get_args(Kind)
_CHECK = b',"check":"'


class EventError(Exception):
    """What is wrong with a line of a journal."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that an annotator did, or was given.

    Attributes:
        kind: `hand`: a post was shown; `label`; `undo`: the annotator's last label is taken back; `note`;
            `resolve`: the label that holds where annotators disagree.
        annotator: whose.
        post: the post's id.
        time: when.
        value: of `label` and `resolve`.
        note: of `note`, and of `label` where one was given with it.
        at_random: of `hand` and `label`: was the post drawn with equal chances?
        position: of `hand`: where the post stood in the order, from 1; 0 where it was not taken from there.
        imported: of `label`: it came from a file.
    """

    kind: Kind
    annotator: str
    post: str
    time: datetime
    value: Value | None = None
    note: str | None = None
    at_random: bool = False
    position: int = 0
    imported: bool = False

    def line(self) -> bytes:
        """JSON with a CRC-32 of what stands before it, and a newline."""
        values: dict[str, Any] = {
            "event": self.kind,
            "annotator": self.annotator,
            "post": self.post,
            "time": self.time.isoformat(timespec="microseconds"),
        }
        for name in ("value", "note", "at_random", "position", "imported"):
            if (value := getattr(self, name)) not in (None, False, 0):
                values[name] = value
        body = json.dumps(values, ensure_ascii=False, separators=(",", ":"))[:-1].encode(
            "utf-8", "surrogatepass"
        )
        return body + _CHECK + f'{zlib.crc32(body):08x}"}}\n'.encode()


def event_of(line: bytes) -> Event:
    """The event in a line, which ends with a newline.

    Raises:
        EventError: the line is damaged, or of a newer version.
    """
    place = line.rfind(_CHECK)
    if place < 0 or line[place + len(_CHECK) :] != f'{zlib.crc32(line[:place]):08x}"}}\n'.encode():
        raise EventError("damaged, it does not match its checksum")
    values = json.loads(line)
    if values.get("event") not in _KINDS or values.get("value") not in (*VALUES, None):
        raise EventError("written by a newer linker; upgrade this one")
    return Event(
        values["event"],
        values["annotator"],
        values["post"],
        datetime.fromisoformat(values["time"]),
        values.get("value"),
        values.get("note"),
        values.get("at_random", False),
        values.get("position", 0),
        values.get("imported", False),
    )


def annotator_name(name: str) -> str:
    """The name without white space around it.

    Raises:
        LinkerError: it is no name.
    """
    name = name.strip()
    if not _NAME.fullmatch(name):
        raise LinkerError(f"annotator {name[:120]!r}: give a name of 1 to 100 characters on one line")
    return name


def now() -> datetime:
    """The time in UTC. In microseconds, so that labels of the same moment keep their order where times sort them."""
    return datetime.now(timezone.utc)
