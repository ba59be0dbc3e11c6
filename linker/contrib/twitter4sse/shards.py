"""Parts: what one unit of work leaves behind, sorted into stretches that are later read together.

A part is a file of zlib-packed segments, one a partition and flush; then the table of their places, the counts
of the unit as JSON, and the lengths of both.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from array import array
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from linker.common.files import atomic_write
from linker.contrib.twitter4sse.pair_miners import Member


class Group:
    """Children of one key; of many only the first few are kept.

    Children stand in the order of a hash of their ids. Of children with the same cleaned text the first stays.
    """

    def __init__(self) -> None:
        self.children: list[tuple[int, Member]] = []
        self.parent: Member | None = None
        self.parent_fault: str | None = None

    def add(self, child: Member, keep: int) -> str | None:
        """Take a child in; says what became of it, or of the one that had to go for it."""
        place = place_of(child.id)
        same_text = [i for i, (_, other) in enumerate(self.children) if other.hash == child.hash]
        for i, (_, other) in enumerate(self.children):
            if other.id == child.id:
                # Of several versions of a tweet the longest is the whole one.
                longer = (len(child.text), child.text) > (len(other.text), other.text)
                if longer and same_text in ([], [i]):
                    self.children[i] = (place, child)
                return "met again"
        for i in same_text:
            if (place, child.id) < _order(self.children[i]):
                self.children[i] = (place, child)
                self.children.sort(key=_order)
            return "same text as another {} of the tweet"
        self.children.append((place, child))
        self.children.sort(key=_order)
        if len(self.children) > keep:
            self.children.pop()
            return "further {} of the same tweet"
        return None

    def members(self) -> list[Member]:
        """The children in their order."""
        return [child for _, child in self.children]


def _order(entry: tuple[int, Member]) -> tuple[int, str]:
    return entry[0], entry[1].id


def read_groups(
    parts: Sequence[Part], partition: int, keep: int, parents: bool, counts: dict[str, Counter[str]]
) -> Iterator[tuple[str, Group]]:
    """The groups of a partition in the order of `place_of` their keys.

    Args:
        parts: all of them, in the order of their units.
        partition: which.
        keep: how many children of a group are kept.
        parents: are parents to be looked up?
        counts: takes up what became of the children that are not kept, by prefix of their keys.
    """
    groups: dict[str, Group] = {}
    for key, record in _records(parts, partition, "c"):
        group = groups.get(key)
        if group is None:
            group = groups[key] = Group()
        fate = group.add(Member(*record), keep)
        if fate is not None:
            _counts_for(key, counts)[fate] += 1
    if parents:
        known = groups.keys()
        for key, record in _records(parts, partition, "p", known):
            _set_parent(groups[key], record)
    yield from sorted(groups.items(), key=lambda item: (place_of(item[0]), item[0]))


def _counts_for(key: str, counts: dict[str, Counter[str]]) -> Counter[str]:
    prefix = next(prefix for prefix in counts if key.startswith(prefix))
    return counts[prefix]


def _set_parent(group: Group, record: list[Any]) -> None:
    if len(record) == 2:
        group.parent_fault = min(group.parent_fault or record[1], record[1])
        return
    parent, known = Member(*record), group.parent
    if known is None or (len(parent.text), parent.text) > (len(known.text), known.text):
        group.parent = parent


def _records(
    parts: Sequence[Part], partition: int, role: str, keys: Container[str] | None = None
) -> Iterator[tuple[str, list[Any]]]:
    for part in parts:
        yield from part.records(partition, role, keys)


_TAIL = struct.Struct("<8sQQ")
_MAGIC = b"lnkpart1"
_FLUSH_BYTES = 24 << 20


def place_of(key: str) -> int:
    """64 bits of a key's hash: groups are put in their order, which is random but always the same."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big")


class PartWriter:
    """Sorts records into partitions; memory stays below a limit, whatever comes."""

    def __init__(self, file: IO[bytes], partitions: int) -> None:
        self._file = file
        self._shift = 64 - (partitions.bit_length() - 1)
        self._held: list[list[bytes]] = [[] for _ in range(partitions)]
        self._size = 0
        self._offset = 0
        self._table = array("Q")

    def add(self, key: str, role: str, record: list[Any]) -> None:
        """Keep a record; `role` is one character by which readers choose."""
        line = f"{role}{key}\t{json.dumps(record)}\n".encode()
        self._held[place_of(key) >> self._shift].append(line)
        self._size += len(line) + 64  # what Python adds
        if self._size > _FLUSH_BYTES:
            self._flush()

    def close(self, counts: dict[str, Any]) -> None:
        """Write what is held, and the end of the part."""
        self._flush()
        table, end = self._table.tobytes(), json.dumps(counts).encode()
        self._file.write(table + end + _TAIL.pack(_MAGIC, len(table), len(end)))

    def _flush(self) -> None:
        for number, lines in enumerate(self._held):
            if lines:
                packed = zlib.compress(b"".join(lines), 1)
                self._file.write(packed)
                self._table.extend((number, self._offset, len(packed)))
                self._offset += len(packed)
                self._held[number] = []
        self._size = 0


class Part:
    """A finished part.

    Raises:
        ValueError: the file is no whole part.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with open(path, "rb") as file:
            end = file.seek(0, 2) - _TAIL.size
            file.seek(max(end, 0))
            try:
                magic, table_size, counts_size = _TAIL.unpack(file.read())
            except struct.error as error:
                raise ValueError(f"{path}: cut short") from error
            if magic != _MAGIC or table_size + counts_size > end:
                raise ValueError(f"{path}: not a part")
            file.seek(end - table_size - counts_size)
            self._table = array("Q")
            self._table.frombytes(file.read(table_size))
            self.counts: dict[str, Any] = json.loads(file.read(counts_size))

    def records(
        self, partition: int, role: str, keys: Container[str] | None = None
    ) -> Iterator[tuple[str, list[Any]]]:
        """Key and record of those in a partition that have this role and, if given, one of these keys."""
        wanted = ord(role)
        table = self._table
        with open(self.path, "rb") as file:
            for i in range(0, len(table), 3):
                if table[i] != partition:
                    continue
                file.seek(table[i + 1])
                for line in zlib.decompress(file.read(table[i + 2])).splitlines():
                    if line[0] == wanted:
                        key, _, record = line[1:].partition(b"\t")
                        name = key.decode()
                        if keys is None or name in keys:
                            yield name, json.loads(record)


@contextmanager
def write_part(path: Path, partitions: int) -> Iterator[PartWriter]:
    """Open a part for writing; it appears when the block ends well, after `close`."""
    with atomic_write(path, "wb") as file:
        yield PartWriter(file, partitions)
