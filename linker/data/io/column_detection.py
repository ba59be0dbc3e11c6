"""Detect the columns and date styles of a file from its header and first rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

from linker.common.errors import DataError
from linker.data.io.columns import Columns, MissingColumnsError, PostColumns
from linker.data.io.dates import (
    AmbiguousDateError,
    DateStyle,
    at_time,
    day_first,
    is_day,
    is_time_of_day,
    parse_date,
)
from linker.data.io.fields import has_no_id, is_missing, is_rounded, put_paths
from linker.data.io.known_columns import FULLER, KNOWN_NAMES, OTHER_TIMES, TITLES, normal
from linker.data.io.line_errors import BadLines, InputFile, SilentFile
from linker.data.io.rows import Row, Table
from linker.data.io.streams import STANDARD_INPUT, shown_name
from linker.data.io.tables import open_table

Rows = Sequence[Mapping[str, Any]]

_WORDS = {"text": "text", "id": "id", "created_at": "time", "lang": "language"}
# Numbers, addresses and dates are not texts, even in a column called `comments`, which is often a count.
_NO_TEXT = re.compile(r"\s*([\d.,:/+-]*|https?://\S+|at://\S+)\s*")
# Not the dates 1.5.2024 and 01/05/2024.
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")
#: Names of columns with times of day.
_CLOCK = re.compile(r"time|hour|clock|uhr|zeit|heure|hora|(?<![a-z])ora|tijd|saat|godz|час|время|时间|時刻")
_DURATION = re.compile(
    r"watch|play|read|run|view|spent|total|average|avg|mean|length|duration|screen|laufzeit|dauer"
)
#: Maximum share of repeated values in a column of ids.
_REPEATED = 0.1
#: Minimum share of dates in a column of times.
_DATES = 0.5


@dataclass
class Guess:
    """Columns detected in a file.

    Attributes:
        names: our name → the columns of the file, where they differ from the mapping asked for; None: the file has
            none.
        notes: parts of one line of information for the user.
        guessed: our columns that were detected.
        likely: our name → a column that may be meant but is not used.
    """

    names: dict[str, list[str] | None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    guessed: set[str] = field(default_factory=set)
    likely: dict[str, str] = field(default_factory=dict)


def guess(columns: Columns, present: Sequence[str], rows: Rows) -> Guess:
    """Detect the columns of posts that were not renamed and that the file does not have.

    Of several candidates the first in `KNOWN_NAMES` is used; the others are named in the notes. Its values must match:
    texts are not numbers or addresses, at least half of the times are dates, at most a tenth of the ids are repeated.
    Without a known name for the time, the only column of written dates is used; several are named in the notes.

    Args:
        columns: the mapping asked for; only columns of posts are detected.
        present: the columns of the file.
        rows: its first rows.
    """
    found = Guess()
    if not isinstance(columns, PostColumns):
        return found
    taken = {name for ours in columns.ours() for name in columns.names(ours) if name in present}
    for ours in ("text", "id", "created_at", "lang"):
        if columns.names(ours) != [ours]:  # named or turned off by the user
            if any(name not in present for name in columns.names(ours)):
                _suggest(found, ours, present, rows)
            continue
        if ours in present:
            if ours == "text":
                _fuller_text(found, present, rows)
            if ours == "id":
                _better_id(found, present, rows)
            continue
        if ours == "lang" and "language" in present:  # `language_of` reads it
            continue
        _guess_one(found, ours, [name for name in present if name not in taken], rows)
        taken.update(found.names.get(ours) or [])
    return found


def _guess_one(found: Guess, ours: str, free: Sequence[str], rows: Rows) -> None:
    order = {name: rank for rank, name in enumerate(KNOWN_NAMES[ours])}
    named = [name for name in free if normal(name) in order]
    fitting = [name for name in named if _fits(ours, [row.get(name) for row in rows])]
    if ours == "id":
        texts = found.names.get("text") or ["text"]
        fitting = [name for name in fitting if _identifies(name, texts, rows)]
    fitting.sort(key=lambda name: order[normal(name)])
    if not fitting and ours == "created_at":
        dated = [name for name in free if _has_written_dates(name, [row.get(name) for row in rows])]
        if len(dated) > 1:
            found.notes.append(
                f"no time: {_quoted(dated)} have dates; name one with --column created_at=NAME"
            )
        fitting = dated if len(dated) == 1 else []
        if not dated and named:
            found.notes.append(_no_dates(named[0], rows))
    if not fitting:
        if ours == "id":
            unfit = f' ("{named[0]}" has empty or repeated values)' if named else ""
            found.names["id"] = None
            found.notes.append(f"ids are made from the content of posts{unfit}")
        elif ours == "text" and (longest := _longest(free, rows)):
            found.likely["text"] = longest
        return
    chosen, *others = fitting
    names = [chosen]
    if ours == "text":
        titles = [name for name in free if normal(name) in TITLES and name != chosen]
        names = titles[:1] + names
        others = [name for name in others if name not in names]
    found.names[ours] = names
    found.guessed.add(ours)
    also = f" (ignored: {_quoted(others)})" if others else ""
    found.notes.append(f"{_WORDS[ours]} from {' and '.join(_quoted([name]) for name in names)}{also}")


def _better_id(found: Guess, present: Sequence[str], rows: Rows) -> None:
    """Prefer `id_str` to `id`, which programs round; without any id, ids are made."""
    better = next((name for name in present if normal(name) == "idstr"), None)
    if better is not None and _fits("id", [row.get(better) for row in rows]):
        found.names["id"] = [better]
        found.notes.append(f"id from {_quoted([better])}")
    elif rows and all(has_no_id(row.get("id")) for row in rows):
        found.names["id"] = None
        found.notes.append('ids are made from the content of posts ("id" is empty)')


def _no_dates(name: str, rows: Rows) -> str:
    filled = (row.get(name) for row in rows if not is_missing(row.get(name)))
    example = next((value for value in filled if not _is_date(value)), None)
    if example is None:
        return f'no time: "{name}" is empty'
    return (
        f'no time: "{name}" has too few dates that can be read (not {str(example)[:40]!r}); '
        "name another column with --column created_at=NAME"
    )


def _suggest(found: Guess, ours: str, present: Sequence[str], rows: Rows) -> None:
    """Find the column that is meant if the user named one that is missing."""
    other = Guess()
    if ours in present:
        found.likely[ours] = ours
    else:
        _guess_one(other, ours, present, rows)
        found.likely.update(other.likely)
        if names := other.names.get(ours):
            found.likely[ours] = names[-1]


def _fuller_text(found: Guess, present: Sequence[str], rows: Rows) -> None:
    """Note a column with full texts if those of `text` are truncated, as in old tweets."""
    fuller = [
        name
        for name in present
        if normal(name) in FULLER and any(_length(row.get(name)) > _length(row.get("text")) for row in rows)
    ]
    if fuller:
        found.notes.append(f'text from "text" (longer: "{fuller[0]}"; use it with --column text={fuller[0]})')


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str) else 0


def _fits(ours: str, values: Sequence[Any]) -> bool:
    filled = [value for value in values if not is_missing(value)]
    if not filled:
        return False
    if ours == "text":
        texts = [value for value in filled if isinstance(value, str)]
        return len(texts) == len(filled) and not all(map(_NO_TEXT.fullmatch, texts))
    if ours == "id":
        labels = [
            value
            for value in filled
            if isinstance(value, str | int) or (isinstance(value, float) and value.is_integer())
        ]
        return len(labels) == len(filled) == len(values) and not any(isinstance(v, bool) for v in labels)
    if ours == "created_at":
        return sum(map(_is_date, filled)) >= _DATES * len(filled)
    return all(isinstance(value, (str, list)) and len(str(value)) < 40 for value in filled)


def _identifies(name: str, texts: Sequence[str], rows: Rows) -> bool:
    """Return whether a column of ids tells posts apart; a post that is there twice, with one text, does not count."""
    posts = {(str(row[name]).strip(), *(str(row.get(text)) for text in texts)) for row in rows}
    # Rounded ids are equal; their lines are reported, rather than read by other ids.
    ids = {id_ for id_, *_ in posts}
    repeated = sum(not is_rounded(id_) for id_, *_ in posts) - sum(not is_rounded(id_) for id_ in ids)
    # Of three posts, one may be there in two versions.
    return repeated <= max(_REPEATED * len(posts), len(posts) > 2)


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


def _longest(names: Sequence[str], rows: Rows) -> str | None:
    """The column, or path into nested objects, with the most characters of text; None if none has words."""
    lengths: dict[str, int] = {}
    for row in rows:
        for name, value in _strings({name: row.get(name) for name in names}, ""):
            if " " in value.strip():
                lengths[name] = lengths.get(name, 0) + len(value)
    known = [name for name in lengths if normal(name.rpartition(".")[2]) in KNOWN_NAMES["text"]]
    return max(known or lengths, key=lambda name: lengths[name], default=None)


def _strings(values: Mapping[str, Any], above: str) -> list[tuple[str, str]]:
    """All strings in nested objects with their dotted paths, at most five levels deep."""
    found = []
    for name, value in values.items():
        path = f"{above}{name}"
        if isinstance(value, str):
            found.append((path, value))
        elif isinstance(value, Mapping) and path.count(".") < 5:
            found += _strings(value, f"{path}.")
    return found


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


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


@contextmanager
def open_records(file: InputFile, columns: Columns) -> Iterator[tuple[Table, Columns]]:
    """Open an input with records of the kind that some columns are of, see `open_table`; return it and its columns."""
    with open_table(file, sniffed_names(columns), columns.encoding, columns.sheet) as table:
        if columns.partly:
            table, present = present_in(table)
            columns = columns.of_those(present)
        yield table, columns


def present_in(table: Table) -> tuple[Table, list[str]]:
    """Return a table, and its columns as far as its first rows show them."""
    head = list(islice(table.rows, _HEAD))
    seen = dict.fromkeys(table.columns or ())
    for row in head:
        seen.update(dict.fromkeys(row.values))
    return replace(table, rows=chain(head, table.rows)), list(seen)


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
            head, styles[ours] = _date_style(name, ours, head, rows, _Source(path, paths, columns))
            if (clock := _clock_of(name, present, head)) is not None:
                found.notes.append(f'time of day from "{clock}"')
                rows = _at_times(chain(head, rows), name, clock)
                head = list(islice(rows, len(head)))
    renamed = renamed.of_file({}, styles)
    has_header = not any(
        _is_like_all(name, [row.values.get(name) for row in head]) for name in table.columns or ()
    )
    return FileColumns(renamed, chain(head, rows), present, found.likely, found.notes, has_header)


def _clock_of(name: str, present: Sequence[str], rows: Sequence[Row]) -> str | None:
    """Return the column with the times of day of a column of dates without them; None: none, or several."""
    days = [value for row in rows if not is_missing(value := row.values.get(name))]
    if not days or not all(map(is_day, days)):
        return None
    clocks = [
        other
        for other in present
        if other != name
        and _CLOCK.search(normal(other))
        and not (_DURATION.search(normal(other)) or OTHER_TIMES.search(normal(other)))
        and (filled := [value for row in rows if not is_missing(value := row.values.get(other))])
        and all(map(is_time_of_day, filled))
    ]
    return clocks[0] if len(clocks) == 1 else None


def _at_times(rows: Iterable[Row], name: str, clock: str) -> Iterator[Row]:
    """Yield rows with the times of day from another column in that of dates."""
    for row in rows:
        row.values[name] = at_time(row.values.get(name), row.values.get(clock))
        yield row


def _is_like_all(name: str, values: Sequence[Any]) -> bool:
    """Return whether a column's name is a number or date, as are all its values."""
    filled = [value for value in values if not is_missing(value)]
    return bool(filled) and all(_is_number(value) or _is_date(value) for value in [name, *filled])


