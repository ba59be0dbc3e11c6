"""Recognize the formats of posts by their records: usually one in a file, at times several."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from linker.common.errors import ConfigError, DataError
from linker.data.platforms.platform import Platform, Record

#: Value of `format` for files that are read by the names of their columns only.
BY_COLUMNS = "columns"
#: Number of records that show the format.
HEAD = 200


@lru_cache(maxsize=1)
def platforms() -> dict[str, Platform]:
    """Return all formats, those of plugins included, by name."""
    return {name: Platform.by_name(name)() for name in Platform.available()}


def check_format(name: str) -> None:
    """Check that a value of `format` is known.

    Raises:
        DataError: otherwise.
    """
    if name != BY_COLUMNS:
        _platform_named(name)


def _platform_named(name: str) -> Platform:
    try:
        return Platform.by_name(name)()
    except ConfigError as error:
        raise DataError(
            f"format: {error}; {BY_COLUMNS} reads by the names of columns (list: linker config components Platform)"
        ) from error


def platforms_of(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the formats of some records, the most frequent first.

    A file may be of several, such as submissions and comments of Reddit. A record of several formats counts for the
    most frequent one. The list is empty if at most half of the records are of any known format.
    """
    indices = {
        name: {index for index, record in enumerate(records) if platform.recognizes(record)}
        for name, platform in platforms().items()
    }
    names: list[str] = []
    recognized: set[int] = set()
    for name in sorted(indices, key=lambda name: -len(indices[name])):
        if not indices[name] <= recognized:
            names.append(name)
            recognized |= indices[name]
    return names if len(recognized) > len(records) // 2 else []


class MixedFormats:
    """The formats of the records of one file.

    A record is read by the main format if it has its signs, else by the first other format whose signs it has. One that
    has the signs of none is left to the main format, which reads or refuses it.

    Args:
        main: name of the format of most records.
        seen: names of all formats that the first records have.
        is_forced: whether the user named the format: all records are of it.
        is_flat: whether keys are dotted paths into nested values, such as `author.id`.
        is_paged: whether records are pages with a list of them, such as responses of an API.

    Attributes:
        has_deletions: whether records of the formats that were seen may delete posts.

    Raises:
        DataError: if the format is unknown.
    """

    def __init__(
        self,
        main: str,
        seen: Sequence[str] = (),
        is_forced: bool = False,
        is_flat: bool = False,
        is_paged: bool = False,
    ) -> None:
        self.is_paged, self.is_flat, self._is_forced = is_paged, is_flat, is_forced
        self._main = (main, _platform_named(main))
        names = () if is_forced else dict.fromkeys([*seen, *platforms()])
        self._others = [(name, platforms()[name]) for name in names if name != main]
        self._read: Counter[str] = Counter()
        self.has_deletions = any(_platform_named(name).deletions for name in {main, *seen})

    @property
    def title(self) -> str:
        """The titles of the formats that records were read by, the main one first."""
        others = [platforms()[name].title for name, _ in self._read.most_common()]
        return " and ".join(dict.fromkeys([self._main[1].title, *others]))

    def format_of(self, record: Record) -> tuple[str, Platform]:
        """Return the name and the format that a record is read by."""
        if self._is_forced or self._main[1].recognizes(record):
            return self._main
        for name, platform in self._others:
            if platform.recognizes(record):
                self._read[name] += 1
                return name, platform
        return self._main
