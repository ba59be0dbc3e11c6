"""Requests that are done once, however often they are sent: after lost answers, and after a restart."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from linker.annotation.session.journal import Event, EventError, event_of
from linker.common.errors import DataError, LinkerError

_LONGEST_LINE = 1 << 20


class Once:
    """Remembers by their ids which requests were done.

    Before a request is done, its id is written down with the length that the journal has then. Whether a request from
    before a restart was done is seen in the journal behind that place, so a kill between the two files does no harm.

    Args:
        path: the file of ids; made when the first one comes.
        journal: the session's journal.
    """

    def __init__(self, path: Path, journal: Path) -> None:
        self._path = path
        self._journal = journal
        self._done: dict[str, str | None] = {}
        self._begun = self._read()

    def do(self, id_: str, mine: Callable[[Event], bool], act: Callable[[], str | None]) -> str | None:
        """Do a request unless it was done; one thread at a time.

        Args:
            id_: of the request.
            mine: is this event what the request comes to?
            act: does it.

        Returns:
            the post that it was about, None where there was nothing to do; the same for every repetition.

        Raises:
            LinkerError: what `act` raises, or the files cannot be read or written; the request was not done.
        """
        if id_ in self._done:
            return self._done[id_]
        start, end = self._begun.get(id_, (0, 0))
        event = (
            next((one for one in self._events(start, end) if mine(one)), None) if id_ in self._begun else None
        )
        if event is None:
            self._begin(id_)
            self._done[id_] = act()
        else:
            self._done[id_] = event.post
        return self._done[id_]

    def _read(self) -> dict[str, tuple[int, int | None]]:
        """Id → from where to where in the journal its event would stand. A last line that a kill cut is no line."""
        try:
            lines = self._path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise DataError(f"{self._path}: cannot be read ({error.strerror})") from error
        begun: list[tuple[str, int]] = []
        for line in lines:
            try:
                values = json.loads(line)
                begun.append((str(values["id"]), int(values["at"])))
            except (ValueError, KeyError, TypeError):
                continue
        ends = [at for _, at in begun[1:]]
        return {id_: (at, end) for (id_, at), end in zip(begun, [*ends, None])}

    def _events(self, start: int, end: int | None) -> list[Event]:
        with open(self._journal, "rb") as file:
            file.seek(start)
            data = file.read() if end is None else file.read(end - start)
        events = []
        for line in data[: data.rfind(b"\n") + 1].splitlines(keepends=True):
            try:
                events.append(event_of(line))
            except EventError:  # the session itself says what is wrong with it
                continue
        return events

    def _begin(self, id_: str) -> None:
        line = json.dumps({"id": id_, "at": self._length()}).encode()
        try:
            with open(self._path, "ab") as file:
                file.write((b"\n" if file.tell() else b"") + line)  # a cut line before this one ends here
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise LinkerError(f"{self._path}: cannot be written ({error.strerror})") from error

    def _length(self) -> int:
        """Of the whole lines of the journal: what a kill left behind them will be overwritten."""
        with open(self._journal, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            start = file.seek(max(0, size - _LONGEST_LINE))
            return start + file.read().rfind(b"\n") + 1
