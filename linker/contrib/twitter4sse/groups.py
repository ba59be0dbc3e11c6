"""Groups of tweets: the tweets of one key together."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from linker.contrib.twitter4sse.extraction import hash_of
from linker.contrib.twitter4sse.pair_miners import Member

_BY_KEY = """
SELECT key, role, record FROM link JOIN unit ON unit.id = link.unit ORDER BY hash, key, role, number, row
"""


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
        parent, previous = Member(*record), self.parent
        if previous is None or (len(parent.text), parent.text) > (len(previous.text), previous.text):
            self.parent = parent

    def members(self) -> list[Member]:
        """Return the children in order."""
        return [child for _, child in self.children]


def _order(entry: tuple[int, Member]) -> tuple[int, str]:
    return entry[0], entry[1].id


def read_groups(
    database: sqlite3.Connection, size: int, counts: dict[str, Counter[str]]
) -> Iterator[tuple[str, Group]]:
    """Yield the groups with children in the order of the hashes of their keys.

    Args:
        database: links of `extracted_links`.
        size: number of children that are kept per group.
        counts: receives the fates of the other children, by prefix of their keys.
    """
    for key, rows in groupby(database.execute(_BY_KEY), itemgetter(0)):
        of_key = next(counts[prefix] for prefix in counts if key.startswith(prefix))
        group = Group()
        for _, role, record in rows:  # children before parents
            if role == "child":
                fate = group.add(Member(*json.loads(record)), size)
                if fate is not None:
                    of_key[fate] += 1
            elif group.children:
                group.set_parent(json.loads(record))
        if group.children:
            yield key, group
