"""Read the labels in a file of any tool; what the file is, is recognized by its content."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from linker.common.errors import ConfigError, DataError
from linker.data.files.formats.delimited import guard_of
from linker.data.files.line_errors import BadLines
from linker.data.files.rows import Row
from linker.data.files.streams import shown_name
from linker.data.files.tables import open_table
from linker.data.labels import known_names
from linker.data.labels.argilla import ArgillaReader
from linker.data.labels.asreview import CONFIG, read_project
from linker.data.labels.collector import Collector, LabelReader
from linker.data.labels.label_studio import LabelStudioReader
from linker.data.labels.post_labels import LabelFile
from linker.data.labels.prodigy import ProdigyReader
from linker.data.labels.table import TableReader
from linker.data.labels.values import LabelValue

#: Formats that can be forced; all others are tables.
FORMATS = ("argilla", "asreview", "csv", "doccano", "jsonl", "label_studio", "prodigy", "trec", "xlsx")
_TABLES = ("csv", "doccano", "jsonl", "xlsx")
_GLANCE = 1 << 16
_QRELS = re.compile(rb"(?:\xef\xbb\xbf)?\s*\S+[ \t]+\S+[ \t]+\S+[ \t]+-?\d+[ \t]*\r?(?:\n|$)")
_QRELS_COLUMNS = ("article_id", "iteration", "post_id", "qrel")
_HEAD = 50
#: In the third row of a survey of Qualtrics, after the names and the texts of the questions.
_OF_QUALTRICS = '{"ImportId"'


def read_labels(
    path: str | Path, format: str | None = None, names: Mapping[str, LabelValue] | None = None
) -> LabelFile:
    """Read the labels of a file.

    Tables (CSV, TSV, Excel, Parquet, JSON, JSON Lines, with the columns of any tool), exports of Label Studio, Argilla,
    Prodigy, doccano and ASReview, project files of ASReview, and qrels of TREC.

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
    try:
        with open(path, "rb") as file_:
            first = file_.read(_GLANCE)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error
    collector = Collector(shown, names)
    if format in (None, "asreview") and first.startswith(b"PK") and (format or _has_project(Path(path))):
        read_project(Path(path), collector)
        return collector.result()
    with BadLines(skippable=False) as bad_lines:
        file = bad_lines.file(str(path))
        if format == "trec" or (format is None and _QRELS.match(first)):
            collector.graded = True
            read_rows(_qrels(Path(path)), _QRELS_COLUMNS, collector, "csv", file.bad)
        else:
            sniff_for = ({"label", "labels", "post_id"}, {*known_names.IDS, *known_names.LABELS})
            with open_table(file, sniff_for) as table:
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
    all_rows = list(rows)
    head = all_rows[:_HEAD]
    reader = None if format in _TABLES else _tool(format, [row.values for row in head], collector)
    if len(head) > 1 and any(_OF_QUALTRICS in str(value) for value in head[1].values.values()):
        collector.notes.append("2 rows of Qualtrics about the questions left out")
        del all_rows[:2]
    if reader is None:
        reader = TableReader(all_rows, columns, None, guarded, collector)
    else:
        reader.prepare([row.values for row in all_rows])
    collector.read(all_rows, reader, bad)


def _tool(format: str | None, head: Sequence[Mapping[str, Any]], collector: Collector) -> LabelReader | None:
    """Return the reader of the tool that wrote the records; None: a table."""
    readers = {"label_studio": LabelStudioReader, "argilla": ArgillaReader, "prodigy": ProdigyReader}
    for name, reader in readers.items():
        if format == name or (format is None and any(reader.wrote(values) for values in head)):
            return reader(collector)
    if format is None and head and all(ProdigyReader.asks(values) for values in head):
        return ProdigyReader(collector)
    return None


def _has_project(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return CONFIG in archive.namelist()
    except (zipfile.BadZipFile, OSError, NotImplementedError):
        return path.suffix.lower() == ".asreview"


def _qrels(path: Path) -> Iterable[Row]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            raw = line.decode("utf-8-sig", "replace").strip()
            fields = raw.split()
            if not fields:
                continue
            if len(fields) != len(_QRELS_COLUMNS):
                raise DataError(
                    f"{path}, line {number}: {len(fields)} fields; qrels have 4: topic, 0, document and grade"
                )
            yield Row(number, dict(zip(_QRELS_COLUMNS, fields)), raw)
