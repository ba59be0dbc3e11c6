"""Delimited text, such as CSV and TSV: the delimiter, the header and the quoting are found in its first lines."""

from __future__ import annotations

import csv
import re
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from linker.common.errors import DataError
from linker.data.files.line_errors import InputFile, LineError
from linker.data.files.rows import MAX_LINE, Line, Row, Table

# Formulas of Excel, LibreOffice and Google Sheets: anything after `=`. After the other signs only calls of functions or
# programs are harmful, and posts often begin with `@name`, `-` or `+1`.
FORMULA = re.compile(r"'*[\t\r\n ]*(?:[=＝]|[+\-@＋－＠][\s\S]*[(|])")
#: Any beginning that a program may read as that of a formula, for files that go to other tools.
SIGN = re.compile("'*[=+\\-@\t\r\n\0＝＋－＠]")
# Tables that linker writes, by their first columns, and what it guards in them. Elsewhere an apostrophe is literal.
_GUARDED: dict[tuple[str, ...], re.Pattern[str]] = {
    ("rank", "score", "id", "text"): FORMULA,
    ("post_id", "text", "article_id", "score"): SIGN,
    ("post_id", "abstract", "included", "annotator"): SIGN,
    ("text", "label", "post_id", "meta"): SIGN,
}


def guarded(text: str, pattern: re.Pattern[str] = FORMULA) -> str:
    """Prefix a text with an apostrophe if a spreadsheet might execute it: `=1+1`, `@SUM(A1)`, `+cmd|…`."""
    return "'" + text if pattern.match(text) else text


def unguarded(text: str, pattern: re.Pattern[str] = FORMULA) -> str:
    """Undo `guarded`."""
    return text[1:] if text.startswith("'") and pattern.match(text) else text


def guard_of(columns: Iterable[str]) -> re.Pattern[str] | None:
    """Return what linker guards in a table that it has written; None if it is of another program."""
    return _GUARDED.get(tuple(islice(columns, 4)))


DELIMITERS = ",;\t|"
#: Lines, and characters, that are looked at before the first row.
_HEAD_LINES, _HEAD_CHARACTERS = 200, 1 << 20
#: A header is at most this far down.
_DEEPEST_HEADER = 50
#: Lines of a record after which a quote is taken as one that nobody closed.
_LONGEST_RECORD = 5_000
# The first line with which Excel is given the delimiter.
_ANNOUNCED = re.compile(r'"?sep=(.)"?[,;\t| ]*', re.IGNORECASE)
# Columns of the YouTube Data Tools, which write `\"` where CSV has `""`.
_ESCAPED = ("isReplyTo", "authorName")
_NO_NAME = re.compile(r"[\d.,:+-]+|\S+://.*|.{80,}", re.DOTALL)


@dataclass
class TextRow:
    """A row of cells with text.

    Attributes:
        line: number of its first line, from 1.
        cells: its cells; empty if it is broken.
        raw: the text that it was read from.
        error: why it is broken.
    """

    line: int
    cells: list[str]
    raw: str = ""
    error: str = ""


@dataclass
class Layout:
    """The header of a table.

    Attributes:
        delimiter: between the cells of delimited text.
        columns: names of the columns.
        header: the row with these names.
        known: number of columns with known names.
        fitting: share of the records after the header that have its number of cells.
    """

    delimiter: str
    columns: list[str]
    header: TextRow
    known: int
    fitting: float


