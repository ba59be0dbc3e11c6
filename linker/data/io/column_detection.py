"""The columns of one file, found out from its header and its first rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from linker.data.io.columns import Columns, PostColumns
from linker.data.io.dates import AmbiguousDateError, DateStyle, day_first, parse_date
from linker.data.io.fields import is_missing, put_paths
from linker.data.io.known_columns import FULLER, KNOWN_NAMES, TITLES, normal
from linker.data.io.line_errors import BadLines, InputFile
from linker.data.io.rows import Row, Table
from linker.data.io.streams import STANDARD_INPUT
from linker.data.io.tables import open_table

Rows = Sequence[Mapping[str, Any]]

_WORDS = {"text": "text", "id": "id", "created_at": "time", "lang": "language"}
# Numbers, addresses and dates are no texts, whatever their column is called: `comments` often counts them.
_NO_TEXT = re.compile(r"\s*([\d.,:/+-]*|https?://\S+|at://\S+)\s*")
_REPEATED = 0.1
"""The share of values that may be there twice in a column of ids: more, and it is that of something else."""
_DATES = 0.5
"""The share of values that must be dates in a column of times."""


@dataclass
class Guess:
    """What was found out about a file's columns.

    Attributes:
        names: by our name those of the file, where they differ from what was asked; None: it has none.
        notes: what to tell the user, in parts of one line.
        guessed: our columns that were guessed.
        likely: our name → a column that may be meant but was not taken.
    """

    names: dict[str, list[str] | None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    guessed: set[str] = field(default_factory=set)
    likely: dict[str, str] = field(default_factory=dict)


def guess(columns: Columns, present: Sequence[str], rows: Rows) -> Guess:
    """Guess those columns of posts that keep our names and are not in the file.

    Of several that may be meant, the one that stands first in `KNOWN_NAMES` is taken and the others are named in the
    notes. A column is taken only if what it holds fits: texts are not numbers or addresses, at least half of the
    times are dates, at most a tenth of the ids are repeated.

    Args:
        columns: what was asked for; other columns than those of posts are not guessed.
        present: the columns of the file.
        rows: its first rows.
    """
    found = Guess()
    if not isinstance(columns, PostColumns):
        return found
    taken = {name for ours in columns.ours() for name in columns.names(ours) if name in present}
    for ours in ("text", "id", "created_at", "lang"):
        if columns.names(ours) != [ours]:  # named by the user, or not to be read
            if any(name not in present for name in columns.names(ours)):
                _suggest(found, ours, present, rows)
            continue
        if ours in present:
            if ours == "text":
                _fuller_text(found, present, rows)
            continue
        if ours == "lang" and "language" in present:  # understood everywhere
            continue
        _guess_one(found, ours, [name for name in present if name not in taken], rows)
        taken.update(found.names.get(ours) or [])
    return found


def _guess_one(found: Guess, ours: str, free: Sequence[str], rows: Rows) -> None:
    order = {name: place for place, name in enumerate(KNOWN_NAMES[ours])}
    named = [name for name in free if normal(name) in order]
    fitting = [name for name in named if _fits(ours, [row.get(name) for row in rows])]
    fitting.sort(key=lambda name: order[normal(name)])
    if not fitting:
        if ours == "id":
            unfit = f' ("{named[0]}" is no id: empty, or the same in many lines)' if named else ""
            found.names["id"] = None
            found.notes.append(f"ids are the line numbers{unfit}")
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
    also = f" (also there: {_quoted(others)})" if others else ""
    found.notes.append(f"{_WORDS[ours]} from {' and '.join(_quoted([name]) for name in names)}{also}")


def _suggest(found: Guess, ours: str, present: Sequence[str], rows: Rows) -> None:
    """Find what is meant where the user named a column that is not there."""
    other = Guess()
    if ours in present:
        found.likely[ours] = ours
    else:
        _guess_one(other, ours, present, rows)
        found.likely.update(other.likely)
        if names := other.names.get(ours):
            found.likely[ours] = names[-1]


def _fuller_text(found: Guess, present: Sequence[str], rows: Rows) -> None:
    """Tell of a column whose texts may be whole where those of `text` were cut, as in old tweets."""
    fuller = [
        name
        for name in present
        if normal(name) in FULLER and any(_length(row.get(name)) > _length(row.get("text")) for row in rows)
    ]
    if fuller:
        found.notes.append(
            f'text from "text" (longer: "{fuller[0]}"; take it with --column text={fuller[0]})'
        )


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
        labels = [value for value in filled if isinstance(value, (str, int)) and not isinstance(value, bool)]
        repeated = len(labels) - len({str(label).strip() for label in labels})
        return len(labels) == len(filled) == len(values) and repeated <= _REPEATED * len(labels)
    if ours == "created_at":
        return sum(map(_is_date, filled)) >= _DATES * len(filled)
    return all(isinstance(value, (str, list)) and len(str(value)) < 40 for value in filled)


def _is_date(value: Any) -> bool:
    try:
        parse_date(value)
    except AmbiguousDateError:
        return True
    except ValueError:
        return False
    return True


def _longest(names: Sequence[str], rows: Rows) -> str | None:
    """The column with the longest texts, in characters, if any holds words; paths into objects are looked at, too."""
    lengths: dict[str, int] = {}
    for row in rows:
        for name, value in _strings({name: row.get(name) for name in names}, ""):
            if " " in value.strip():
                lengths[name] = lengths.get(name, 0) + len(value)
    known = {name for name in lengths if normal(name.rpartition(".")[2]) in KNOWN_NAMES["text"]}
    return max(known or lengths, key=lambda name: lengths[name], default=None)


def _strings(values: Mapping[str, Any], above: str) -> list[tuple[str, str]]:
    """All strings in nested objects, with their dotted paths, not more than five levels deep."""
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
