"""Detect the columns and date styles of a file from its header and first rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from linker.common.errors import DataError
from linker.data.files.formats.delimited import guard_of
from linker.data.files.known_columns import FULLER, KNOWN_NAMES, OTHER_TIMES, TITLES, normal
from linker.data.files.line_errors import InputFile
from linker.data.files.rows import Row, Table
from linker.data.files.streams import STANDARD_INPUT
from linker.data.files.tables import open_table
from linker.data.io.columns import Columns, MissingColumnsError, PostColumns
from linker.data.io.date_styles import DateStyle
from linker.data.io.dates import AmbiguousDateError, day_first, parse_date
from linker.data.io.fields import has_no_id, is_missing, is_rounded, put_paths

Rows = Sequence[Mapping[str, Any]]

_WORDS = {"text": "text", "id": "id", "created_at": "time", "lang": "language"}
# Numbers, addresses and dates are not texts, even in a column called `comments`, which is often a count.
_NO_TEXT = re.compile(r"\s*([\d.,:/+-]*|https?://\S+|at://\S+)\s*")
# Not the dates 1.5.2024 and 01/05/2024.
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")
#: Maximum share of repeated values in a column of ids, minimum share of dates in a column of times.
_REPEATED, _DATES = 0.1, 0.5
#: Number of rows used for detection.
_HEAD = 200
#: Number of rows of standard input, which cannot be read twice, that are buffered to find the order of day and month.
_BUFFERED = 20_000


@dataclass
class FileColumns:
    """The columns of one file, and its rows.

    Attributes:
        columns: the mapping for this file, with its date styles.
        rows: all rows, with the values at dotted paths.
        present: the columns of the file, as far as known.
        likely: our name → a column that may be meant, for messages on missing columns.
        notes: information for the user about detected columns.
        has_header: whether the first line of a table has names, not a number or date above others.
    """

    columns: Columns
    rows: Iterator[Row]
    present: list[str]
    likely: dict[str, str]
    notes: list[str]
    has_header: bool = True

    def check(self, shown: str) -> None:
        """Check that the file has all required and all renamed columns, as far as its columns are known.

        Raises:
            MissingColumnsError: if columns are missing.
            DataError: if they are because the table has no header.
        """
        try:
            self.columns.check(self.present, shown, self.likely)
        except MissingColumnsError as error:
            if self.has_header:
                raise
            first = ", ".join(name if len(name) <= 30 else f"{name[:30]}…" for name in self.present[:5])
            raise DataError(
                f"{shown}: the first line has values in place of the names of columns ({first}); add a line above it "
                "with the names, such as id, text and created_at"
            ) from error


def sniffed_names(columns: Columns) -> tuple[set[str], set[str]]:
    """Return names that distinguish a header from plain text: exact ones, and known ones in their normal form."""
    known = {name for names in KNOWN_NAMES.values() for name in names}
    return columns.all_names(), known if isinstance(columns, PostColumns) else set()


def open_records(file: InputFile, columns: Columns) -> AbstractContextManager[Table]:
    """Open an input with records of the kind that some columns are of, see `open_table`."""
    return open_table(file, sniffed_names(columns), columns.encoding, columns.sheet)


def columns_of(columns: Columns, table: Table, path: str) -> FileColumns:
    """Detect the columns of an open file.

    Args:
        columns: the mapping asked for.
        table: the file.
        path: its path, to read it a second time if its dates are ambiguous.
    """
    paths = nested_names(columns, table)
    rows = with_paths(table.rows, paths)
    head = list(islice(rows, _HEAD))
    present = list(dict.fromkeys(chain(table.columns or (), *(row.values for row in head))))
    rows = chain(head, rows)
    if not head or table.format == "txt":
        return FileColumns(columns, rows, present, {}, [])
    detection = _Detection(columns, present, [row.values for row in head])
    if isinstance(columns, PostColumns):
        detection.detect()
    renamed = columns.of_file(detection.names, {})
    styles = {}
    for ours in columns.dates:
        for name in renamed.names(ours):
            first, rows = _day_first(name, head, rows, columns, path, paths)
            styles[ours] = DateStyle(first, of_posts=ours == "created_at")
    has_header = not any(
        _is_like_all(name, [row.values.get(name) for row in head]) for name in table.columns or ()
    )
    renamed = renamed.of_file({}, styles)
    if isinstance(renamed, PostColumns) and guard_of(head[0].values):
        renamed.plain = True  # linker wrote the file: what looks like HTML is what the author wrote
    return FileColumns(renamed, rows, present, detection.likely, detection.notes, has_header)


class _Detection:
    """Columns of posts that were not renamed and that the file does not have.

    Of several candidates the first in `KNOWN_NAMES` is used; the others are named in the notes. Its values must match:
    texts are not numbers or addresses, at least half of the times are dates, at most a tenth of the ids are repeated.
    Without a known name for the time, the only column of written dates is used; several are named in the notes.

    Args:
        columns: the mapping asked for.
        present: the columns of the file.
        rows: its first rows.

    Attributes:
        names: our name → the columns of the file, where they differ from the mapping asked for; None: it has none.
        notes: parts of one line of information for the user.
        likely: our name → a column that may be meant but is not used.
    """

    def __init__(self, columns: Columns, present: Sequence[str], rows: Rows) -> None:
        self._columns, self._present, self._rows = columns, present, rows
        self.names: dict[str, list[str] | None] = {}
        self.notes: list[str] = []
        self.likely: dict[str, str] = {}

    def detect(self) -> None:
        """Detect the columns of posts."""
        asked, present = self._columns, self._present
        taken = {name for ours in asked.ours() for name in asked.names(ours) if name in present}
        for ours in ("text", "id", "created_at", "lang"):
            if asked.names(ours) != [ours]:  # named or turned off by the user
                if any(name not in present for name in asked.names(ours)):
                    self._suggest(ours)
            elif ours in present:
                if ours == "text":
                    self._note_fuller_text()
                elif ours == "id":
                    self._prefer_better_id()
            elif ours != "lang" or "language" not in present:  # `language_of` reads the latter
                self._find(ours, [name for name in present if name not in taken])
                taken.update(self.names.get(ours) or [])

    def _values(self, name: str) -> list[Any]:
        return [row.get(name) for row in self._rows]

    def _find(self, ours: str, free: Sequence[str]) -> None:
        order = {name: rank for rank, name in enumerate(KNOWN_NAMES[ours])}
        named = sorted((name for name in free if normal(name) in order), key=lambda name: order[normal(name)])
        fitting = [name for name in named if _fits(ours, self._values(name))]
        if ours == "id":
            texts = self.names.get("text") or ["text"]
            fitting = [name for name in fitting if _identifies(name, texts, self._rows)]
        if ours == "created_at" and not fitting:
            fitting = self._dated(free, [name for name in free if name in named])
        if not fitting:
            if ours == "id":
                unfit = next(
                    (f' ("{name}" has empty or repeated values)' for name in free if name in named), ""
                )
                self.names["id"] = None
                self.notes.append(f"ids are made from the content of posts{unfit}")
            elif ours == "text" and (longest := _longest(free, self._rows)):
                self.likely["text"] = longest
            return
        names = fitting[:1]
        if ours == "text":
            titles = [name for name in free if normal(name) in TITLES and name != names[0]]
            names = titles[:1] + names
        others = [name for name in fitting if name not in names]
        self.names[ours] = names
        also = f" (ignored: {_quoted(others)})" if others else ""
        self.notes.append(f"{_WORDS[ours]} from {' and '.join(_quoted([name]) for name in names)}{also}")

    def _dated(self, free: Sequence[str], named: Sequence[str]) -> list[str]:
        """The only column of written dates."""
        dated = [name for name in free if _has_written_dates(name, self._values(name))]
        if len(dated) > 1:
            self.notes.append(f"no time: {_quoted(dated)} have dates; name one with --column created_at=NAME")
        elif not dated and named:
            filled = (value for value in self._values(named[0]) if not is_missing(value))
            example = next((value for value in filled if not _is_date(value)), None)
            self.notes.append(
                f'no time: "{named[0]}" is empty'
                if example is None
                else f'no time: "{named[0]}" has too few dates that can be read (not {str(example)[:40]!r}); '
                "name another column with --column created_at=NAME"
            )
        return dated if len(dated) == 1 else []

    def _suggest(self, ours: str) -> None:
        """Find the column that is meant if the user named one that is missing."""
        if ours in self._present:
            self.likely[ours] = ours
            return
        other = _Detection(self._columns, self._present, self._rows)
        other._find(ours, self._present)
        self.likely |= other.likely
        if names := other.names.get(ours):
            self.likely[ours] = names[-1]

    def _prefer_better_id(self) -> None:
        """Prefer `id_str` to `id`, which programs round; without any id, ids are made."""
        better = next((name for name in self._present if normal(name) == "idstr"), None)
        if better is not None and _fits("id", self._values(better)):
            self.names["id"] = [better]
            self.notes.append(f"id from {_quoted([better])}")
        elif self._rows and all(map(has_no_id, self._values("id"))):
            self.names["id"] = None
            self.notes.append('ids are made from the content of posts ("id" is empty)')

    def _note_fuller_text(self) -> None:
        """Note a column with full texts if those of `text` are truncated, as in old tweets."""
        for name in self._present:
            texts = ((row.get(name), row.get("text")) for row in self._rows) if normal(name) in FULLER else ()
            if any(isinstance(full, str) and len(full) > len(text or "") for full, text in texts):
                self.notes.append(f'text from "text" (longer: "{name}"; use it with --column text={name})')
                return


def _fits(ours: str, values: Sequence[Any]) -> bool:
    filled = [value for value in values if not is_missing(value)]
    if not filled:
        return False
    if ours == "text":
        return all(isinstance(value, str) for value in filled) and not all(map(_NO_TEXT.fullmatch, filled))
    if ours == "id":
        return len(filled) == len(values) and all(
            (isinstance(value, str | int) and not isinstance(value, bool))
            or (isinstance(value, float) and value.is_integer())
            for value in filled
        )
    if ours == "created_at":
        return sum(map(_is_date, filled)) >= _DATES * len(filled)
    return all(isinstance(value, (str, list)) and len(str(value)) < 40 for value in filled)


def _identifies(name: str, texts: Sequence[str], rows: Rows) -> bool:
    """Return whether a column of ids tells posts apart; a post that is there twice, with one text, does not count."""
    posts = {(str(row[name]).strip(), *(str(row.get(text)) for text in texts)) for row in rows}
    # Rounded ids are equal; their lines are reported, rather than read by other ids.
    ids = [id_ for id_, *_ in posts if not is_rounded(id_)]
    # Of three posts, one may be there in two versions.
    return len(ids) - len(set(ids)) <= max(_REPEATED * len(posts), len(posts) > 2)


def _has_written_dates(name: str, values: Sequence[Any]) -> bool:
    """Return whether all values are dates, not numbers, and the name is not that of another time than the post's."""
    filled = [value for value in values if not is_missing(value)]
    dates = bool(filled) and all(_is_date(value) and not _is_number(value) for value in filled)
    return dates and not OTHER_TIMES.search(normal(name))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) or bool(_NUMBER.fullmatch(str(value)))


