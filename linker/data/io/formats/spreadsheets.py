"""Workbooks of Excel and LibreOffice: one sheet with a header."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from datetime import time, timedelta
from typing import Any, BinaryIO

from linker.common.errors import DataError
from linker.data.io.formats.delimited import checked_header
from linker.data.io.line_errors import InputFile, LineError
from linker.data.io.rows import Row, Table
from linker.data.io.streams import shown_name

#: Excel keeps 15 digits of a number; longer ids have lost their last digits.
_EXACT = 10**15


def spreadsheet_table(file: InputFile, stream: BinaryIO) -> Table:
    """Open the first non-empty sheet; rows have Excel's numbers.

    The sheet is held in memory, about 700 bytes for a row of six cells.

    Raises:
        DataError: if it is not a workbook, is damaged or empty.
    """
    from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum

    shown = shown_name(file.path)
    try:
        with tempfile.TemporaryFile() as copy:
            while block := stream.read(1 << 20):
                copy.write(block)
            copy.seek(0)
            book = CalamineWorkbook.from_filelike(copy)
            names = [sheet.name for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
            sheets = [sheet for name in names if (sheet := book.get_sheet_by_name(name)).start is not None]
    except (CalamineError, OSError, ValueError) as error:
        raise DataError(
            f"{shown}: not an Excel workbook, or damaged ({error}); save it as .xlsx or CSV"
        ) from error
    if not sheets:
        raise DataError(f"{shown}: the file is empty; add a header line")
    sheet, *others = sheets
    rows = sheet.iter_rows()
    above = sheet.start[0] if sheet.start else 0
    header = [_cell(value) for value in next(rows)]
    names = ["" if value is None else str(value) for value in header]
    while names and not names[-1].strip():
        names.pop()
    columns = checked_header([name or f"column {number}" for number, name in enumerate(names, 1)], file)
    other = ", ".join(f'"{sheet.name}"' for sheet in others[:5])
    notes = (f'sheet "{sheet.name}" (ignored: {other})',) if others else ()
    return Table("xlsx", columns, _rows(rows, columns, above + 2, file), notes)


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
    if isinstance(value, (time, timedelta)):
        return str(value)
    return value
