"""Pairs out of groups, and the ones of them that are written."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linker.data.dates import parse_date
from linker.files import atomic_write
from linker.mining.groups import Group, read_groups
from linker.mining.miner import Member, Pair, PairMiner
from linker.mining.parts import Part

# A miner looks at no more children of a group than these.
_KEEP = 2


def pair_up(parts: Sequence[Part], partition: int, miner: PairMiner, kind: str, path: Path) -> Counter[str]:
    """Write the pairs of a partition, and say what became of the children.

    A line is a JSON list: both hashes of the texts, how many of the two are children, the pair's record.
    """
    counts: Counter[str] = Counter()
    with atomic_write(path) as file:
        for key, group in read_groups(parts, partition, _KEEP, miner.needs_parent, {"": counts}):
            children = group.members()
            pair = miner.pair(group.parent, children)
            if pair is None:
                counts[_why_none(group, miner)] += len(children)
                continue
            used = 2 - (pair.anchor is group.parent)
            counts["further {} of the same tweet"] += len(children) - used
            counts["in pairs"] += used
            line = [pair.anchor.hash, pair.other.hash, _record(kind, key, pair)]
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return counts


def _why_none(group: Group, miner: PairMiner) -> str:
    if not miner.needs_parent:
        return "the only {} of its tweet"
    if group.parent is not None:
        return "same text as the tweet itself"
    fault = group.parent_fault
    return f"its tweet: {fault}" if fault else "its tweet: not in the archives"


def _record(kind: str, key: str, pair: Pair) -> dict[str, Any]:
    record = {
        "kind": kind,
        "parent_id": key,
        "anchor_id": pair.anchor.id,
        "anchor_text": pair.anchor.text,
        "id": pair.other.id,
        "text": pair.other.text,
        "published": _date(pair.anchor),
        "created_at": _date(pair.other),
    }
    return {name: value for name, value in record.items() if value is not None}


def _date(member: Member) -> str | None:
    try:
        return parse_date(member.created_at).isoformat()
    except ValueError:
        return None


class FirstOfTexts:
    """Finds the pairs that say what an earlier pair says: a text stays with the first pair that has it.

    Holds 16 bytes for each pair.
    """

    def __init__(self) -> None:
        self._hashes = array("Q")

    def add(self, first: int, second: int) -> None:
        """The hashes of the next pair's texts."""
        self._hashes.extend((first, second))

    def repeated(self) -> np.ndarray:
        """Boolean, one a pair: is a text of it in an earlier pair?"""
        hashes = np.frombuffer(self._hashes, dtype=np.uint64) if self._hashes else np.zeros(0, np.uint64)
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        again = np.zeros(len(hashes), dtype=bool)
        again[order[1:]] = ordered[1:] == ordered[:-1]
        pairs = again.reshape(-1, 2)
        return pairs[:, 0] | pairs[:, 1]


def written_pairs(paths: Iterable[Path], max_pairs: int | None, counts: Counter[str]) -> Iterator[str]:
    """The lines to write, of the pairs in some files in their order; `counts` takes up what became of all."""
    paths = list(paths)
    firsts = FirstOfTexts()
    for line in _lines(paths):
        first, second, _ = json.loads(line)
        firsts.add(first, second)
    repeated = firsts.repeated()
    for line, again in zip(_lines(paths), repeated):
        counts["made"] += 1
        if again:
            counts["a text of it in another pair"] += 1
        elif max_pairs is not None and counts["written"] >= max_pairs:
            counts["more than --max-pairs"] += 1
        else:
            counts["written"] += 1
            yield json.dumps(json.loads(line)[2], ensure_ascii=False) + "\n"


def _lines(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        with open(path, encoding="utf-8", newline="\n") as file:
            yield from file
