"""Workbooks of Excel and LibreOffice: one sheet with a header, as rows."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from datetime import time, timedelta
from typing import Any, BinaryIO

from linker.common.errors import DataError
from linker.data.io.delimited import checked_header
from linker.data.io.line_errors import InputFile, LineError
from linker.data.io.rows import Row, Table
from linker.data.io.streams import shown_name

_EXACT = 10**15
"""Excel keeps 15 digits of a number; a longer id has lost its end when it comes here."""


def spreadsheet_table(file: InputFile, stream: BinaryIO) -> Table:
    """Rows of the first sheet with a cell in it, numbered as Excel numbers them.

    The sheet is held in memory, about 700 bytes for a row of six cells.

    Raises:
        DataError: no workbook, or damaged; no sheet with a header.
    """
    from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum

    shown = shown_name(file.path)
    try:
        with tempfile.TemporaryFile() as copy:
            while block := stream.read(1 << 20):
                copy.write(block)
            copy.seek(0)
            book = CalamineWorkbook.from_filelike(copy)
            names = [one.name for one in book.sheets_metadata if one.typ == SheetTypeEnum.WorkSheet]
            sheets = [sheet for name in names if (sheet := book.get_sheet_by_name(name)).start is not None]
    except (CalamineError, OSError, ValueError) as error:
        raise DataError(
            f"{shown}: not a workbook of Excel, or damaged ({error}); save it as .xlsx or CSV"
        ) from error
    if not sheets:
        raise DataError(f"{shown}: is empty; a header line is expected")
    sheet, *others = sheets
    rows = sheet.iter_rows()
    above = sheet.start[0] if sheet.start else 0
    header = [_cell(value) for value in next(rows)]
    names = ["" if value is None else str(value) for value in header]
    while names and not names[-1].strip():
        names.pop()
    columns = checked_header([name or f"column {number}" for number, name in enumerate(names, 1)], file)
    other = ", ".join(f'"{one.name}"' for one in others[:5])
    notes = (f'sheet "{sheet.name}" (also there: {other})',) if others else ()
    return Table("xlsx", columns, _rows(rows, columns, above + 2, file), notes)


def _rows(rows: Iterator[Sequence[Any]], columns: list[str], first: int, file: InputFile) -> Iterator[Row]:
    for number, cells in enumerate(rows, start=first):
        file.lines = number
        values = [_cell(cell) for cell in cells]
        raw = json.dumps(values, ensure_ascii=False, default=str)
        if all(value is None for value in values):
            continue  # Excel keeps empty rows where something was deleted
        if any(value is not None for value in values[len(columns) :]):
            count = f"{len(values)} where the header has {len(columns)}"
            file.bad(number, LineError("wrong number of fields", count), raw)
        elif long := next((one for one in values if isinstance(one, int) and abs(one) >= _EXACT), None):
            reason = f"{long} has more than 15 digits, of which Excel loses the last; store such ids as text"
            file.bad(number, LineError("cut number", reason), raw)
        else:
            yield Row(number, dict(zip(columns, values)), raw)


def _cell(value: Any) -> Any:
    """A cell as other formats would have it: None where it is empty, whole numbers as such, times as text."""
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, (time, timedelta)):
        return str(value)
    return value
