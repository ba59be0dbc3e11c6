"""Workbooks of Excel."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from linker.annotation.formats.csv import columns_of
from linker.annotation.formats.jsonl import flat
from linker.annotation.formats.label_format import LabelFormat
from linker.annotation.formats.records import LabeledPost
from linker.common.errors import LinkerError
from linker.common.files import atomic_write

_ROWS, _CHARACTERS = 1_048_575, 32_767
"""Excel's limits: rows below the header, characters in a cell."""
_WIDTHS = {"text": 90, "post_id": 16, "note": 30, "time": 28, "created_at": 24}


@LabelFormat.register("xlsx")
class ExcelFormat(LabelFormat):
    """One sheet with the columns of `csv`; no cell is a formula, and ids keep all their digits."""

    marks_machines = True

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records; return the files written.

        Raises:
            LinkerError: if there are more records than a sheet holds.
        """
        import xlsxwriter

        if len(records) > _ROWS:
            raise LinkerError(f"{len(records):,} records: a sheet of Excel holds {_ROWS:,} rows; write csv")
        names = columns_of(records)
        # xlsxwriter leaves its archive open when the disk is full, and Python reports that at its end.
        packed = BytesIO()
        with atomic_write(path, "wb") as file:
            book = xlsxwriter.Workbook(packed, {"strings_to_urls": False, "strings_to_formulas": False})
            sheet = book.add_worksheet("labels")
            bold = book.add_format({"bold": True, "bottom": 1})
            wrapped = book.add_format({"text_wrap": True, "valign": "top"})
            sheet.freeze_panes(1, 0)
            sheet.autofilter(0, 0, len(records), len(names) - 1)
            for column, name in enumerate(names):
                sheet.set_column(column, column, _WIDTHS.get(name, 14))
                sheet.write_string(0, column, name, bold)
            for row, record in enumerate(records, 1):
                for column, name in enumerate(names):
                    value = flat(record).get(name)
                    if isinstance(value, bool):
                        sheet.write_boolean(row, column, value)
                    elif isinstance(value, (int, float)):
                        sheet.write_number(row, column, value)
                    elif value is not None:
                        text = str(value).encode("utf-8", "replace").decode()[:_CHARACTERS]
                        sheet.write_string(row, column, text, wrapped if name == "text" else None)
            book.close()
            file.write(packed.getbuffer())
        return [path]