@dataclass(frozen=True)
class _Source:
    """A file whose rows can be read a second time."""

    path: str
    paths: list[str]
    columns: Columns

    def rows(self) -> Iterator[Row]:
        """Yield all good rows again, without reporting bad lines."""
        with (
            BadLines("skip") as unused,
            open_records(SilentFile(self.path, unused), self.columns) as (table, _),
        ):
            yield from with_paths(table.rows, self.paths)


def nested_names(columns: Columns, table: Table) -> list[str]:
    """Return the dotted names of columns that are inside nested values of the rows."""
    names = [name for ours in columns.ours() for name in columns.names(ours)]
    return [name for name in names if "." in name and name not in (table.columns or ())]


def with_paths(rows: Iterable[Row], paths: list[str]) -> Iterator[Row]:
    """Yield rows with the values at dotted paths."""
    if not paths:
        yield from rows
        return
    for row in rows:
        put_paths(row.values, paths)
        yield row


def _date_style(
    name: str, ours: str, head: list[Row], rest: Iterator[Row], source: _Source
) -> tuple[list[Row], DateStyle]:
    """The rows read so far, and how to read a column of dates."""
    of_posts = ours == "created_at"
    votes = {day_first(row.values.get(name)) for row in head} - {None}
    if len(votes) == 1:
        return head, DateStyle(votes.pop(), of_posts=of_posts)
    if not votes and not any(_is_date(row.values.get(name), ambiguous_only=True) for row in head):
        return head, DateStyle(of_posts=of_posts)
    if not votes:
        if source.path == STANDARD_INPUT:
            head += islice(rest, _BUFFERED)
            again: Iterable[Row] = head
        else:
            again = source.rows()
        first = next((vote for row in again if (vote := day_first(row.values.get(name))) is not None), None)
        if first is not None:
            return head, DateStyle(first, of_posts=of_posts)
    return head, DateStyle(of_posts=of_posts)


def report_left_out(file: InputFile, columns: Columns, bad_lines: BadLines) -> None:
    """Report the dates and the lines that were left out while a file was read.

    Args:
        file: the file.
        columns: its columns.
        bad_lines: where they are reported.
    """
    shown = shown_name(file.path)
    bad_lines.note(
        shown,
        [note for ours, style in columns.date_styles.items() for note in style.notes(columns.names(ours)[0])],
    )
    kind = "post" if isinstance(columns, PostColumns) else "record"
    account = file.account(kind) if file.left_out or file.reasons or not file.posts else ""
    if notes := list(filter(None, (account, file.cleaned_note()))):
        bad_lines.info(f"{shown}: {', '.join(notes)}")
    file.warn_of_rounded()
