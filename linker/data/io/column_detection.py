"""Detect the columns and date styles of a file from its header and first rows."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from linker.common.errors import DataError
from linker.data.files.formats.delimited import guard_of
from linker.data.files.known_columns import KNOWN_NAMES, TITLES, normal
from linker.data.files.line_errors import InputFile
from linker.data.files.rows import Row, Table
from linker.data.files.tables import open_table
from linker.data.io.columns import Columns, MissingColumnsError, PostColumns
from linker.data.io.date_styles import DateStyle
from linker.data.io.dates import AmbiguousDateError, day_first, parse_date
from linker.data.io.fields import has_no_id, is_missing, is_rounded

Values = Mapping[str, Sequence[Any]]

_WORDS = {"text": "text", "id": "id", "created_at": "time", "lang": "language"}
# Numbers, addresses and dates are not texts, even in a column called `comments`, which is often a count.
_NO_TEXT = re.compile(r"\s*([\d.,:/+-]*|https?://\S+|at://\S+)\s*")
# Not the dates 1.5.2024 and 01/05/2024.
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")
#: Maximum share of repeated values in a column of ids, minimum share of dates in a column of times.
_REPEATED, _DATES = 0.1, 0.5
#: Number of rows used for detection, and of further ones that may show the order of day and month.
_HEAD, _BUFFERED = 200, 20_000


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
        order: `day` or `month`, whichever is first in dates like 5/6/2015, or `unknown`; empty: no such dates.
    """

    columns: Columns
    rows: Iterator[Row]
    present: list[str]
    likely: dict[str, str]
    notes: list[str]
    has_header: bool = True
    order: str = ""

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


def columns_of(columns: Columns, table: Table) -> FileColumns:
    """Detect the columns of an open file."""
    asked = [name for ours in columns.ours() for name in columns.names(ours)]
    rows = _with_paths(
        table.rows, [name for name in asked if "." in name and name not in (table.columns or ())]
    )
    head = list(islice(rows, _HEAD))
    present = list(dict.fromkeys(chain(table.columns or (), *(row.values for row in head))))
    rows = chain(head, rows)
    if not head or table.format == "txt":
        return FileColumns(columns, rows, present, {}, [])
    values = {name: [row.values.get(name) for row in head] for name in present}
    detection = _Detection(columns, values)
    if isinstance(columns, PostColumns):
        detection.detect()
    renamed = columns.of_file(detection.names, {})
    styles, order = {}, ""
    for ours in columns.dates:
        for name in renamed.names(ours):
            votes = set(map(day_first, values.get(name, ()))) - {None}
            is_open = any(_is_date(value, ambiguous_only=True) for value in values.get(name, ()))
            has_order = is_open or bool(votes)
            if columns.day_first is not None:
                votes = {columns.day_first}
            elif not votes and is_open:
                more = list(islice(rows, _HEAD + _BUFFERED))
                rows = chain(more, rows)
                votes = set(
                    islice((v for row in more if (v := day_first(row.values.get(name))) is not None), 1)
                )
            first = votes.pop() if len(votes) == 1 else None
            if has_order:
                order = "unknown" if first is None else "day" if first else "month"
            styles[ours] = DateStyle(first, of_posts=ours == "created_at")
    has_header = not any(_is_like_all(name, values[name]) for name in table.columns or ())
    renamed = renamed.of_file({}, styles)
    if isinstance(renamed, PostColumns) and guard_of(head[0].values):
        renamed.plain = True  # linker wrote the file: what looks like HTML is what the author wrote
    return FileColumns(renamed, rows, present, detection.likely, detection.notes, has_header, order)


def _with_paths(rows: Iterator[Row], paths: Sequence[str]) -> Iterator[Row]:
    """Yield rows with copies of nested values, as at `record.text` or `data.0.text`, under these paths."""
    for row in rows:
        for path in paths:
            value: Any = row.values
            if path in value:
                continue
            for step in path.split("."):
                if isinstance(value, Mapping) and step in value:
                    value = value[step]
                elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
                    value = value[int(step)]
                else:
                    break
            else:
                row.values[path] = value
        yield row


