"""Read the labels in a file of any tool; what the file is, is recognized by its content."""

import os
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from linker.common.errors import ConfigError
from linker.data.files.formats.delimited import guard_of
from linker.data.files.line_errors import BadLines
from linker.data.files.rows import Row
from linker.data.files.streams import shown_name
from linker.data.files.tables import open_table
from linker.data.labels import known_names
from linker.data.labels.argilla import argilla_labels, is_argilla
from linker.data.labels.asreview import CONFIG, plain, project_rows
from linker.data.labels.collector import Collector, LabelsOf
from linker.data.labels.label_studio import is_label_studio, label_studio_labels
from linker.data.labels.post_labels import LabelFile
from linker.data.labels.prodigy import is_prodigy, is_task, prodigy_labels
from linker.data.labels.table import TableReader
from linker.data.labels.values import LabelValue

_TABLES, _HEAD = ("asreview", "csv", "doccano", "jsonl", "xlsx"), 50
#: Formats that can be forced.
FORMATS = ("argilla", "asreview", "csv", "doccano", "jsonl", "label_studio", "prodigy", "xlsx")


def read_labels(
    path: str | Path, format: str | None = None, names: Mapping[str, LabelValue] | None = None
) -> LabelFile:
    """Read the labels of a file.

    Tables (CSV, TSV, Excel, Parquet, JSON, JSON Lines, with the columns of any tool), exports of Label Studio, Argilla,
    Prodigy, doccano and ASReview, and project files of ASReview.

    Args:
        path: the file.
        format: one of `FORMATS`; None: recognize it.
        names: names of labels in a label set, with what they mean.

    Raises:
        ConfigError: if the format is unknown.
        DataError: if the file cannot be read, a label is unknown, or no record has a label; it names the keys found.
    """
    if format is not None and format not in FORMATS:
        raise ConfigError(f"unknown format of labels {format!r}; choose one of {', '.join(FORMATS)}, or none")
    shown = shown_name(str(path))
    collector = Collector(shown, names)
    with BadLines(skippable=False) as bad_lines:
        if format in (None, "asreview") and _is_project(Path(path), format):
            name, rows = project_rows(Path(path))
            read_rows(rows, None, collector, "asreview", bad_lines.file(name).bad, guarded=True)
        else:
            file, sniff_for = bad_lines.file(str(path)), {*known_names.IDS, *known_names.LABELS}
            with open_table(file, ({"label", "labels", "post_id"}, sniff_for)) as table:
                bad_lines.note(shown, table.notes)
                guarded = table.format in ("csv", "tsv") and not guard_of(table.columns or ())
                read_rows(table.rows, table.columns, collector, format, file.bad, guarded)
        if bad_lines.total:
            return LabelFile(shown, [])  # the block raises
    return collector.result()


def read_rows(
    rows: Iterable[Row],
    columns: Sequence[str] | None,
    collector: Collector,
    format: str | None,
    bad: Any,
    guarded: bool = False,
) -> None:
    """Read the labels of rows into the collector.

    Args:
        rows: the rows of a table.
        columns: its header; None: JSON.
        collector: receives the labels.
        format: one of `FORMATS`; None: recognize it.
        bad: receives line, fault and text of bad rows.
        guarded: whether apostrophes before formulas are removed, as linker writes CSV.
    """
    rows = list(rows)
    labels_of = _of_tool(format, [row.values for row in rows], collector)
    if labels_of is None:
        if any("asreview_label" in row.values for row in rows[:_HEAD]):
            rows, columns = [row._replace(values=plain(row.values)) for row in rows], None
        labels_of = TableReader(rows, columns, guarded, collector)
    collector.read(rows, labels_of, bad)


def _of_tool(
    format: str | None, records: Sequence[Mapping[str, Any]], collector: Collector
) -> LabelsOf | None:
    """Return what reads records of the tool that wrote them; None: they are a table."""
    head = records[:_HEAD]
    if format in _TABLES:
        return None
    if format == "label_studio" or (format is None and any(map(is_label_studio, head))):
        return label_studio_labels(records, collector)
    if format == "argilla" or (format is None and any(map(is_argilla, head))):
        return argilla_labels(records, collector)
    if format == "prodigy" or any(map(is_prodigy, head)) or (head and all(map(is_task, head))):
        return prodigy_labels(collector)
    return None


def _is_project(path: Path, format: str | None) -> bool:
    if not os.path.isfile(path):
        return False  # a FIFO can be opened only once
    try:
        with open(path, "rb") as file:
            if file.read(2) != b"PK":
                return False  # a table
        with zipfile.ZipFile(path) as archive:
            return format == "asreview" or CONFIG in archive.namelist()
    except (zipfile.BadZipFile, OSError, NotImplementedError):
        return path.suffix.lower() == ".asreview"