def delimited_table(
    file: InputFile, lines: Iterator[Line], known_names: Callable[[Sequence[str]], int], tabs: bool = False
) -> Table:
    """Open delimited text.

    The delimiter is that of a first line `sep=;`, else the one of `,`, `;`, tab and `|` by which a line has the most
    columns with known names, and the lines after it as many cells. Lines above that header are left out. Quoted cells
    may contain line breaks; between tabs, quotes mean something only if all that begin a cell also end it.

    Args:
        file: the input.
        lines: its lines.
        known_names: returns how many of some cells are names of columns that are read.
        tabs: whether tabs are more likely than other delimiters.

    Raises:
        DataError: if the header is missing or faulty.
    """
    csv.field_size_limit(MAX_LINE)
    head: list[Line] = []
    size, is_all = 0, False
    while len(head) < _HEAD_LINES and size < _HEAD_CHARACTERS and not is_all:
        if (line := next(lines, None)) is None:
            is_all = True
        else:
            head.append(line)
            size += len(line.text)
    while head and not head[0].text.strip():
        head.pop(0)
        file.blank()
    if not head:
        raise DataError(f"{file.shown}: the file is empty; add a header line")
    delimiters = "\t" + DELIMITERS if tabs else DELIMITERS
    if announced := _ANNOUNCED.fullmatch(head[0].text):
        delimiters = announced[1] + DELIMITERS  # some programs announce another than they write
        head.pop(0)
    layouts = [_layout(head, delimiter, is_all, known_names) for delimiter in dict.fromkeys(delimiters)]
    best = max(
        layouts,
        key=lambda layout: (layout.known, len(layout.columns) > 1 and layout.fitting >= 0.5, layout.fitting),
    )
    columns = checked_header(best.columns, file, best.header.line)
    above = [line for line in head if line.number < best.header.line]
    for line in above:
        if line.text.strip(" \t,;|"):
            file.left_out["lines above the header"] += 1
        else:
            file.blank()
    notes = (f"header in line {best.header.line}",) if above else ()
    rest = [line for line in head if line.number > best.header.line + best.header.raw.count("\n")]
    records = _records(chain(rest, lines), best.delimiter, _are_escaped(best.header.raw), len(columns))
    rows = _rows(records, columns, file, {line.text for line in above})
    return Table("tsv" if best.delimiter == "\t" else "csv", columns, rows, notes)


def is_delimited(
    texts: Sequence[str], known_names: Callable[[Sequence[str]], int], in_first: bool = False
) -> bool:
    """Return whether some lines are the first of a table: they announce the delimiter, or have a header and rows.

    Args:
        texts: the lines.
        known_names: see `delimited_table`; a header has two columns with known names.
        in_first: whether the header must be the first line that is not blank.
    """
    if texts and _ANNOUNCED.fullmatch(texts[0].strip()):
        return True
    head = [Line(number, text) for number, text in enumerate(texts, 1) if text.strip()]
    layouts = (
        [_layout(head, delimiter, True, known_names) for delimiter in DELIMITERS] if len(head) > 1 else []
    )
    return any(
        layout.known > 1
        and layout.fitting >= 0.5
        and layout.header.line < head[-1].number
        and not (in_first and layout.header.line > head[0].number)
        for layout in layouts
    )


def _layout(
    head: list[Line], delimiter: str, is_all: bool, known_names: Callable[[Sequence[str]], int]
) -> Layout:
    records = list(_records(iter(head), delimiter, any(_are_escaped(line.text) for line in head[:1])))
    if len(records) > 1 and not is_all:
        records.pop()  # it may continue
    return layout_of(records, known_names, delimiter)


