"""Single values of a row, checked: ids, texts, dates, labels."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from linker.data.io.columns import Columns, missing_column
from linker.data.io.dates import DateStyle, parse_date
from linker.data.io.line_errors import LineError

_NOTHING = object()


def put_paths(values: dict[str, Any], paths: list[str]) -> None:
    """Put what lies at the paths into the row under the paths' own names, where it has no such column already."""
    for path in paths:
        if path not in values:
            value = at_path(values, path)
            if value is not _NOTHING:
                values[path] = value


def at_path(values: Mapping[str, Any], path: str) -> Any:
    """What lies at `record.text` or `data.0.text`; a marker of its own where nothing does."""
    value: Any = values
    for step in path.split("."):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return _NOTHING
    return value


Values = dict[str, Any]
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_STRICT = DateStyle()
_JOIN, _SEPARATOR = "\n\n", "|"


def is_missing(value: Any) -> bool:
    """Is a cell empty: None, NaN (how pandas writes None to Parquet) or white space?"""
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def text_of(values: Values, columns: Columns, ours: str) -> str:
    """A text, or several joined; empty where there is none.

    Raises:
        LineError: a value that is no string.
    """
    parts = []
    for name in columns.names(ours):
        value = values.get(name)
        if is_missing(value):
            continue
        if not isinstance(value, str):
            raise _wrong_type(name, value, "a string")
        parts.append(value)
    return _JOIN.join(parts)


def required_text(values: Values, columns: Columns) -> dict[str, str]:
    """The texts by our names of which one must not be empty.

    Raises:
        LineError: all are missing or empty.
    """
    texts = {ours: text_of(values, columns, ours) for ours in columns.any_of}
    if not any(texts.values()):
        names = [name for ours in columns.any_of for name in columns.names(ours)]
        if not set(names) & set(values):
            raise LineError("missing column", missing_column(names[-1], columns.any_of[-1], values))
        raise LineError(
            "empty text", "nothing in " + ", ".join(f'"{name}"' for name in names if name in values)
        )
    return texts


def id_of(values: Values, columns: Columns, ours: str = "id") -> str:
    """An id that must be there: a string or whole number, as a string.

    Raises:
        LineError: there is none, or it is something else.
    """
    (name,) = columns.names(ours)
    if name not in values:
        raise LineError("missing column", missing_column(name, ours, values))
    value = label_of(values, columns, ours)
    if value is None:
        raise LineError("empty id", f'nothing in "{name}"')
    return value


def label_of(values: Values, columns: Columns, ours: str) -> str | None:
    """A string or whole number, as a string without white space around it; None where there is none.

    Raises:
        LineError: it is something else, or holds control characters.
    """
    for name in columns.names(ours):
        if not is_missing(values.get(name)):
            return _label(name, values[name])
    return None


def labels_of(values: Values, columns: Columns, ours: str) -> list[str]:
    """A list of ids; in CSV and TSV `a|b` or `["a", "b"]`.

    Raises:
        LineError: it is something else.
    """
    for name in columns.names(ours):
        value = values.get(name)
        if isinstance(value, list):
            return [_label(name, item) for item in value]
        if not is_missing(value):
            items = _listed(value) if isinstance(value, str) else None
            if items is None:
                raise _wrong_type(name, value, "a list of ids (in CSV and TSV: a|b)")
            return [_label(name, item) for item in items]
    return []


def first_of(values: Values, columns: Columns, ours: str) -> str | None:
    """A string, or the first of a list of strings; None where there is none."""
    for name in columns.names(ours):
        value = values.get(name)
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, str) and not is_missing(first):
            return first
    return None


def date_of(values: Values, columns: Columns, ours: str) -> datetime | None:
    """A date; None where there is none, or where the column's dates are left out, which is counted there.

    Raises:
        LineError: there is something that is no date.
    """
    for name in columns.names(ours):
        if not is_missing(values.get(name)):
            style = columns.date_styles.get(ours, _STRICT)
            try:
                return parse_date(values[name], style.day_first)
            except ValueError as error:
                if style.leaves_out(error):
                    style.leave_out(values[name])
                    return None
                raise LineError("unreadable date", f'"{name}": {error}') from error
    return None


def _listed(value: str) -> list[Any] | None:
    """The items of `a|b` or `["a", "b"]`; None where it begins like the latter and is something else."""
    if not value.lstrip().startswith("["):
        return value.split(_SEPARATOR)
    try:
        items = json.loads(value)
    except ValueError:
        return None
    return items if isinstance(items, list) else None


def _label(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise _wrong_type(name, value, "a string or whole number")
    label = str(value).strip()
    if not label or _CONTROL.search(label):
        raise LineError("unusable id", f'"{name}" is {label!r}')
    return label


def _wrong_type(name: str, value: Any, expected: str) -> LineError:
    return LineError(
        "wrong type", f'"{name}" is {str(value)[:40]!r} ({type(value).__name__}), expected {expected}'
    )
