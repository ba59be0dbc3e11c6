"""Groups of tweets: links sorted by key on disk, and the tweets of one key together."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from linker.common.databases import open_database
from linker.contrib.twitter4sse.pair_miners import Member

_TABLE = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -65536;
CREATE TABLE link (hash BLOB, key TEXT, role TEXT, place INTEGER, record TEXT, PRIMARY KEY (hash, key, role, place))
WITHOUT ROWID;
BEGIN;
"""


def hash_of(key: str) -> int:
    """Return 64 bits of a key's hash, which put groups in a random but reproducible order."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big")


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

    def set_parent(self, record: list[Any]) -> None:
        """Set the parent, or the reason why the filter rejects it, from a record of `write_links`."""
        if len(record) == 2:
            self.parent_fault = min(self.parent_fault or record[1], record[1])
            return
        parent, known = Member(*record), self.parent
        if known is None or (len(parent.text), parent.text) > (len(known.text), known.text):
            self.parent = parent

    def members(self) -> list[Member]:
        """Return the children in order."""
        return [child for _, child in self.children]


def _order(entry: tuple[int, Member]) -> tuple[int, str]:
    return entry[0], entry[1].id


def read_groups(
    parts: Sequence[Path], keep: int, counts: dict[str, Counter[str]], folder: Path
) -> Iterator[tuple[str, Group]]:
    """Yield the groups with children in the order of the hashes of their keys.

    The links are sorted by a database in `folder`, so memory does not grow with them.

    Args:
        parts: files of `extract`, in the order of their units.
        keep: number of children that are kept per group.
        counts: receives the fates of the children that are not kept, by prefix of their keys.
        folder: where to sort.

    Raises:
        LinkerError: if there is no room to sort.
    """
    path = folder / "links.db"
    path.unlink(missing_ok=True)
    with open_database(path) as database:
        database.executescript(_TABLE)
        database.executemany("INSERT INTO link VALUES (?, ?, ?, ?, ?)", _rows(parts))
        links = database.execute("SELECT key, role, record FROM link ORDER BY hash, key, role, place")
        for key, rows in groupby(links, itemgetter(0)):
            of_key = next(counts[prefix] for prefix in counts if key.startswith(prefix))
            group = Group()
            for _, role, record in rows:  # children before parents
                if role == "child":
                    fate = group.add(Member(*json.loads(record)), keep)
                    if fate is not None:
                        of_key[fate] += 1
                elif group.children:
                    group.set_parent(json.loads(record))
            if group.children:
                yield key, group


def _rows(parts: Sequence[Path]) -> Iterator[tuple[bytes, str, str, int, str]]:
    place = 0
    for part in parts:
        with gzip.open(part, "rt", encoding="utf-8", newline="\n") as file:
            for line in file:
                key, role, record = json.loads(line)
                yield hash_of(key).to_bytes(8, "big"), key, role, place, json.dumps(record)
                place += 1
