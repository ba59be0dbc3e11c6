"""Parts: the records of one unit of work, partitioned by a hash so that each partition is later read at once.

A part is a file of zlib-compressed segments, one per partition and flush, followed by the table of their offsets, the
counts of the unit as JSON, and the lengths of both.
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
    """The first few children of one key, in the order of a hash of their ids.

    Of children with the same cleaned text only the first is kept.
    """

    def __init__(self) -> None:
        self.children: list[tuple[int, Member]] = []
        self.parent: Member | None = None
        self.parent_fault: str | None = None

    def add(self, child: Member, keep: int) -> str | None:
        """Add a child; return the fate of the child that is not kept: this one or one that it replaces."""
        order = hash_of(child.id)
        same_text = [i for i, (_, other) in enumerate(self.children) if other.hash == child.hash]
        for i, (_, other) in enumerate(self.children):
            if other.id == child.id:
                # Of several versions of a tweet, the longest is complete.
                longer = (len(child.text), child.text) > (len(other.text), other.text)
                if longer and same_text in ([], [i]):
                    self.children[i] = (order, child)
                return "met again"
        for i in same_text:
            if (order, child.id) < _order(self.children[i]):
                self.children[i] = (order, child)
                self.children.sort(key=_order)
            return "same text as another {} of the tweet"
        self.children.append((order, child))
        self.children.sort(key=_order)
        if len(self.children) > keep:
            self.children.pop()
            return "further {} of the same tweet"
        return None

    def members(self) -> list[Member]:
        """Return the children in order."""
        return [child for _, child in self.children]


def _order(entry: tuple[int, Member]) -> tuple[int, str]:
    return entry[0], entry[1].id


def read_groups(
    parts: Sequence[Part], partition: int, keep: int, parents: bool, counts: dict[str, Counter[str]]
) -> Iterator[tuple[str, Group]]:
    """Yield the groups of a partition in the order of the hashes of their keys.

    Args:
        parts: all parts, in the order of their units.
        partition: number of the partition.
        keep: number of children that are kept per group.
        parents: whether to look up parents.
        counts: receives the fates of the children that are not kept, by prefix of their keys.
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
    yield from sorted(groups.items(), key=lambda item: (hash_of(item[0]), item[0]))


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


def hash_of(key: str) -> int:
    """Return 64 bits of a key's hash, which put groups in a random but reproducible order."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big")


class PartWriter:
    """Writer of a part: partitions records in bounded memory."""

    def __init__(self, file: IO[bytes], partitions: int) -> None:
        self._file = file
        self._shift = 64 - (partitions.bit_length() - 1)
        self._pending: list[list[bytes]] = [[] for _ in range(partitions)]
        self._size = 0
        self._offset = 0
        self._table = array("Q")

    def add(self, key: str, role: str, record: list[Any]) -> None:
        """Add a record; readers select records by `role`, one character."""
        line = f"{role}{key}\t{json.dumps(record)}\n".encode()
        self._pending[hash_of(key) >> self._shift].append(line)
        self._size += len(line) + 64  # Python's overhead.
        if self._size > _FLUSH_BYTES:
            self._flush()

    def close(self, counts: dict[str, Any]) -> None:
        """Write the remaining records and the end of the part."""
        self._flush()
        table, end = self._table.tobytes(), json.dumps(counts).encode()
        self._file.write(table + end + _TAIL.pack(_MAGIC, len(table), len(end)))

    def _flush(self) -> None:
        for number, lines in enumerate(self._pending):
            if lines:
                packed = zlib.compress(b"".join(lines), 1)
                self._file.write(packed)
                self._table.extend((number, self._offset, len(packed)))
                self._offset += len(packed)
                self._pending[number] = []
        self._size = 0


class Part:
    """A finished part.

    Raises:
        ValueError: if the file is not a complete part.
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
        """Yield key and record of a partition's records with this role and, if given, one of these keys."""
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
    """Open a part for writing; the file appears only if the block ends without an error."""
    with atomic_write(path, "wb") as file:
        yield PartWriter(file, partitions)
