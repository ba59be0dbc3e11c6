"""Project files of ASReview 2 and 3: a zip archive with `project.json`, the dataset, and labels in SQLite."""

from __future__ import annotations

import json
import sqlite3
import tempfile
import zipfile
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from linker.common.errors import DataError
from linker.data.files.line_errors import BadLines
from linker.data.files.rows import Row
from linker.data.files.tables import open_table
from linker.data.labels.collector import Collector
from linker.data.labels.table import TableReader

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
_NO_LABEL = -1


def read_project(path: Path, collector: Collector) -> None:
    """Read the labels of a project file into the collector.

    A label that was in the dataset before keeps annotator, note and time of its row.

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
            labels = _labels(path, Path(folder))
            rows = _dataset(f"{path}, {data}", Path(folder, Path(data).name))
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, RuntimeError) as error:
        raise DataError(f"{path}: damaged archive ({error}); export the project again") from error
    except sqlite3.Error as error:
        raise DataError(f"{path}: damaged labels ({error}); export the project again") from error
    collector.shown = str(path)
    for number in labels:
        if not 0 <= number < len(rows):
            raise DataError(f"{path}: a label of row {number + 1:,}, but {data} has {len(rows):,} rows")
    labeled = [
        row._replace(values={**row.values, "asreview_label": None, **columns})
        for number, row in enumerate(rows)
        for columns in labels.get(number, [{}])
    ]
    reader = TableReader(labeled, None, None, guarded=True, collector=collector)
    with BadLines(skippable=False) as bad_lines:
        file = bad_lines.file(f"{path}, {data}")
        collector.read(labeled, reader, file.bad)


def _members(path: Path, archive: zipfile.ZipFile) -> tuple[str, str]:
    """Return the names of the dataset and of the labels in a project."""
    names = set(archive.namelist())
    if CONFIG not in names:
        raise DataError(f"{path}: not a project of ASReview, it has no {CONFIG}")
    try:
        config = _object(json.loads(_bytes(path, archive, CONFIG)), f"{path}, {CONFIG}")
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}, {CONFIG}: not JSON ({error})") from error
    datasets, reviews = (
        _objects(config.get(key), f"{path}, {CONFIG}", key) for key in ("datasets", "reviews")
    )
    results = f"reviews/{reviews[0].get('id')}/{_RESULTS}" if reviews else _RESULTS
    if not datasets and "dataset_path" in config:
        raise DataError(f"{path}: of ASReview 1; open it in ASReview 3 and export the project again")
    if not datasets:
        raise DataError(f"{path}: a project without a dataset")
    data = f"data/{datasets[0].get('name')}"
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


def _labels(path: Path, folder: Path) -> dict[int, list[dict[str, str | None]]]:
    """Return the labels by row, as columns of an exported dataset."""
    labels: dict[int, list[dict[str, str | None]]] = {}
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
            columns = {"label": str(int(label)), "note": str(note or ""), "time": _moment(time)}
            columns["user_name"] = None if user is None else str(user)
            labels.setdefault(row, []).append({f"asreview_{name}": text for name, text in columns.items()})
    return labels


def _moment(time: Any) -> str | None:
    try:
        return None if time is None else datetime.fromtimestamp(float(time), timezone.utc).isoformat()
    except (ValueError, OverflowError, OSError):
        return None


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DataError(f"{where}: not a JSON object")
    return value


def _objects(value: Any, where: str, key: str) -> list[dict[str, Any]]:
    if value is not None and not isinstance(value, list):
        raise DataError(f"{where}: not a list")
    return [_object(item, f"{where}: {key}") for item in value or []]