class _Detection:
    """Columns of posts that were not renamed and that the file does not have.

    Of several candidates the first in `KNOWN_NAMES` is used; the others are named in the notes. Its values must match:
    texts are not numbers or addresses, at least half of the times are dates, at most a tenth of the ids are repeated.

    Args:
        columns: the mapping asked for.
        values: the first values of the columns of the file.

    Attributes:
        names: our name → the columns of the file, where they differ from the mapping asked for; None: it has none.
        notes: parts of one line of information for the user.
        likely: our name → a column that may be meant but is not used.
    """

    def __init__(self, columns: Columns, values: Values) -> None:
        self._columns, self._values = columns, values
        self.names: dict[str, list[str] | None] = {}
        self.notes: list[str] = []
        self.likely: dict[str, str] = {}

    def detect(self) -> None:
        """Detect the columns of posts."""
        taken = {name for ours in self._columns.ours() for name in self._columns.names(ours)}
        for ours in KNOWN_NAMES:
            if self._columns.names(ours) != [ours]:  # named or turned off by the user
                continue
            if ours not in self._values:
                self._find(ours, [name for name in self._values if name not in taken])
                taken.update(self.names.get(ours) or [])
            elif ours == "id":
                self._prefer_better_id()

    def _find(self, ours: str, free: Sequence[str]) -> None:
        if ours == "lang" and "language" in free:  # `language_of` reads it
            return
        order = {name: rank for rank, name in enumerate(KNOWN_NAMES[ours])}
        named = sorted((name for name in free if normal(name) in order), key=lambda name: order[normal(name)])
        fitting = [name for name in named if self._fits(ours, name)]
        if fitting:
            titles = [name for name in free if normal(name) in TITLES and name != fitting[0]]
            names = [*(titles[:1] if ours == "text" else []), fitting[0]]
            self.names[ours] = names
            others = [name for name in fitting if name not in names]
            also = f" (ignored: {_quoted(others)})" if others else ""
            self.notes.append(f"{_WORDS[ours]} from {' and '.join(map(_quoted, zip(names)))}{also}")
        elif ours == "text":
            if longest := _longest({name: self._values[name] for name in free}):
                self.likely["text"] = longest
        elif ours == "id":
            unfit = next((f' ("{name}" has empty or repeated values)' for name in free if name in named), "")
            self.names["id"] = None
            self.notes.append(f"ids are made from the content of posts{unfit}")
        elif ours == "created_at" and named:
            filled = (value for value in self._values[named[0]] if not is_missing(value))
            example = next((value for value in filled if not _is_date(value)), None)
            self.notes.append(
                f'no time: "{named[0]}" is empty'
                if example is None
                else f'no time: "{named[0]}" has too few dates that can be read (not {str(example)[:40]!r}); '
                "name another column with --column created_at=NAME"
            )

    def _fits(self, ours: str, name: str) -> bool:
        """Return whether the values of a column are those of ours."""
        values = self._values[name]
        filled = [value for value in values if not is_missing(value)]
        if not filled:
            return False
        if ours == "text":
            return all(isinstance(value, str) for value in filled) and not all(
                map(_NO_TEXT.fullmatch, filled)
            )
        if ours == "created_at":
            return sum(map(_is_date, filled)) >= _DATES * len(filled)
        if ours == "lang":
            return all(isinstance(value, (str, list)) and len(str(value)) < 40 for value in filled)
        are_ids = len(filled) == len(values) and all(
            (isinstance(value, str | int) and not isinstance(value, bool))
            or (isinstance(value, float) and value.is_integer())
            for value in filled
        )
        # A post that is there twice, with one text, is no repeated id.
        texts = [self._values.get(text, [None] * len(values)) for text in self.names.get("text") or ["text"]]
        posts = (
            {(str(id_).strip(), *map(str, rest)) for id_, *rest in zip(values, *texts)} if are_ids else set()
        )
        # Rounded ids are equal; their lines are reported, rather than read by other ids.
        ids = [id_ for id_, *_ in posts if not is_rounded(id_)]
        # Of three posts, one may be there in two versions.
        return are_ids and len(ids) - len(set(ids)) <= max(_REPEATED * len(posts), len(posts) > 2)

    def _prefer_better_id(self) -> None:
        """Prefer `id_str` to `id`, which programs round; without any id, ids are made."""
        better = next((name for name in self._values if normal(name) == "idstr"), None)
        if better is not None and self._fits("id", better):
            self.names["id"] = [better]
            self.notes.append(f'id from "{better}"')
        elif all(map(has_no_id, self._values["id"])):
            self.names["id"] = None
            self.notes.append('ids are made from the content of posts ("id" is empty)')


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
    return bool(filled) and all(_NUMBER.fullmatch(str(value)) or _is_date(value) for value in [name, *filled])


def _longest(columns: Values) -> str | None:
    """The column, or path into nested objects, with the most characters of text; None if none has words."""
    lengths: dict[str, int] = {}
    for name, values in columns.items():
        for path, text in (item for value in values for item in _strings(value, name)):
            if " " in text.strip():
                lengths[path] = lengths.get(path, 0) + len(text)
    known = [name for name in lengths if normal(name.rpartition(".")[2]) in KNOWN_NAMES["text"]]
    return max(known or lengths, key=lambda name: lengths[name], default=None)


def _strings(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping) and path.count(".") < 5:
        for name, inner in value.items():
            yield from _strings(inner, f"{path}.{name}")


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
