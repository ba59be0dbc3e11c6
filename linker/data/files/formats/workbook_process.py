"""The program of the process that reads workbooks (decision 023): it imports nothing of linker.

Arguments: the module search path, as JSON; the workbook; a folder; bytes of memory at most. For each sheet with cells,
in the order of preference, a file `0`, `1`, ... in the folder has the name of the sheet and the number of the row of
its first cell, from 1, as JSON in its first line, and the cells of a row in each other one.
"""

import json
import sys
from datetime import date, datetime
from pathlib import Path
from typing import Any


def _plain(value: Any) -> Any:
    """A cell as JSON: dates are a list of their kind and ISO format, other values than these of JSON are text."""
    if isinstance(value, datetime):
        return ["datetime", value.isoformat()]
    if isinstance(value, date):
        return ["date", value.isoformat()]
    return value if isinstance(value, (str, bool, int, float)) or value is None else str(value)


def _main(path: str, workbook: str, folder: str, memory: str) -> None:
    sys.path[:] = json.loads(path)
    from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

    if sys.platform == "linux":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (int(memory) if hard < 0 else min(int(memory), hard), hard))
    try:
        book = CalamineWorkbook.from_path(workbook)
        sheets = [sheet for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
        # Of sheets that are alike, one that the user sees is meant.
        sheets.sort(key=lambda sheet: sheet.visible != SheetVisibleEnum.Visible)
        for number, name in enumerate(sheet.name for sheet in sheets):
            sheet = book.get_sheet_by_name(name)
            if sheet.start is not None:
                with Path(folder, str(number)).open("w", encoding="utf-8") as file:
                    file.write(json.dumps([name, sheet.start[0] + 1]) + "\n")
                    file.writelines(json.dumps(list(map(_plain, row))) + "\n" for row in sheet.iter_rows())
    except (CalamineError, OSError, ValueError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    _main(*sys.argv[1:])
