"""Streams of server-sent events, as curl writes them: `event: update`, `data: {…}`, a blank line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from linker.data.files.line_errors import InputFile, LineError
from linker.data.files.rows import Line, Row, Table

_EVENT = re.compile(rb"^event: ?[\w.]+\r?\n(?:id: ?.*\r?\n)?data: ?", re.MULTILINE)
_FIELD = re.compile(r"(event|data|id|retry)(?:: ?(.*))?", re.DOTALL)


def is_event_stream(head: bytes) -> bool:
    """Return whether a file that begins with a comment or an event is a stream of events."""
    return _EVENT.search(head) is not None


def event_table(file: InputFile, lines: Iterator[Line]) -> Table:
    """Open a stream of events; rows have the columns `event` and `payload`, the number of their first line.

    Comments, with which servers keep a connection alive, are no rows.
    """

    def rows() -> Iterator[Row]:
        taken: list[Line] = []
        for line in lines:
            if line.text.startswith(":"):
                continue
            if line.text:
                taken.append(line)
            elif taken:
                yield from _row(taken, file)
                taken = []
        if taken:
            yield from _row(taken, file)

    return Table("events", ["event", "payload"], rows())


def _row(taken: list[Line], file: InputFile) -> Iterator[Row]:
    raw = "\n".join(line.text for line in taken)
    fields: dict[str, list[str]] = {}
    for line in taken:
        match = _FIELD.fullmatch(line.text)
        if match is None:
            file.bad(line.number, LineError("not an event", line.text[:40]), raw)
            return
        fields.setdefault(match[1], []).append(match[2] or "")
    if fields.keys() & {"event", "data"}:
        values = {"event": "".join(fields.get("event", [])), "payload": "\n".join(fields.get("data", []))}
        yield Row(taken[0].number, values, raw)
