"""Lines that are only ever added."""

from __future__ import annotations

import os
import zlib
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from linker.annotation.session.journal import Event, EventError, Journal, event_of
from linker.common.errors import DataError, LinkerError

TIME = datetime(2031, 5, 14, 10, 0, 0, 123000, tzinfo=timezone.utc)


def label(post: str, note: str | None = None) -> Event:
    return Event("label", "kim", post, "relevant", note, time=TIME)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "journal.jsonl").touch()
    return tmp_path / "journal.jsonl"


def add(journal: Journal, *events: Event) -> None:
    with journal.locked():
        journal.add(events)


@pytest.mark.parametrize(
    "event",
    [
        label("p1"),
        label("p\n2", 'line one\r\nline "two"\u2028 🦦 \ud83e ,"check":"00000000"}'),
        Event("hand", "Ζωή", "p", time=TIME, at_random=True, position=7),
        Event("undo", "kim", "", time=TIME),
        Event("label", "kim", "p", "skip", "", time=TIME, imported=True),
        Event("label", "kim", "p", "not", id="00001-ab", time=TIME),
        Event("resolve", "kim", "p", "not", time=TIME),
    ],
)
def test_an_event_comes_back_from_its_line(event: Event) -> None:
    line = event.line()
    assert line.count(b"\n") == 1
    assert event_of(line) == event


def test_every_changed_byte_of_a_line_is_noticed() -> None:
    line = label("p1", "größer").line()
    for place in range(len(line)):
        changed = line[:place] + bytes([line[place] ^ 1]) + line[place + 1 :]
        with pytest.raises(EventError):
            event_of(changed)


def test_two_journals_of_one_file_see_each_other(path: Path) -> None:
    one, other = Journal(path), Journal(path)
    add(one, label("p1"), label("p2"))
    with other.locked() as news:
        assert [event.post for event in news] == ["p1", "p2"]
        other.add([label("p3")])
    assert [event.post for event in one.news()] == ["p3"]
    assert one.news() == other.news() == []
    assert (one.lines, other.lines) == (3, 3)
    assert [event.post for event in Journal(path).news()] == ["p1", "p2", "p3"]


@pytest.mark.parametrize("cut", range(1, len(label("p2").line())))
def test_a_torn_last_line_is_cut_off_wherever_it_is_torn(path: Path, cut: int) -> None:
    add(Journal(path), label("p1"))
    with path.open("ab") as file:
        file.write(label("p2").line()[:cut])
    torn = path.read_bytes()
    journal = Journal(path)
    assert [event.post for event in journal.news()] == ["p1"]
    assert path.read_bytes() == torn  # reading changes nothing
    add(journal, label("p3"))
    assert [event.post for event in Journal(path).news()] == ["p1", "p3"]


def test_a_last_line_of_zeros_is_cut_off(path: Path) -> None:
    add(Journal(path), label("p1"))
    with path.open("ab") as file:
        file.write(b"\0" * 50 + label("p2").line()[50:])
    journal = Journal(path)
    assert [event.post for event in journal.news()] == ["p1"]
    add(journal, label("p3"))
    assert [event.post for event in Journal(path).news()] == ["p1", "p3"]


def test_a_broken_line_in_the_middle_is_named(path: Path) -> None:
    add(Journal(path), *(label(f"p{i}") for i in range(5)))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], lines[2].replace(b"relevant", b"not"), *lines[3:]]))
    with pytest.raises(DataError, match=r"journal\.jsonl, line 3: damaged"):
        Journal(path).news()
    path.write_bytes(b"".join([*lines[:2], lines[2][:30], *lines[3:]]))  # torn, and others wrote on
    with pytest.raises(DataError, match="line 3: damaged"):
        Journal(path).news()


def test_a_broken_line_is_named_by_its_number_among_all_lines(path: Path) -> None:
    journal = Journal(path)
    add(journal, label("p1"), label("p2"))
    with path.open("ab") as file:
        file.write(label("p3").line(zlib.crc32(path.read_bytes())) + b"{}\n")
    with pytest.raises(DataError, match="line 4"):
        journal.news()


def old_line(event: Event) -> bytes:
    """A line of earlier versions, whose checksum is of this line alone."""
    body = event.line().rpartition(b',"chain":"')[0]
    return body + b',"check":"' + f'{zlib.crc32(body):08x}"}}\n'.encode()


@pytest.mark.parametrize("old", [0, 2])
@pytest.mark.parametrize(
    ("changed", "line"),
    [
        (lambda lines: lines[1:], 1),
        (lambda lines: [*lines[:3], *lines[4:]], 4),
        (lambda lines: [*lines, lines[4]], 7),
        (lambda lines: [*lines, lines[0]], 7),
        (lambda lines: [*lines[:4], lines[5], lines[4]], 5),
        (lambda lines: [lines[1], lines[0], *lines[2:]], 1),
    ],
)
def test_lines_removed_repeated_or_exchanged_are_noticed(
    path: Path, old: int, changed: Any, line: int
) -> None:
    path.write_bytes(b"".join(old_line(label(f"p{i}")) for i in range(old)))
    add(Journal(path), *(label(f"p{i}") for i in range(old, 6)))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(changed(lines)))
    # Lines of earlier versions are covered by the first line after them.
    with pytest.raises(DataError, match=f"line {max(line, old + 1 - (len(changed(lines)) < 6))}: damaged"):
        Journal(path).news()


def test_journals_of_earlier_versions_open_and_are_continued(path: Path) -> None:
    path.write_bytes(old_line(label("p1")) + old_line(label("p2")))
    journal = Journal(path)
    assert [event.post for event in journal.news()] == ["p1", "p2"]
    add(journal, label("p3"))
    assert [event.post for event in Journal(path).news()] == ["p1", "p2", "p3"]


def test_a_kind_of_event_from_the_future(path: Path) -> None:
    path.write_bytes(Event("praise", "kim", "p").line())  # type: ignore[arg-type]
    with pytest.raises(DataError, match="line 1: written by a newer linker"):
        Journal(path).news()


def test_a_journal_that_shrank_is_not_gone_on_with(path: Path) -> None:
    journal = Journal(path)
    add(journal, label("p1"))
    path.write_bytes(b"")
    with pytest.raises(DataError, match="shorter than it was"):
        journal.news()
    with pytest.raises(DataError, match="shorter than it was"), journal.locked():
        pass


def test_a_full_disk_keeps_nothing_of_a_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(path)
    add(journal, label("p1"))
    before = path.read_bytes()
    write, calls = os.write, []

    def half(file: int, data: memoryview) -> int:
        calls.append(1)
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        return write(file, data[: len(data) // 2])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(LinkerError, match="No space left on device"):
        add(journal, label("p2"))
    monkeypatch.undo()
    assert path.read_bytes() == before
    add(journal, label("p3"))
    assert [event.post for event in Journal(path).news()] == ["p1", "p3"]


def test_events_are_on_the_disk_before_add_returns(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_size))
    journal = Journal(path)
    add(journal, label("p1"))
    assert synced == [path.stat().st_size]
