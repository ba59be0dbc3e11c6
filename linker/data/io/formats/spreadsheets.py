"""Workbooks of Excel and LibreOffice: one sheet with a header."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, BinaryIO

from linker.common.errors import DataError
from linker.common.limited_process import LimitedProcess
from linker.data.io.formats.delimited import checked_header
from linker.data.io.line_errors import InputFile, LineError
from linker.data.io.rows import Row, Table
from linker.data.io.streams import shown_name

#: Excel keeps 15 digits of a number; longer ids have lost their last digits.
_EXACT = 10**15
_PROGRAM = Path(__file__).with_name("workbook_process.py")
#: Limits of the process: seconds until the sheet is in memory, and memory in MiB (on Linux).
_SECONDS, _MEGABYTES = 300.0, 6 * 1024


def spreadsheet_table(file: InputFile, stream: BinaryIO) -> Table:
    """Open the first non-empty sheet; rows have Excel's numbers.

    A process of its own (decision 186) holds the sheet in memory, about 700 bytes for a row of six cells.

    Raises:
        DataError: if it is not a workbook, is damaged or empty, or takes too much time or memory.
    """
    shown = shown_name(file.path)
    rows = _sheet(shown, stream)
    sheets, above = next(rows)
    if not sheets:
        raise DataError(f"{shown}: the file is empty; add a header line")
    header = [_cell(value) for value in next(rows)]
    names = ["" if value is None else str(value) for value in header]
    while names and not names[-1].strip():
        names.pop()
    columns = checked_header([name or f"column {number}" for number, name in enumerate(names, 1)], file)
    other = ", ".join(f'"{name}"' for name in sheets[1:6])
    notes = (f'sheet "{sheets[0]}" (ignored: {other})',) if other else ()
    return Table("xlsx", columns, _rows(rows, columns, above + 2, file), notes)


def _sheet(shown: str, stream: BinaryIO) -> Iterator[Any]:
    """Yield the names of the sheets with cells and the number of empty rows above; then the rows of the first sheet.

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
                    f"{shown}: not an Excel workbook, or damaged ({reply['error']}); save it as .xlsx or CSV"
                )
            yield reply["sheets"], reply["first"]
            while (reply := process.receive()) is not None and "end" not in reply:
                yield from reply["rows"]
            if reply is None:
                raise DataError(f"{shown}: cannot be read to its end; save it as CSV")
        finally:
            process.kill()


def _rows(rows: Iterator[Sequence[Any]], columns: list[str], first: int, file: InputFile) -> Iterator[Row]:
    for number, cells in enumerate(rows, start=first):
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
