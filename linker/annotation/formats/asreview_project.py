"""Project files of ASReview 2 and 3: a zip archive with `project.json`, the dataset, and labels in SQLite."""

from __future__ import annotations

import json
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from linker.annotation.formats.label_format import a_list, an_object
from linker.common.errors import DataError
from linker.data.io.labels import LabelValue

_CONFIG, _RESULTS, _RECORDS = "project.json", "results.db", "data_store.db"
_MOST_BYTES = 1 << 30
"""Of a file of the archive, unpacked."""
_QUERY = (
    "SELECT record.dataset_row, results.label, results.user_id, results.note, results.time "
    "FROM results JOIN {records} AS record ON record.record_id = results.record_id "
    "WHERE results.label IS NOT NULL ORDER BY record.dataset_row"
)
_VALUES: dict[Any, LabelValue] = {1: "relevant", 0: "not"}


@dataclass(frozen=True)
class Decision:
    """A label given in ASReview.

    Attributes:
        row: row of the post in the dataset, from 0.
        value: the label; None: none.
        annotator: name or number of the user; None if the project has a single one.
        note: the user's note.
        time: when it was given.
    """

    row: int
    value: LabelValue | None
    annotator: str | None = None
    note: str = ""
    time: datetime | None = None


def is_project(path: Path) -> bool:
    """Return whether a file is an archive, whatever its name."""
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error


def decisions(path: Path) -> tuple[str, str, list[Decision]]:
    """Read a project file.

    Args:
        path: the file.

    Returns:
        Name and content of its dataset, and the labels in the order of its rows.

    Raises:
        DataError: if it is damaged, of another kind, of ASReview 1, or has no dataset that is text.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(path, archive)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, RuntimeError) as error:
        raise DataError(f"{path}: damaged archive ({error}); export the project again") from error
    except sqlite3.Error as error:
        raise DataError(f"{path}: damaged labels ({error}); export the project again") from error


def _read(path: Path, archive: zipfile.ZipFile) -> tuple[str, str, list[Decision]]:
    names = set(archive.namelist())
    if _CONFIG not in names:
        raise DataError(f"{path}: not a project of ASReview, it has no {_CONFIG}")
    try:
        config = an_object(json.loads(_bytes(path, archive, _CONFIG)), f"{path}, {_CONFIG}")
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}, {_CONFIG}: not JSON ({error})") from error
    data = [
        an_object(item, f"{path}, {_CONFIG}: datasets") for item in a_list(config.get("datasets"), _CONFIG)
    ]
    reviews = [
        an_object(item, f"{path}, {_CONFIG}: reviews") for item in a_list(config.get("reviews"), _CONFIG)
    ]
    results = f"reviews/{reviews[0].get('id')}/{_RESULTS}" if reviews else _RESULTS
    if not data and "dataset_path" in config:
        raise DataError(f"{path}: of ASReview 1; open it in ASReview 3 and export the project again")
    if not data:
        raise DataError(f"{path}: a project without a dataset")
    name = f"data/{data[0].get('name')}"
    if not name.lower().endswith((".csv", ".tsv", ".tab")):
        raise DataError(f"{path}: its dataset is {name}; projects with datasets in CSV or TSV can be read")
    if missing := [member for member in (name, results) if member not in names]:
        raise DataError(f"{path}: {' and '.join(missing)} missing; export the project again")
    try:
        text = _bytes(path, archive, name).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}, {name}: not UTF-8; save the dataset as UTF-8") from error
    with tempfile.TemporaryDirectory(prefix="linker-asreview-") as folder:
        for member, file in ((results, _RESULTS), (_RECORDS, _RECORDS)):
            if member in names:
                Path(folder, file).write_bytes(_bytes(path, archive, member))
        return name, text, _decisions(path, Path(folder))


def _bytes(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise DataError(f"{path}, {name}: larger than {_MOST_BYTES >> 20:,} MiB")
    return content


def _decisions(path: Path, folder: Path) -> list[Decision]:
    found = []
    with _opened(folder / _RESULTS) as database:
        records = "record"
        if (folder / _RECORDS).exists():  # ASReview 2
            database.execute("ATTACH ? AS store", (f"{(folder / _RECORDS).as_uri()}?mode=ro&immutable=1",))
            records = "store.record"
        for row, label, user, note, time in database.execute(_QUERY.format(records=records)):
            if label not in _VALUES or not isinstance(row, int):
                raise DataError(f"{path}: a label {label!r} of row {row!r}; ASReview writes 1 and 0")
            found.append(
                Decision(
                    row,
                    _VALUES[label],
                    None if user is None else str(user),
                    str(note or ""),
                    _moment(time),
                )
            )
    return found


@contextmanager
def _opened(file: Path) -> Iterator[sqlite3.Connection]:
    """Open a database of strangers, of which only tables are read."""
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True)) as database:
        database.execute("PRAGMA trusted_schema = OFF")
        yield database


def _moment(time: Any) -> datetime | None:
    try:
        return None if time is None else datetime.fromtimestamp(float(time), timezone.utc)
    except (ValueError, OverflowError, OSError):
        return None
