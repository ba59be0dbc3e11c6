"""CSV and TSV files with a header line."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator

from linker.common.errors import DataError
from linker.data.io.line_errors import InputFile, LineError
from linker.data.io.rows import MAX_LINE, Line, Row, Table, not_utf8
from linker.data.io.streams import shown_name

# Formulas of Excel, LibreOffice and Google Sheets: anything after `=`. After the other signs only calls of functions or
# programs are harmful, and posts often begin with `@name`, `-` or `+1`.
_FORMULA = re.compile(r"'*[\t\r\n ]*(?:[=＝]|[+\-@＋－＠][\s\S]*[(|])")


def guarded(text: str) -> str:
    """Prefix a text with an apostrophe if a spreadsheet might execute it: `=1+1`, `@SUM(A1)`, `+cmd|…`."""
    return "'" + text if _FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """Undo `guarded`."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


# Columns of the YouTube Data Tools, which write `\"` in place of `""`.
_ESCAPED = ("isReplyTo", "authorName")
_QUOTED = re.compile(r'"[^"]*"')
Record = tuple[int, list[str], str]


def tsv_table(file: InputFile, lines: Iterator[Line]) -> Table:
    """Open a TSV file, without quoting: every tab separates."""
    header = next(lines, None)
    columns = checked_header(header.text.split("\t") if header else [], file)
    records = ((number, text.split("\t"), text) for number, text in lines)
    return Table("tsv", columns, _rows(records, columns, file))


def csv_table(file: InputFile, lines: Iterator[Line]) -> Table:
    """Open a CSV file; quoted fields may contain line breaks.

    The delimiter is the first of `,`, `;` and tab that occurs in the header outside quotes.

    Raises:
        DataError: if the header is missing or faulty.
    """
    csv.field_size_limit(MAX_LINE)
    taken: list[Line] = []
    first = next(lines, None)
    if first is None:
        raise DataError(f"{shown_name(file.path)}: the file is empty; add a header line")
    delimiter = delimiter_of(first.text)

    def recorded() -> Iterator[str]:
        line: Line | None = first
        while line is not None:
            taken.append(line)
            yield line.text + "\n"
            line = next(lines, None)

    escape = "\\" if all(name in first.text for name in _ESCAPED) else None
    reader = csv.reader(recorded(), delimiter=delimiter, escapechar=escape, strict=True)
    try:
        columns = checked_header(next(reader), file)
    except csv.Error as error:
        raise DataError(f"{shown_name(file.path)}, line 1: the header is not CSV ({error})") from error
    return Table("csv", columns, _rows(_csv_records(reader.__next__, taken, file), columns, file))


def delimiter_of(header: str) -> str:
    """Return the delimiter of a CSV header."""
    unquoted = _QUOTED.sub("", header)
    return next((delimiter for delimiter in ",;\t" if delimiter in unquoted), ",")


def _csv_records(advance: Callable[[], list[str]], taken: list[Line], file: InputFile) -> Iterator[Record]:
    while True:
        taken.clear()
        try:
            fields = advance()
        except StopIteration:
            return
        except csv.Error as error:
            last = taken[-1].number
            upto = f" (in a record up to line {last})" if len(taken) > 1 else ""
            file.bad(taken[0].number, LineError("broken CSV", f"{error}{upto}"), _text(taken))
            continue
        yield taken[0].number, fields, _text(taken)


def _text(taken: list[Line]) -> str:
    return "\n".join(line.text for line in taken)


def _rows(records: Iterator[Record], columns: list[str], file: InputFile) -> Iterator[Row]:
    # Only files written by linker: elsewhere an apostrophe has no special meaning.
    ours = columns[:4] == ["rank", "score", "id", "text"]
    for number, fields, raw in records:
        if not any(map(str.strip, fields)):  # Excel writes rows whose content was deleted as `,,,`
            file.blank()
        elif not_utf8(raw):
            file.bad(number, LineError("invalid UTF-8"), raw)
        elif len(fields) != len(columns):
            count = f"{len(fields)}, the header has {len(columns)}"
            file.bad(number, LineError("wrong number of fields", count), raw)
        else:
            if ours:
                fields = list(map(unguarded, fields))
            yield Row(number, dict(zip(columns, fields, strict=True)), raw)


def checked_header(names: list[str], file: InputFile) -> list[str]:
    """Return the stripped column names of a header.

    Raises:
        DataError: if all names are empty, one is repeated or not UTF-8.
    """
    columns = [name.strip() for name in names]
    if not any(columns):
        raise DataError(f"{shown_name(file.path)}: the file is empty; add a header line")
    if not_utf8("".join(columns)):
        raise DataError(f"{shown_name(file.path)}, line 1: the header is not UTF-8; save the file as UTF-8")
    twice = sorted(name for name, count in Counter(columns).items() if count > 1)
    if twice:
        raise DataError(
            f"{shown_name(file.path)}, line 1: repeated column {', '.join(map(repr, twice))}; rename one of them"
        )
    return columns
