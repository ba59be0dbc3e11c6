"""Workbooks of Excel and LibreOffice: the sheet and the row of the header are found."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, BinaryIO

from linker.common.errors import DataError
from linker.common.limited_process import LimitedProcess
from linker.data.files.formats.delimited import TextRow, checked_header, layout_of
from linker.data.files.line_errors import InputFile, LineError
from linker.data.files.rows import Row, Table

#: Excel keeps 15 digits of a number; longer ids have lost their last digits.
_EXACT = 10**15
_PROGRAM = Path(__file__).with_name("workbook_process.py")
#: Limits of the process: seconds until the sheet is in memory, and memory in MiB (on Linux).
_SECONDS, _MEGABYTES = 300.0, 6 * 1024


def spreadsheet_table(
    file: InputFile,
    stream: BinaryIO,
    known_names: Callable[[Sequence[str]], int],
    sheet: str | None = None,
) -> Table:
    """Open the sheet whose header has most columns with known names; rows have Excel's numbers.

    A process of its own (decision 023) holds the sheet in memory, about 700 bytes for a row of six cells.

    Args:
        file: the input.
        stream: its content.
        known_names: returns how many of some cells are names of columns that are read.
        sheet: name of the sheet; None: find it.

    Raises:
        DataError: if it is not a workbook, is damaged or empty, has no such sheet, or takes too much time or memory.
    """
    shown = file.shown
    rows = _sheets(shown, stream)
    sheets = [
        candidate for candidate in next(rows) if any(_text(cell) for row in candidate["head"] for cell in row)
    ]
    if not sheets:
        raise DataError(f"{shown}: the file is empty; add a header line")
    names = [candidate["name"] for candidate in sheets]
    if sheet is not None and sheet.casefold() not in map(str.casefold, names):
        raise DataError(
            f'{shown}: no sheet "{sheet}" with cells; name one of {", ".join(names)} with --sheet'
        )
    layouts = []
    for candidate in sheets:
        if sheet is None or candidate["name"].casefold() == sheet.casefold():
            rows_of_text = [
                TextRow(number, list(map(_text, cells)))
                for number, cells in enumerate(candidate["head"], candidate["first"] + 1)
            ]
            layouts.append((candidate, layout_of(rows_of_text, known_names)))
    chosen, layout = max(layouts, key=lambda pair: (pair[1].known, pair[1].fitting >= 0.5))
    header = layout.header.line
    columns = checked_header(
        [name or f"column {number}" for number, name in enumerate(layout.columns, 1)], file, header
    )
    notes = []
    if other := [name for name in names if name != chosen["name"]]:
        listed = ", ".join(f'"{name}"' for name in other[:5])
        more = f" and {len(other) - 5} more" if len(other) > 5 else ""
        notes.append(f'sheet "{chosen["name"]}" (others, for --sheet: {listed}{more})')
    above = [row for row in chosen["head"][: header - 1 - chosen["first"]] if any(map(_text, row))]
    if above:
        notes.append(f"header in row {header}")
        file.left_out["lines above the header"] += len(above)
    rows.send(chosen["name"])
    return Table("xlsx", columns, _rows(rows, columns, chosen["first"] + 1, header, file), tuple(notes))


def _text(value: Any) -> str:
    value = _cell(value)
    return "" if value is None else str(value)


def _sheets(shown: str, stream: BinaryIO) -> Generator[Any, str, None]:
    """Yield the sheets with cells: `name`, `first` (row of the first cell, from 0) and `head` (the first rows).

    The name that is sent back chooses one; then its rows.

    Raises:
        DataError: see `spreadsheet_table`.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "workbook")
        with path.open("wb") as copy:
            shutil.copyfileobj(stream, copy)
        process = LimitedProcess([sys.executable, "-I", "-S", str(_PROGRAM), json.dumps(sys.path)])
        try:
            with process.within(_SECONDS):
                if process.receive() is not None:
                    process.limit_memory(_MEGABYTES)
                process.send({"path": str(path)})
                reply = process.receive()
            if reply is None:
                why = process.ending(_SECONDS)
                raise DataError(
                    f"{shown}: damaged, or too large for {_MEGABYTES >> 10} GiB of memory, perhaps by a cell far "
                    f"from the others (what reads it {why}); save it as CSV"
                )
            if "error" in reply:
                raise DataError(
                    f"{shown}: not an Excel workbook, or damaged ({reply['error']}); save it as .xlsx or CSV; "
                    "unpack zip archives"
                )
            chosen = yield reply["sheets"]
            process.send({"sheet": chosen})
            yield None
            while (reply := process.receive()) is not None and "end" not in reply:
                yield from reply["rows"]
            if reply is None:
                raise DataError(f"{shown}: cannot be read to its end; save it as CSV")
        finally:
            process.kill()


def _rows(
    rows: Iterator[Sequence[Any]], columns: list[str], first: int, header: int, file: InputFile
) -> Iterator[Row]:
    for number, cells in enumerate(rows, start=first):
        if number <= header:
            continue
        file.lines = number
        values = [_cell(cell) for cell in cells]
        raw = json.dumps(values, ensure_ascii=False, default=str)
        if all(value is None for value in values):
            continue  # Excel keeps rows whose content was deleted
        if any(value is not None for value in values[len(columns) :]):
            count = f"{len(values)}, the header has {len(columns)}"
            file.bad(number, LineError("wrong number of fields", count), raw)
        elif long := next(
            (value for value in values if isinstance(value, int) and abs(value) >= _EXACT), None
        ):
            reason = f"{long} has more than 15 digits, and Excel drops the rest; store such ids as text"
            file.bad(number, LineError("truncated number", reason), raw)
        else:
            yield Row(number, dict(zip(columns, values)), raw)


def _cell(value: Any) -> Any:
    """Convert a cell: None if empty, whole numbers to int, times to text."""
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        kind, text = value
        return datetime.fromisoformat(text) if kind == "datetime" else date.fromisoformat(text)
    return value
