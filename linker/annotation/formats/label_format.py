"""The family of label formats: files of annotation tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from linker.annotation.formats.records import ImportedLabel, LabeledPost
from linker.common.errors import DataError
from linker.common.files import atomic_write
from linker.config import Registrable
from linker.data.io.dates import parse_date
from linker.data.io.labels import LabelValue, parse_label


class LabelFormat(Registrable):
    """Writes labelled posts for a tool and reads what was labelled with it."""

    def write(self, path: Path, records: Sequence[LabeledPost], guidelines: str = "") -> list[Path]:
        """Write the records; the files written, `path` first.

        Args:
            path: the file.
            records: what to write.
            guidelines: for formats that have a place for them.
        """
        raise NotImplementedError

    def read(self, path: Path) -> list[ImportedLabel]:
        """The labels of a file, in its order; records without a label are passed over.

        Raises:
            DataError: the file is not what the format says, with the line or record.
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


def time_of(told: Any, where: str) -> datetime | None:
    """The point in time that a file means, in UTC; None for none.

    Raises:
        DataError: it is not read as one.
    """
    if told is None or told == "":
        return None
    try:
        return parse_date(told)
    except ValueError as error:
        raise DataError(f"{where}: {error}") from error


def text_of(record: Mapping[str, Any], key: str, where: str) -> str:
    """The text or number under a key, as text; empty where there is none.

    Raises:
        DataError: there is something else.
    """
    told = record.get(key)
    if told is None:
        return ""
    if isinstance(told, bool) or not isinstance(told, str | int | float):
        raise DataError(f"{where}: {key} is neither text nor a number")
    return str(told)


def id_of(record: Mapping[str, Any], where: str, key: str = "post_id") -> str:
    """The id of the post that a record is about.

    Raises:
        DataError: there is none.
    """
    if not (told := text_of(record, key, where)):
        raise DataError(f"{where}: has no {key}, so nobody can say which post it is about")
    return told


def by_post(records: Iterable[LabeledPost]) -> list[list[LabeledPost]]:
    """The records of each post, posts in the order of their first record."""
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
    """The content of a file.

    Raises:
        DataError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error


def read_text(path: Path) -> str:
    """The content of a UTF-8 file, with or without a byte order mark; line ends as they are.

    Raises:
        DataError: it cannot be read, or is not UTF-8.
    """
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}, line {line}: is not UTF-8; save the file as UTF-8") from error


def read_json_lines(path: Path) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Line number, what messages call it, and object of every line that is not empty.

    Raises:
        DataError: a line that holds no JSON object.
    """
    for number, line in enumerate(read_text(path).split("\n"), 1):
        where = f"{path}, line {number}"
        if line.strip():
            yield number, where, an_object(_json(line, where), where)


def read_json_list(path: Path) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Number, what messages call it, and object of every record of a JSON list.

    Raises:
        DataError: the file holds something else.
    """
    content = _json(read_text(path), str(path))
    if not isinstance(content, list):
        raise DataError(f"{path}: holds no list of records")
    for number, record in enumerate(content, 1):
        where = f"{path}, record {number}"
        yield number, where, an_object(record, where)


def an_object(told: Any, where: str) -> dict[str, Any]:
    """What has to be a JSON object.

    Raises:
        DataError: it is none.
    """
    if not isinstance(told, dict):
        raise DataError(f"{where}: is no JSON object")
    return told


def a_list(told: Any, where: str) -> list[Any]:
    """What has to be a list; null stands for an empty one.

    Raises:
        DataError: it is none.
    """
    if told is None:
        return []
    if not isinstance(told, list):
        raise DataError(f"{where}: is no list")
    return told


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = "" if ", line" in where else f", line {error.lineno}"
        raise DataError(f"{where}{line}: is no JSON ({error.msg}, column {error.colno})") from error
    except (ValueError, RecursionError) as error:  # a number of too many digits, brackets too deep
        raise DataError(f"{where}: is no JSON that can be read") from error
