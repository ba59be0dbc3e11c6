"""A ranking as a workbook of Excel."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime, timezone
from typing import IO, Any

from linker.errors import LinkerError
from linker.progress import stderr
from linker.ranking.formats.records import collected, flat, moment
from linker.ranking.ranked import RankedPost

_ROWS, _COLUMNS, _CHARACTERS = 1_048_575, 16_384, 32_767
"""What a sheet of Excel can hold below its header, and a cell."""
_EXACT = 10**15
_WIDTHS = {"rank": 6, "score": 10, "id": 14, "text": 90, "created_at": 19}
_CUT = "…"


def write_spreadsheet(file: IO[bytes], ranking: Iterable[RankedPost]) -> None:
    """Write one sheet: a bold header that stays in sight, filters, times in UTC, all texts as texts, never as formulas.

    Texts of more than 32,767 characters are cut, which is said on standard error; whole numbers of more than 15
    digits become texts, since Excel would round them.

    Raises:
        LinkerError: more rows or columns than a sheet holds.
    """
    import xlsxwriter

    with collected(ranking) as records:
        names = list(records.columns)
        if records.count > _ROWS or len(names) > _COLUMNS:
            raise LinkerError(
                f"{records.count:,} posts with {len(names):,} fields: a sheet of Excel holds {_ROWS:,} rows and "
                f"{_COLUMNS:,} columns; give --top, or write .csv or .parquet"
            )
        book = xlsxwriter.Workbook(file, {"constant_memory": True, "strings_to_urls": False})
        sheet = book.add_worksheet("posts")
        bold = book.add_format({"bold": True, "bottom": 1})
        wrapped = book.add_format({"text_wrap": True, "valign": "top"})
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss", "valign": "top"})
        top = book.add_format({"valign": "top"})
        sheet.freeze_panes(1, 0)
        sheet.autofilter(0, 0, records.count, len(names) - 1)
        for column, name in enumerate(names):
            sheet.set_column(column, column, _WIDTHS.get(name, 16))
            sheet.write_string(0, column, name, bold)
        cut = 0
        for number, values in enumerate(records, start=1):
            for column, name in enumerate(names):
                value = _cell(name, values.get(name))
                if isinstance(value, bool):
                    sheet.write_boolean(number, column, value, top)
                elif isinstance(value, (int, float)):
                    sheet.write_number(number, column, value, top)
                elif isinstance(value, datetime):
                    sheet.write_datetime(number, column, value, moment)
                elif value is not None:
                    if len(value) > _CHARACTERS:
                        cut, value = cut + 1, value[: _CHARACTERS - len(_CUT)] + _CUT
                    sheet.write_string(number, column, value, wrapped if name == "text" else top)
        book.close()
    if cut:
        stderr.print(
            f"{cut:,} cells were cut: Excel holds {_CHARACTERS:,} characters in one; .csv keeps the whole",
            highlight=False,
        )


def _cell(name: str, value: Any) -> Any:
    value = flat(name, value)
    if name == "created_at" and (at := moment(value)) is not None and at.tzinfo is not None:
        at = at.astimezone(timezone.utc).replace(tzinfo=None)
        # Days before 1901 Excel does not know, parts of a second it does not show.
        return at if at.year > 1900 and not at.microsecond else value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _EXACT:
        return str(value)
    return value
