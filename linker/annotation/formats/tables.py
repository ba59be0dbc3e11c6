"""Tables of labels: CSV and workbooks of Excel, and datasets of ASReview (https://asreview.readthedocs.io)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from linker.annotation.formats.jsonl import about, flat, is_of_platform
from linker.annotation.formats.label_format import LabeledPost, LabelFormat, by_post
from linker.common.errors import LinkerError
from linker.common.files import atomic_write
from linker.data.files.formats.delimited import SIGN, guarded

_COLUMNS = ("post_id", "text", "article_id", "score", "label", "annotator", "note", "time", "created_at")
_ORIGIN = ("lang", "platform", "author", "url", "source")
# Columns of records that need them.
_OPTIONAL = ("choice", "machine", "adjudicated", "sample", *_ORIGIN)
_ASREVIEW = (
    "post_id", "abstract", "included", "annotator", "note", "time", "article_id", "score", "created_at", "sample",
    *_ORIGIN,
)  # fmt: skip
# Excel's limits: rows below the header, characters in a cell.
_ROWS, _CHARACTERS = 1_048_575, 32_767
_WIDTHS = {"text": 90, "post_id": 16, "note": 30, "time": 28, "created_at": 24}


@LabelFormat.register("csv")
class CsvFormat(LabelFormat):
    """One line per label, with the columns of `jsonl`; text that a spreadsheet would run as a formula begins with '."""

    marks_machines = True

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records; return the files written."""
        _write_csv(path, _columns(records), map(flat, records))
        return [path]


@LabelFormat.register("asreview")
class AsreviewFormat(LabelFormat):
    """A dataset for ASReview, one line per post with its text as `abstract`.

    ASReview has one label per post: the adjudicated one, or the majority of the annotators; none for skipped posts.
    Annotator, note and time are columns that ASReview keeps.
    """

    one_per_post = True

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records; return the files written."""
        _write_csv(path, _ASREVIEW, map(_included, by_post(records)))
        return [path]


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
        names = _columns(records)
        # xlsxwriter leaves its archive open when the disk is full, and Python reports that at its end.
        packed = io.BytesIO()
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
            for row, values in enumerate(map(flat, records), 1):
                for column, name in enumerate(names):
                    value = values.get(name)
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


def _columns(records: Sequence[LabeledPost]) -> list[str]:
    """Return the columns that records need, in order."""
    names = dict.fromkeys(name for record in records for name in flat(record))
    return [*_COLUMNS, *(name for name in _OPTIONAL if name in names), *filter(is_of_platform, names)]


def _write_csv(path: Path, columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> None:
    """Write a table in which no cell is run as a formula by a spreadsheet."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {name: guarded(cell, SIGN) if isinstance(cell, str) else cell for name, cell in row.items()}
        )
    with atomic_write(path, "wb") as file:
        # Lone surrogates, as in broken JSON, cannot be encoded in UTF-8.
        file.write(text.getvalue().encode("utf-8", "replace"))


def _included(group: Sequence[LabeledPost]) -> dict[str, Any]:
    """Return the row of a post in a dataset of ASReview."""
    first, voters = group[0], [record for record in group if record.value in ("relevant", "not")]
    lead = sum(1 if record.value == "relevant" else -1 for record in voters)
    row: dict[str, Any] = dict.fromkeys(_ASREVIEW, "") | {
        "post_id": first.post.id,
        "abstract": first.post.text,
        "included": "1" if lead > 0 else "0" if lead < 0 else "",
        "article_id": first.article_id,
        "score": first.score,
        "sample": first.sample or "",
        **about(first.post),
    }
    if len(voters) == 1:
        (voter,) = voters
        row |= {"annotator": voter.annotator or "", "note": voter.note or ""}
        row |= {"time": voter.time.isoformat() if voter.time else ""}
    return row
