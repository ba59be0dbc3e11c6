"""Dotted paths into the nested values of a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