def layout_of(
    records: Sequence[TextRow], known_names: Callable[[Sequence[str]], int], delimiter: str = ""
) -> Layout:
    """Find the header among the first rows of a table.

    Args:
        records: the rows, of which one has text.
        known_names: returns how many of some cells are names of columns that are read.
        delimiter: between the cells of delimited text.
    """
    records = [record for record in records if any(map(str.strip, record.cells)) or record.error]
    first, *_ = records
    candidates = []
    for number, record in enumerate(records[:_DEEPEST_HEADER], 1):
        if record.error:
            continue
        columns, below = _trimmed(record.cells), records[number:]
        fitting = sum(_fits(other.cells, len(columns)) for other in below) / len(below) if below else 1.0
        if fitting < 0.5 and _has_row_names(below, len(columns)):
            columns, fitting = ["", *columns], 1.0
        candidates.append(Layout(delimiter, columns, record, known_names(columns), fitting))
    if not candidates:
        return Layout(delimiter, _trimmed(first.cells), first, 0, 0.0)
    top = candidates[0]
    if len(candidates) > 1 and candidates[1].known > max(1, top.known) and candidates[1].fitting >= 0.5:
        top = candidates[1]  # below a row with the names of groups of columns
    if top.known and (top.fitting >= 0.5 or (len(top.columns) > 1 and top.known > 1)):
        return top
    others = [layout for layout in candidates[1:] if layout.fitting >= 0.5 and len(layout.columns) > 1]
    best = max(others, key=lambda layout: layout.known, default=None)
    if best is not None and best.known > (top.fitting >= 0.5):
        return best
    if top.fitting < 0.5 and not top.known:
        return next((layout for layout in others if _are_names(layout.columns)), top)
    return top


def _trimmed(cells: list[str]) -> list[str]:
    """The cells without empty ones at the end, as after a trailing delimiter."""
    cells = [cell.strip().removeprefix("\ufeff") for cell in cells]
    while len(cells) > 1 and not cells[-1]:
        cells.pop()
    return cells


def _fits(cells: list[str], number: int) -> bool:
    """Whether a record has a number of cells, apart from empty ones at the end."""
    return len(cells) >= number and not any(map(str.strip, cells[number:]))


def _has_row_names(below: list[TextRow], number: int) -> bool:
    """Whether the rows have one cell more than the header, a running number, as R's `write.table` writes them."""
    return bool(below) and all(
        len(record.cells) == number + 1 and record.cells[0] == str(place)
        for place, record in enumerate(below[:20], 1)
    )


def _are_names(cells: list[str]) -> bool:
    return len(set(cells)) == len(cells) and all(cell and not _NO_NAME.fullmatch(cell) for cell in cells)


def _are_escaped(header: str) -> bool:
    return all(name in header for name in _ESCAPED)


def _records(
    lines: Iterator[Line], delimiter: str, escaped: bool = False, number: int | None = None
) -> Iterator[TextRow]:
    """Yield the records of some lines.

    Args:
        lines: the lines, of which quoted cells may have several.
        delimiter: between the cells.
        escaped: whether a quote in a quoted cell is written `\\"`.
        number: the expected number of cells, if known.
    """
    quoted: bool | None = None if delimiter == "\t" else True
    source = _Lines(lines)
    while (line := source.take()) is not None:
        text = line.text
        if '"' not in text or quoted is False:
            yield TextRow(line.number, text.split(delimiter) if text else [], text)
            continue
        if quoted is None and any(cell.startswith('"') for cell in text.split(delimiter)):
            quoted = _are_quoted([line, *source.ahead(_HEAD_LINES)], delimiter)
        if not quoted:
            yield TextRow(line.number, text.split(delimiter), text)
            continue
        record, taken = _quoted_record(line, source, delimiter, escaped)
        if record.error and not escaped and '\\"' in record.raw:
            other, taken_escaped = _quoted_record(line, source, delimiter, True)
            if not other.error and (number is None or len(other.cells) == number):
                escaped, record, taken = True, other, taken_escaped
        if number and len(record.cells) != number and f'{delimiter} "' in record.raw:
            other, taken_spaced = _quoted_record(line, source, delimiter, escaped, spaced=True)
            if len(other.cells) == number:
                record, taken = other, taken_spaced
        if record.error:
            # Only the first line is bad: what seemed to be quoted after it may be further records.
            yield TextRow(line.number, [], line.text, record.error)
        else:
            source.drop(len(taken))
            yield record


