"""The family of label formats: files of annotation tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from linker.annotation.formats.records import ImportedLabel, LabeledPost
from linker.common.errors import DataError
from linker.common.files import atomic_write
from linker.config import Registrable
from linker.data.io.dates import parse_date
from linker.data.io.labels import LabelValue, parse_label


class LabelFormat(Registrable):
    """Base of label formats: write posts for a tool, read its labels.

    Attributes:
        marks_machines: whether files of the format tell labels of machines from those of people.
    """

    marks_machines: ClassVar[bool] = False

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records.

        Args:
            path: the file.
            records: posts with labels.
            guidelines: instructions for the annotators, for formats that hold them.

        Returns:
            The files written, `path` first.
        """
        raise NotImplementedError

    def read(self, path: Path) -> list[ImportedLabel]:
        """Return the labels of the file `path`, in its order; records without a label are skipped.

        Raises:
            DataError: if the file is not in the format, with the line or record.
        """
        raise NotImplementedError


def value_of(field: Any, where: str) -> LabelValue | None:
    """Return the label that a field of a file holds; None for an empty field.

    Raises:
        DataError: if the label is unknown.
    """
    try:
        return parse_label(field)
    except ValueError as error:
        raise DataError(f"{where}: {error}") from error


def time_of(field: Any, where: str) -> datetime | None:
    """Return the time that a field holds, in UTC; None for an empty field.

    Raises:
        DataError: if it is not a time.
    """
    if field is None or field == "":
        return None
    try:
        return parse_date(field)
    except ValueError as error:
        raise DataError(f"{where}: {error}") from error


def text_of(record: Mapping[str, Any], key: str, where: str) -> str:
    """Return the text or number under a key as text; empty if the key is missing.

    Raises:
        DataError: if the value is of another type.
    """
    value = record.get(key)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise DataError(f"{where}: {key} is neither text nor a number")
    return str(value)


def id_of(record: Mapping[str, Any], where: str, key: str = "post_id") -> str:
    """Return the id of a record's post.

    Raises:
        DataError: if it is missing.
    """
    if not (post_id := text_of(record, key, where)):
        raise DataError(f"{where}: {key} is missing, so the label belongs to no post")
    return post_id


def by_post(records: Iterable[LabeledPost]) -> list[list[LabeledPost]]:
    """Group records by post, in the order of each post's first record."""
    groups: dict[tuple[str, str], list[LabeledPost]] = {}
    for record in records:
        groups.setdefault((record.post.id, record.article_id), []).append(record)
    return list(groups.values())


def write_json(path: Path, content: Any) -> None:
    """Write one JSON value, in ASCII, which every tool reads and which holds any text."""
    with atomic_write(path) as file:
        json.dump(content, file, indent=1)
        file.write("\n")


def write_json_lines(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write one JSON object per line, in ASCII."""
    with atomic_write(path) as file:
        for record in records:
            file.write(json.dumps(record) + "\n")


def read_bytes(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        DataError: if it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error


def read_text(path: Path) -> str:
    """Return the content of a UTF-8 file, with or without a byte order mark, line ends unchanged.

    Raises:
        DataError: if it cannot be read, or is not UTF-8.
    """
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}, line {line}: not UTF-8; save the file as UTF-8") from error


def read_json_lines(path: Path) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield number, name in messages, and JSON object of each line that is not empty.

    Raises:
        DataError: if a line is not a JSON object.
    """
    for number, line in enumerate(read_text(path).split("\n"), 1):
        where = f"{path}, line {number}"
        if line.strip():
            yield number, where, an_object(_json(line, where), where)


def read_json_list(path: Path) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield number, name in messages, and object of each record of a JSON list.

    Raises:
        DataError: if the file holds anything else.
    """
    content = _json(read_text(path), str(path))
    if not isinstance(content, list):
        raise DataError(f"{path}: not a list of records")
    for number, record in enumerate(content, 1):
        where = f"{path}, record {number}"
        yield number, where, an_object(record, where)


def an_object(value: Any, where: str) -> dict[str, Any]:
    """Return a value that must be a JSON object.

    Raises:
        DataError: if it is not.
    """
    if not isinstance(value, dict):
        raise DataError(f"{where}: not a JSON object")
    return value


def a_list(value: Any, where: str) -> list[Any]:
    """Return a value that must be a list; null is an empty one.

    Raises:
        DataError: if it is not.
    """
    if value is None:
        return []
    if not isinstance(value, list):
        raise DataError(f"{where}: not a list")
    return value


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = "" if ", line" in where else f", line {error.lineno}"
        raise DataError(f"{where}{line}: not JSON ({error.msg}, column {error.colno})") from error
    except (ValueError, RecursionError) as error:  # a number of too many digits, brackets too deep
        raise DataError(f"{where}: JSON that cannot be read") from error
