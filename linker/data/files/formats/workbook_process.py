"""The program of the process that reads workbooks (decision 023): it imports nothing of linker.

The first argument is the module search path, as JSON. Standard input has one line of JSON with the `path` of the
workbook, and then one with the `sheet` to read. Standard output has an empty object as soon as the library is there;
then `error`, or `sheets`, those with cells: their `name`, `first` (the row of the first cell, from 0) and `head` (their
first rows); after the sheet is named, lines with `rows`, and one with `end`.
"""

from __future__ import annotations

import json
import signal
import sys
from datetime import date, datetime
from itertools import islice
from typing import Any

_ROWS_AT_ONCE = 500
_HEAD = 200


def _plain(value: Any) -> Any:
    """A cell as JSON: dates are a list of their kind and ISO format, other values than these of JSON are text."""
    if isinstance(value, datetime):
        return ["datetime", value.isoformat()]
    if isinstance(value, date):
        return ["date", value.isoformat()]
    return value if isinstance(value, (str, bool, int, float)) or value is None else str(value)


def _main() -> None:
    # Ctrl-C reaches all processes; the main one ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path[:] = json.loads(sys.argv[1])
    from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

    def answer(**message: object) -> None:
        sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
        sys.stdout.buffer.flush()

    answer()
    try:
        book = CalamineWorkbook.from_path(json.loads(sys.stdin.buffer.readline())["path"])
        found_sheets = [sheet for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
        # Of sheets that are alike, one that the user sees is meant.
        found_sheets.sort(key=lambda sheet: sheet.visible != SheetVisibleEnum.Visible)
        names = [sheet.name for sheet in found_sheets]
        sheets, last = [], None
        for name in names:
            sheet_with_cells = book.get_sheet_by_name(name)
            if sheet_with_cells.start is not None:
                head = [
                    [_plain(value) for value in row] for row in islice(sheet_with_cells.iter_rows(), _HEAD)
                ]
                sheets.append({"name": name, "first": sheet_with_cells.start[0], "head": head})
                last = sheet_with_cells
    except (CalamineError, OSError, ValueError) as error:
        answer(error=str(error))
        return
    answer(sheets=sheets)
    if not (chosen := sys.stdin.buffer.readline()):
        return
    name = json.loads(chosen)["sheet"]
    sheet = last if len(sheets) == 1 else book.get_sheet_by_name(name)
    rows: list[list[Any]] = []
    for row in sheet.iter_rows() if sheet else ():
        rows.append([_plain(value) for value in row])
        if len(rows) == _ROWS_AT_ONCE:
            answer(rows=rows)
            rows = []
    answer(rows=rows)
    answer(end=True)


if __name__ == "__main__":
    _main()
