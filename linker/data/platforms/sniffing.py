"""Recognize the format of posts by their first records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from linker.common.errors import ConfigError, DataError
from linker.data.platforms.platform import Platform

#: Value of `format` for files that are read by the names of their columns only.
BY_COLUMNS = "columns"
#: Number of records that show the format.
HEAD = 200


@lru_cache(maxsize=1)
def platforms() -> dict[str, Platform]:
    """Return all formats, those of plugins included, by name."""
    return {name: Platform.by_name(name)() for name in Platform.available()}


def platform_named(name: str) -> Platform:
    """Return a format by its name.

    Raises:
        DataError: if it is unknown.
    """
    try:
        return Platform.by_name(name)()
    except ConfigError as error:
        raise DataError(
            f"format: {error}; {BY_COLUMNS} reads by the names of columns (list: linker components Platform)"
        ) from error


def check_format(name: str) -> None:
    """Check that a value of `format` is known.

    Raises:
        DataError: otherwise.
    """
    if name != BY_COLUMNS:
        platform_named(name)


def platform_of(records: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the name of the format that most of the records have, more than half; None if there is none."""
    best, most = None, len(records) // 2
    for name, platform in platforms().items():
        count = sum(map(platform.recognizes, records))
        if count > most:
            best, most = name, count
    return best
