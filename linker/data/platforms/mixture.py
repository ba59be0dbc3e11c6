"""The formats that the records of one file are read by: usually one, at times several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from linker.data.platforms.paths import nested
from linker.data.platforms.platform import Platform, Record
from linker.data.platforms.sniffing import platform_named, platforms


class Mixture:
    """The formats of the records of one file.

    A record is read by the main format if it has its signs, else by the first other format whose signs it has. One that
    has the signs of none is left to the main format, which reads or refuses it.

    Args:
        main: name of the format of most records.
        seen: names of all formats that the first records have.
        is_forced: whether the user named the format: all records are of it.
        is_flat: whether keys are dotted paths into nested values, such as `author.id`.
        is_paged: whether records are pages with a list of them, such as responses of an API.
    """

    def __init__(
        self,
        main: str,
        seen: Sequence[str] = (),
        is_forced: bool = False,
        is_flat: bool = False,
        is_paged: bool = False,
    ) -> None:
        self.is_paged = is_paged
        self._main = (main, platform_named(main))
        self._others: list[tuple[str, Platform]] = []
        if not is_forced:
            later = [name for name in platforms() if name not in seen]
            self._others = [(name, platforms()[name]) for name in (*seen, *later) if name != main]
        self._is_forced, self._is_flat = is_forced, is_flat
        self._read: Counter[str] = Counter()
        #: Whether records of the formats that were seen may delete posts.
        self.has_deletions = any(platform_named(name).deletions for name in {main, *seen})

    @property
    def title(self) -> str:
        """The titles of the formats that records were read by, the main one first."""
        others = [platforms()[name].title for name, _ in self._read.most_common() if name != self._main[0]]
        return " and ".join(dict.fromkeys([self._main[1].title, *others]))

    def unflattened(self, values: Mapping[str, Any]) -> Record:
        """Return a record with nested values in place of dotted keys, if the file has such."""
        return nested(values) if self._is_flat else values

    def format_of(self, record: Record) -> tuple[str, Platform]:
        """Return the name and the format that a record is read by."""
        if self._is_forced or self._main[1].recognizes(record):
            return self._main
        for name, platform in self._others:
            if platform.recognizes(record):
                self._read[name] += 1
                return name, platform
        return self._main
