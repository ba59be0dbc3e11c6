"""CSV, for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linker.annotation.formats.jsonl import flat, is_of_platform
from linker.annotation.formats.label_format import LabelFormat
from linker.annotation.formats.records import LabeledPost
from linker.common.files import atomic_write
from linker.data.files.formats.delimited import SIGN, guarded

_COLUMNS = ("post_id", "text", "article_id", "score", "label", "annotator", "note", "time", "created_at")
# Columns of records that need them.
_OPTIONAL = ("choice", "machine", "adjudicated", "sample", "lang", "platform", "author", "url", "source")


@LabelFormat.register("csv")
class CsvFormat(LabelFormat):
    """One line per label, with the columns of `jsonl`; text that a spreadsheet would run as a formula begins with '."""

    marks_machines = True

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records; return the files written."""
        text = io.StringIO(newline="")
        columns = columns_of(records)
        writer = csv.DictWriter(text, columns, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC)
        writer.writeheader()
        for record in records:
            writer.writerow({column: guarded_cell(value) for column, value in flat(record).items()})
        # Lone surrogates, as in broken JSON, cannot be encoded in UTF-8.
        with atomic_write(path, "wb") as file:
            file.write(text.getvalue().encode("utf-8", "replace"))
        return [path]


def columns_of(records: Sequence[LabeledPost]) -> list[str]:
    """Return the columns that records need, in order."""
    found = dict.fromkeys(name for record in records for name in flat(record))
    return [*_COLUMNS, *(name for name in _OPTIONAL if name in found), *filter(is_of_platform, found)]


def guarded_cell(value: Any) -> Any:
    """Return a field that no spreadsheet runs as a formula."""
    return guarded(value, SIGN) if isinstance(value, str) else value
