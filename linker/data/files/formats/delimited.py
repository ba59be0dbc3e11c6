"""Delimited text, such as CSV and TSV: the delimiter, the header and the quoting are found in its first lines."""

import csv
import re
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

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


class TextRow(NamedTuple):
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

    @property
    def has_text(self) -> bool:
        """Whether a cell has more than white space, or the row is broken."""
        return any(map(str.strip, self.cells)) or bool(self.error)


class Layout(NamedTuple):
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
    may contain line breaks.

    Args:
        file: the input.
        lines: its lines.
        known_names: returns how many of some cells are names of columns that are read, or how much these count.
        tabs: whether tabs are more likely than other delimiters.

    Raises:
        DataError: if the header is missing or faulty.
    """
    csv.field_size_limit(MAX_LINE)
    head: list[Line] = []
    size = 0
    while len(head) < _HEAD_LINES and size < _HEAD_CHARACTERS and (line := next(lines, None)) is not None:
        size += len(line.text)
        if head or line.text.strip():
            head.append(line)
        else:
            file.blank()
    delimiters = "\t" + DELIMITERS if tabs else DELIMITERS
    if head and (announced := _ANNOUNCED.fullmatch(head[0].text)):
        delimiters = announced[1] + DELIMITERS  # some programs announce another than they write
        head.pop(0)
    layouts = _layouts(head, delimiters, known_names)
    if not layouts:
        raise DataError(f"{file.shown}: the file is empty; add a header line")
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
    pattern = guard_of(columns)
    if pattern is not None:
        columns = [unguarded(name, pattern) for name in columns]
    quotes = not (best.delimiter == "\t" and pattern is FORMULA)  # a ranking of linker has none between tabs
    records = _records(chain(rest, lines), best.delimiter, len(columns), quotes)
    rows = _rows(records, columns, file, {line.text for line in above})
    return Table("tsv" if best.delimiter == "\t" else "csv", columns, rows, notes)


def is_delimited(
    texts: Sequence[str], known_names: Callable[[Sequence[str]], int], in_first: bool = False
) -> bool:
    """Return whether some lines are the first of a table: they announce the delimiter, or have a header and rows.

    Args:
        texts: the lines.
        known_names: see `delimited_table`; the names in a header count two at least.
        in_first: whether the header must be the first line that is not blank.
    """
    head = [Line(number, text) for number, text in enumerate(texts, 1) if text.strip()]
    if head and _ANNOUNCED.fullmatch(head[0].text.strip()):
        return True
    return any(
        layout.known > 1
        and len(layout.columns) > 1
        and layout.fitting >= 0.5
        and (layout.header.line < head[-1].number or len(head) == 1)
        and not (in_first and layout.header.line > head[0].number)
        for layout in _layouts(head, DELIMITERS, known_names)
    )


def _layouts(head: list[Line], delimiters: str, known_names: Callable[[Sequence[str]], int]) -> list[Layout]:
    """Return the layout by each delimiter; none where one of them leaves empty cells only."""
    layouts = []
    for delimiter in dict.fromkeys(delimiters):
        records = list(_records(iter(head), delimiter))
        if len(records) > 1 and records[-1].error:
            records.pop()  # it may continue
        if not any(record.has_text for record in records):
            return []
        layouts.append(layout_of(records, known_names, delimiter))
    return layouts


def layout_of(
    records: Sequence[TextRow], known_names: Callable[[Sequence[str]], int], delimiter: str = ""
) -> Layout:
    """Find the header among the first rows of a table: that with most known names above rows with as many cells.

    Args:
        records: the rows, of which one has text.
        known_names: returns how many of some cells are names of columns that are read.
        delimiter: between the cells of delimited text.
    """
    records = [record for record in records if record.has_text]
    layouts = []
    for number, record in enumerate(records[:_DEEPEST_HEADER], 1):
        columns = [cell.strip().removeprefix("\ufeff") for cell in record.cells]
        while len(columns) > 1 and not columns[-1]:  # as after a trailing delimiter
            columns.pop()
        below = records[number:]
        if below and all(len(other.cells) == len(record.cells) + 1 for other in below):
            columns.insert(0, "")  # R's `write.table` has no name above the names of rows
        fits = [_fits(other.cells, len(columns)) for other in below]
        fitting = sum(fits) / len(fits) if fits else float(number == 1)
        layouts.append(Layout(delimiter, columns, record, known_names(columns), fitting))
    return max(layouts, key=lambda layout: (layout.known, layout.fitting >= 0.5))


def _fits(cells: list[str], number: int) -> bool:
    """Whether a record has a number of cells, apart from empty ones at the end."""
    return len(cells) >= number and not any(map(str.strip, cells[number:]))


def _records(
    lines: Iterator[Line], delimiter: str, number: int | None = None, quotes: bool = True
) -> Iterator[TextRow]:
    """Yield the records of some lines.

    Quotes around cells are no part of them. Between tabs, where some programs know no quotes, they are if the record is
    not well-formed otherwise. Some programs write a quote in a quoted cell as `\\"`, from one record on in all.

    Args:
        lines: the lines, of which quoted cells may have several.
        delimiter: between the cells.
        number: the expected number of cells, if known.
        quotes: whether there may be quotes around cells.
    """
    ahead = deque[Line]()
    escaped = False
    while (line := ahead.popleft() if ahead else next(lines, None)) is not None:
        text = line.text
        if not quotes or (not text.startswith('"') and f'{delimiter}"' not in text):
            yield TextRow(line.number, text.split(delimiter) if text else [], text)
            continue
        record, taken = _quoted_record(line, ahead, lines, delimiter, escaped)
        if not escaped and '\\"' in record.raw and (record.error or number not in (None, len(record.cells))):
            other, taken_escaped = _quoted_record(line, ahead, lines, delimiter, True)
            if not other.error and number in (None, len(other.cells)):
                escaped, record, taken = True, other, taken_escaped
        if delimiter == "\t" and (record.error or number not in (None, len(record.cells))):
            record, taken = TextRow(line.number, text.split(delimiter), text), 0
        if record.error:
            # Only the first line is bad: what seemed to be quoted after it may be further records.
            record, taken = record._replace(raw=text), 0
        for _ in range(taken):
            ahead.popleft()
        yield record


def _quoted_record(
    first: Line, ahead: deque[Line], lines: Iterator[Line], delimiter: str, escaped: bool
) -> tuple[TextRow, int]:
    """A record with quotes, and the number of lines after its first that it has, which are left in `ahead`."""
    taken: list[Line] = []

    def texts() -> Iterator[str]:
        line: Line | None = first
        while line is not None:
            yield (line.text.replace('\\"', '""') if escaped else line.text) + "\n"
            if len(taken) == len(ahead) and (following := next(lines, None)) is not None:
                ahead.append(following)
            line = ahead[len(taken)] if len(taken) < min(len(ahead), _LONGEST_RECORD) else None
            if line is not None:
                taken.append(line)

    cells, error = [], ""
    try:
        cells = next(csv.reader(texts(), delimiter=delimiter, strict=True))
    except csv.Error as broken:
        error = f"{broken} (in a record up to line {taken[-1].number})" if taken else str(broken)
    return TextRow(first.number, cells, "\n".join(line.text for line in [first, *taken]), error), len(taken)


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