def _is_date(value: Any, ambiguous_only: bool = False) -> bool:
    try:
        parse_date(value)
    except AmbiguousDateError:
        return True
    except ValueError:
        return False
    return not ambiguous_only


def _is_like_all(name: str, values: Sequence[Any]) -> bool:
    """Return whether a column's name is a number or date, as are all its values."""
    filled = [value for value in values if not is_missing(value)]
    return bool(filled) and all(_is_number(value) or _is_date(value) for value in [name, *filled])


def _longest(names: Sequence[str], rows: Rows) -> str | None:
    """The column, or path into nested objects, with the most characters of text; None if none has words."""
    lengths: dict[str, int] = {}
    for row in rows:
        for name, value in _strings({name: row.get(name) for name in names}, ""):
            if " " in value.strip():
                lengths[name] = lengths.get(name, 0) + len(value)
    known = [name for name in lengths if normal(name.rpartition(".")[2]) in KNOWN_NAMES["text"]]
    return max(known or lengths, key=lambda name: lengths[name], default=None)


def _strings(values: Mapping[str, Any], above: str) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        path = f"{above}{name}"
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, Mapping) and path.count(".") < 5:
            yield from _strings(value, f"{path}.")


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def nested_names(columns: Columns, table: Table) -> list[str]:
    """Return the dotted names of columns that are inside nested values of the rows."""
    names = [name for ours in columns.ours() for name in columns.names(ours)]
    return [name for name in names if "." in name and name not in (table.columns or ())]


def with_paths(rows: Iterable[Row], paths: list[str]) -> Iterator[Row]:
    """Yield rows with the values at dotted paths."""
    for row in rows:
        if paths:
            put_paths(row.values, paths)
        yield row


def _day_first(
    name: str, head: Sequence[Row], rows: Iterator[Row], columns: Columns, path: str, paths: list[str]
) -> tuple[bool | None, Iterator[Row]]:
    """Whether the day is first in a column of dates, None: unknown; and all rows.

    Where the first rows do not show it, the file is read a second time, or standard input further.
    """
    votes = {day_first(row.values.get(name)) for row in head} - {None}
    if votes or not any(_is_date(row.values.get(name), ambiguous_only=True) for row in head):
        return (votes.pop() if len(votes) == 1 else None), rows
    if path == STANDARD_INPUT:
        buffered = list(islice(rows, len(head) + _BUFFERED))
        return _first_vote(name, buffered), chain(buffered, rows)
    with open_records(InputFile(path), columns) as table:
        return _first_vote(name, with_paths(table.rows, paths)), rows


def _first_vote(name: str, rows: Iterable[Row]) -> bool | None:
    return next((vote for row in rows if (vote := day_first(row.values.get(name))) is not None), None)
