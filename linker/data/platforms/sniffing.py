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


def platforms_of(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the formats of some records, the most frequent first.

    A file may be of several, such as submissions and comments of Reddit. A record of several formats counts for the
    most frequent one. The list is empty if at most half of the records are of any known format.
    """
    places = {
        name: {place for place, record in enumerate(records) if platform.recognizes(record)}
        for name, platform in platforms().items()
    }
    found: list[str] = []
    known: set[int] = set()
    for name in sorted(places, key=lambda name: -len(places[name])):
        if not places[name] <= known:
            found.append(name)
            known |= places[name]
    return found if len(known) > len(records) // 2 else []
