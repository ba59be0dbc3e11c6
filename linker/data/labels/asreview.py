"""Labels of ASReview 2 and 3: its exported dataset, and project files, zip archives with the labels in SQLite."""

import json
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from linker.common.errors import DataError
from linker.data.files.line_errors import BadLines
from linker.data.files.rows import Row
from linker.data.files.tables import open_table
from linker.data.io.fields import is_missing
from linker.data.labels.collector import text_in, time_in
from linker.data.labels.records import ANSWER
from linker.data.labels.values import parse_or_none

#: The file of an archive by which a project is recognized.
CONFIG = "project.json"
_RESULTS, _RECORDS = "results.db", "data_store.db"
#: Of a file of the archive, unpacked.
_MOST_BYTES = 1 << 30
_QUERY = (
    "SELECT record.dataset_row, results.label, results.user_id, results.note, results.time "
    "FROM results JOIN {records} AS record ON record.record_id = results.record_id "
    "WHERE results.label IS NOT NULL ORDER BY record.dataset_row"
)
_COLUMNS = ("asreview_label", "asreview_user_name", "asreview_note", "asreview_time")
_NO_LABEL = -1


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of an exported dataset with the labels of ASReview under usual names.

    A label that was in the dataset before, as `included`, keeps annotator, note and time of its row: ASReview names no
    user of it.
    """
    row = {
        name: value
        for name, value in values.items()
        if not name.startswith("asreview_") and name != "included"
    }
    label, user, note, time = (values.get(name) for name in _COLUMNS)
    before = None if is_missing(values.get("included")) else parse_or_none(values["included"])
    if text_in(user) or before is None or before != parse_or_none(label):
        answers = [name for name in row if name.startswith(ANSWER)]
        row |= dict.fromkeys(("annotator", "note", "time", *answers))
    user = text_in(user) or text_in(values.get("asreview_user_email"))
    found = {"annotator": user, "note": text_in(note), "time": row.get("time") or time}
    return {**row, "label": label, **{name: value for name, value in found.items() if value}}


def project_rows(path: Path) -> tuple[str, list[Row]]:
    """Return the dataset of a project file, with its name in messages, a row a label, as an exported dataset has it.

    Raises:
        DataError: if it is damaged, of another kind, of ASReview 1, or its dataset is no table.
    """
    try:
        with (
            zipfile.ZipFile(path) as archive,
            tempfile.TemporaryDirectory(prefix="linker-asreview-") as folder,
        ):
            data, results = _members(path, archive)
            for member, name in ((data, Path(data).name), (results, _RESULTS), (_RECORDS, _RECORDS)):
                if member in archive.namelist():
                    Path(folder, name).write_bytes(_bytes(path, archive, member))
            labels: dict[int, list[dict[str, Any]]] = {}
            for row, columns in _labels(path, Path(folder)):
                labels.setdefault(row, []).append(columns)
            rows = _dataset(f"{path}, {data}", Path(folder, Path(data).name))
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, RuntimeError) as error:
        raise DataError(f"{path}: damaged archive ({error}); export the project again") from error
    except sqlite3.Error as error:
        raise DataError(f"{path}: damaged labels ({error}); export the project again") from error
    for number in labels:
        if not 0 <= number < len(rows):
            raise DataError(f"{path}: a label of row {number + 1:,}, but {data} has {len(rows):,} rows")
    return f"{path}, {data}", [
        row._replace(values={**row.values, "asreview_label": None, **columns})
        for number, row in enumerate(rows)
        for columns in labels.get(number, [{}])
    ]


def _members(path: Path, archive: zipfile.ZipFile) -> tuple[str, str]:
    """Return the names of the dataset and of the labels in a project."""
    names = set(archive.namelist())
    if CONFIG not in names:
        raise DataError(f"{path}: not a project of ASReview, it has no {CONFIG}")
    try:
        config = json.loads(_bytes(path, archive, CONFIG))
        datasets = [f"data/{dataset['name']}" for dataset in config.get("datasets") or []]
        reviews = [f"reviews/{review['id']}/{_RESULTS}" for review in config.get("reviews") or []]
        is_first_version = "dataset_path" in config
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError) as error:
        raise DataError(f"{path}, {CONFIG}: not as ASReview writes it ({error!r})") from error
    if not datasets and is_first_version:
        raise DataError(f"{path}: of ASReview 1; open it in ASReview 3 and export the project again")
    if not datasets:
        raise DataError(f"{path}: a project without a dataset")
    data, results = datasets[0], reviews[0] if reviews else _RESULTS
    if not data.lower().endswith((".csv", ".tsv", ".tab")):
        raise DataError(f"{path}: its dataset is {data}; projects with datasets in CSV or TSV can be read")
    if missing := [member for member in (data, results) if member not in names]:
        raise DataError(f"{path}: {' and '.join(missing)} missing; export the project again")
    return data, results


def _bytes(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise DataError(f"{path}, {name}: larger than {_MOST_BYTES >> 20:,} MiB")
    return content


def _dataset(shown: str, file: Path) -> list[Row]:
    try:
        with BadLines(skippable=False) as bad_lines, open_table(bad_lines.file(str(file)), set()) as table:
            return list(table.rows)
    except DataError as error:
        raise DataError(str(error).replace(str(file), shown)) from error


def _labels(path: Path, folder: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the labels with their rows, as columns of an exported dataset."""
    uri = "{}?mode=ro&immutable=1"
    # The databases are of strangers; only tables are read.
    with closing(sqlite3.connect(uri.format((folder / _RESULTS).as_uri()), uri=True)) as database:
        database.execute("PRAGMA trusted_schema = OFF")
        records = "record"
        if (folder / _RECORDS).exists():  # ASReview 2
            database.execute("ATTACH ? AS store", (uri.format((folder / _RECORDS).as_uri()),))
            records = "store.record"
        for row, label, user, note, time in database.execute(_QUERY.format(records=records)):
            if label == _NO_LABEL:
                continue
            if label not in (0, 1) or not isinstance(row, int):
                raise DataError(f"{path}: a label {label!r} of row {row!r}; ASReview writes 1 and 0")
            yield row, dict(zip(_COLUMNS, (str(int(label)), user, note, time_in(time, strict=False))))
