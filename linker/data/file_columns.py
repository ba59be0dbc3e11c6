"""The columns of one file, found out from its header and its first rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from linker.data.column_guesses import guess
from linker.data.columns import Columns, PostColumns
from linker.data.date_style import DateStyle
from linker.data.dates import AmbiguousDateError, day_first, parse_date
from linker.data.formats.bad_lines import BadLines, InputFile
from linker.data.formats.opening import STANDARD_INPUT
from linker.data.formats.rows import Row, Table
from linker.data.formats.tables import open_table
from linker.data.known_names import KNOWN_NAMES
from linker.data.paths import put_paths

_HEAD = 200
"""Rows that are looked at before the first is read."""
_HELD = 20_000
"""Rows of standard input, which cannot be read twice, that are held until one shows whether the day is first."""


@dataclass
class FileColumns:
    """What one file's columns are.

    Attributes:
        columns: their names, with how its dates are read.
        rows: all its rows, dotted paths among their values.
        present: the columns it has, as far as they are known.
        likely: our name → a column that may be meant, for the message on missing ones.
        notes: what to tell the user about the guesses.
    """

    columns: Columns
    rows: Iterator[Row]
    present: list[str]
    likely: dict[str, str]
    notes: list[str]


def sniffed_names(columns: Columns) -> tuple[set[str], set[str]]:
    """Names that tell a header from plain text: exact ones, and those known of others in their normal form."""
    known = {name for names in KNOWN_NAMES.values() for name in names}
    return columns.all_names(), known if isinstance(columns, PostColumns) else set()


def columns_of(columns: Columns, table: Table, path: str) -> FileColumns:
    """Find out what the columns of an open file are.

    Args:
        columns: what was asked for.
        table: the file.
        path: where it lies, to read it again where its dates need that.
    """
    names = [name for ours in columns.ours() for name in columns.names(ours)]
    paths = [name for name in names if "." in name and name not in (table.columns or ())]
    rows = _with_paths(table.rows, paths) if paths else table.rows
    head = list(islice(rows, _HEAD))
    seen = dict.fromkeys(table.columns or ())
    for row in head:
        seen.update(dict.fromkeys(row.values))
    present = list(seen)
    if not head or table.format == "txt":
        return FileColumns(columns, chain(head, rows), present, {}, [])
    found = guess(columns, present, [row.values for row in head])
    renamed = columns.of_file(found.names, {})
    styles = {}
    for ours in columns.dates:
        for name in renamed.names(ours):
            head, style = _date_style(name, ours in found.guessed, head, rows, _Source(path, paths, columns))
            if style is not None:
                styles[ours] = style
    renamed = renamed.of_file({}, styles)
    return FileColumns(renamed, chain(head, rows), present, found.likely, found.notes)


@dataclass(frozen=True)
class _Source:
    """Where rows came from, to read them a second time."""

    path: str
    paths: list[str]
    columns: Columns

    def rows(self) -> Iterator[Row]:
        """All good rows once more; bad lines were reported, or will be."""
        with (
            BadLines("skip") as nowhere,
            open_table(_Deaf(self.path, nowhere), sniffed_names(self.columns)) as table,
        ):
            yield from _with_paths(table.rows, self.paths)


class _Deaf(InputFile):
    """An input whose bad lines are reported by somebody else."""

    def bad(self, *_: Any) -> None:
        """Do nothing."""


def _with_paths(rows: Iterable[Row], paths: list[str]) -> Iterator[Row]:
    for row in rows:
        put_paths(row.values, paths)
        yield row


def _date_style(
    name: str, guessed: bool, head: list[Row], rest: Iterator[Row], source: _Source
) -> tuple[list[Row], DateStyle | None]:
    """How to read a column of dates, and the rows that were looked at for that."""
    votes = {day_first(row.values.get(name)) for row in head} - {None}
    if len(votes) == 1:
        return head, DateStyle(votes.pop(), guessed=guessed)
    if not votes and not any(_ambiguous(row.values.get(name)) for row in head):
        return head, DateStyle(guessed=True) if guessed else None
    if not votes:
        if source.path == STANDARD_INPUT:
            head += islice(rest, _HELD)
            again: Iterable[Row] = head
        else:
            again = source.rows()
        first = next((vote for row in again if (vote := day_first(row.values.get(name))) is not None), None)
        if first is not None:
            return head, DateStyle(first, guessed=guessed)
    return head, DateStyle(undecided=True, guessed=guessed)


def _ambiguous(value: Any) -> bool:
    try:
        parse_date(value)
    except AmbiguousDateError:
        return True
    except ValueError:
        return False
    return False


def left_out_notes(columns: Columns) -> list[str]:
    """What to tell of dates that were left out while a file was read."""
    return [
        style.note(columns.names(ours)[0]) for ours, style in columns.date_styles.items() if style.left_out
    ]
