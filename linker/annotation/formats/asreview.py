"""ASReview: datasets with labels, and project files (https://asreview.readthedocs.io)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from linker.annotation.formats.asreview_project import Decision, decisions, is_project
from linker.annotation.formats.csv import guarded, plain
from linker.annotation.formats.label_format import (
    LabelFormat,
    by_post,
    id_of,
    read_text,
    text_of,
    time_of,
    value_of,
)
from linker.annotation.formats.records import ImportedLabel, LabeledPost
from linker.common.errors import DataError
from linker.common.files import atomic_write
from linker.data.io.labels import LabelValue

_COLUMNS = (
    "post_id",
    "abstract",
    "included",
    "annotator",
    "note",
    "time",
    "article_id",
    "score",
    "created_at",
)
_INCLUDED: dict[LabelValue, str] = {"relevant": "1", "not": "0"}


@LabelFormat.register("asreview")
class AsreviewFormat(LabelFormat):
    """A dataset for ASReview, one line per post with its text as `abstract`; read: project files and exported datasets.

    ASReview has one label per post: the majority of the annotators, none for ties and skipped posts. Annotator, note
    and time of a single label are columns that ASReview keeps.
    """

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records; return the files written."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(_COLUMNS)
        for group in by_post(records):
            writer.writerow([guarded(value) for value in _row(group)])
        with atomic_write(path, "wb") as file:
            # ASReview reads what is not UTF-8 as Latin-1; lone surrogates cannot be encoded.
            file.write(text.getvalue().encode("utf-8", "replace"))
        return [path]

    def read(self, path: Path) -> list[ImportedLabel]:
        """Return the labels of a project file (`.asreview`) or an exported dataset (CSV, TSV), in its order."""
        labels = _of_project(path) if is_project(path) else _of_dataset(path)
        return list(labels)


def _row(group: Sequence[LabeledPost]) -> list[Any]:
    first, given = group[0], [record for record in group if record.value in _INCLUDED]
    relevant = sum(record.value == "relevant" for record in given)
    value: LabelValue = "relevant" if 2 * relevant > len(given) else "not"
    included = "" if 2 * relevant == len(given) else _INCLUDED[value]
    one = given[0] if len(given) == 1 else None
    created = first.post.created_at
    return [
        first.post.id,
        first.post.text,
        included,
        (one and one.annotator) or "",
        (one and one.note) or "",
        one.time.isoformat() if one and one.time else "",
        first.article_id,
        first.score,
        created.isoformat() if created else "",
    ]


def _of_dataset(path: Path) -> Iterator[ImportedLabel]:
    rows = dataset_rows(read_text(path), str(path))
    for number, (where, row) in enumerate(rows, 2):
        if number == 2 and not {"asreview_label", "included"} & set(row):
            raise DataError(f"{path}, line 1: column asreview_label or included not found")
        decided = None
        if (value := value_of(row.get("asreview_label"), where)) is not None:
            user = text_of(row, "asreview_user_name", where) or text_of(row, "asreview_user_email", where)
            time = time_of(row.get("asreview_time"), where)
            decided = Decision(0, value, user or None, text_of(row, "asreview_note", where), time)
        elif "asreview_label" not in row:
            decided = Decision(0, value_of(row.get("included"), where))
        if decided is not None and (label := _label(row, decided, number, where)) is not None:
            yield label


def _of_project(path: Path) -> Iterator[ImportedLabel]:
    name, text, found = decisions(path)
    rows = list(dataset_rows(text, f"{path}, {name}"))
    for decided in found:
        if not 0 <= decided.row < len(rows):
            raise DataError(f"{path}: a label of row {decided.row + 1:,}, but {name} has {len(rows):,} rows")
        where, row = rows[decided.row]
        if (label := _label(row, decided, decided.row + 2, where)) is not None:
            yield label


def _label(row: Mapping[str, Any], decided: Decision, number: int, where: str) -> ImportedLabel | None:
    """Return the label of a row: with annotator, note and time of the row if it was in the dataset already."""
    if decided.value is None:
        return None
    post_id = id_of(row, where, "post_id" if "post_id" in row else "id")
    annotator, note, time = decided.annotator, decided.note, decided.time
    if annotator is None and value_of(row.get("included"), where) == decided.value:
        annotator = text_of(row, "annotator", where) or None
        note = note or text_of(row, "note", where)
        time = time_of(row.get("time"), where) or time
    return ImportedLabel(post_id, annotator, decided.value, note, time, number)


def dataset_rows(text: str, name: str) -> Iterator[tuple[str, dict[str, str | None]]]:
    """Yield name in messages and fields of each row of a dataset, separated by commas, semicolons or tabs.

    Raises:
        DataError: if it is no table.
    """
    head = text.partition("\n")[0]
    separator = max(",;\t", key=head.count)
    lines = csv.DictReader(io.StringIO(text, newline=""), strict=True, delimiter=separator)
    try:
        for number, row in enumerate(lines, 1):
            if None in row:
                raise DataError(f"{name}, row {number}: has more fields than line 1 has columns")
            yield f"{name}, row {number}", {key: plain(value) for key, value in row.items()}
    except csv.Error as error:
        raise DataError(f"{name}, line {lines.line_num}: not CSV ({error})") from error