class _Lines:
    """Lines that can be looked at before they are taken."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines, self._pending = lines, deque[Line]()

    def take(self) -> Line | None:
        return self._pending.popleft() if self._pending else next(self._lines, None)

    def ahead(self, number: int) -> list[Line]:
        """The next lines, without taking them."""
        self.peek(number - 1)
        return list(islice(self._pending, number))

    def peek(self, place: int) -> Line | None:
        """The line `place` lines after the next one, without taking it."""
        while len(self._pending) <= place and (line := next(self._lines, None)) is not None:
            self._pending.append(line)
        return self._pending[place] if place < len(self._pending) else None

    def drop(self, number: int) -> None:
        for _ in range(number):
            self.take()


def _quoted_record(
    first: Line, source: _Lines, delimiter: str, escaped: bool, spaced: bool = False
) -> tuple[TextRow, list[Line]]:
    """A record with quotes, and the lines after its first that it has, which are not taken."""
    taken: list[Line] = []

    def texts() -> Iterator[str]:
        line: Line | None = first
        while line is not None:
            yield (line.text.replace('\\"', '""') if escaped else line.text) + "\n"
            line = source.peek(len(taken)) if len(taken) < _LONGEST_RECORD else None
            if line is not None:
                taken.append(line)

    cells, error = [], ""
    try:
        cells = next(csv.reader(texts(), delimiter=delimiter, strict=True, skipinitialspace=spaced))
    except csv.Error as broken:
        error = f"{broken} (in a record up to line {taken[-1].number})" if taken else str(broken)
    return TextRow(first.number, cells, "\n".join(line.text for line in [first, *taken]), error), taken


def _are_quoted(lines: list[Line], delimiter: str) -> bool:
    """Whether quotes around cells are no part of them: no record is broken by reading them so."""
    source = _Lines(iter(lines))
    while (line := source.take()) is not None:
        if '"' not in line.text:
            continue
        record, taken = _quoted_record(line, source, delimiter, False)
        if record.error and taken and taken[-1] is lines[-1] and len(lines) > _HEAD_LINES:
            return True  # it continues after the last line
        if record.error and '\\"' in record.raw:
            record, taken = _quoted_record(line, source, delimiter, True)
        if record.error:
            return False
        source.drop(len(taken))
    return True


def _rows(
    records: Iterator[TextRow], columns: list[str], file: InputFile, above: Collection[str]
) -> Iterator[Row]:
    """Yield the rows of some records; those that repeat a line above the header are counted with it."""
    pattern = guard_of(columns)
    for record in records:
        cells = record.cells
        if record.error:
            file.bad(record.line, LineError("broken CSV", record.error), record.raw)
        elif not any(map(str.strip, cells)):  # Excel writes rows whose content was deleted as `,,,`
            file.blank()
        elif record.raw in above or (len(cells) < 3 and _ANNOUNCED.fullmatch(record.raw.strip())):
            file.left_out["repeated headers"] += 1
        elif not _fits(cells, len(columns)):
            count = f"{len(cells)}, the header has {len(columns)}"
            file.bad(record.line, LineError("wrong number of fields", count), record.raw)
        else:
            if pattern:
                cells = [unguarded(cell, pattern) for cell in cells]
            yield Row(record.line, dict(zip(columns, cells)), record.raw)


def checked_header(names: list[str], file: InputFile, line: int = 1) -> list[str]:
    """Return the stripped column names of a header; of several without a name, all but the first get one.

    Raises:
        DataError: if all names are empty, or one is repeated.
    """
    columns = [name.strip() for name in names]
    if not any(columns):
        raise DataError(f"{file.shown}: the file is empty; add a header line")
    empty = [place for place, name in enumerate(columns) if not name]
    for place in empty[1:]:
        columns[place] = f"column {place + 1}"
    twice = sorted(name for name, count in Counter(columns).items() if count > 1)
    if twice:
        raise DataError(
            f"{file.shown}, line {line}: repeated column {', '.join(map(repr, twice))}; rename one of them"
        )
    return columns
