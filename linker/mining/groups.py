"""Second half of the work: groups put together from all parts, a partition at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from typing import Any

from linker.mining.miner import Member
from linker.mining.parts import Part, place_of


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
