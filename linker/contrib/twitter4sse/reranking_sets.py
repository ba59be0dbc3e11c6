"""Reranking sets: a query and candidates, of which a few belong to it (DQ, DR, CQ, CR)."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from linker.common.files import atomic_write
from linker.contrib.twitter4sse.pair_miners import Member
from linker.contrib.twitter4sse.shards import Part, place_of, read_groups
from linker.evaluation.benchmarks.reranking import Candidate, Reranking


class SetBuilder:
    """Collects the queries of one reranking set.

    Args:
        name: dq, dr, cq or cr.
        with_parent: the query is the parent (dq, dr), not a child (cq, cr).
        queries: no more than these.
        positives: relevant candidates of each.
        negatives: other candidates: relevant ones of other queries.
    """

    def __init__(self, name: str, with_parent: bool, queries: int, positives: int, negatives: int) -> None:
        self.name, self._with_parent = name, with_parent
        self._queries, self._positives, self._negatives = queries, positives, negatives
        self.counts: Counter[str] = Counter()
        self._chosen: list[tuple[str, Member, list[Member]]] = []
        self._texts: set[int] = set()

    def offer(self, parent_id: str, parent: Member | None, children: list[Member]) -> None:
        """Take a group if it has what a query needs, and no text that an earlier query has."""
        if self._with_parent:
            if parent is None:
                return
            query, relevant = parent, [child for child in children if child.hash != parent.hash]
        else:
            query, relevant = children[0], children[1:]
        relevant = relevant[: self._positives]
        if len(relevant) < self._positives:
            return
        self.counts["made"] += 1
        hashes = {query.hash, *(child.hash for child in relevant)}
        if len(self._chosen) == self._queries:
            self.counts["more than --queries"] += 1
        elif hashes & self._texts:
            self.counts["a text of it in another query"] += 1
        else:
            self._texts |= hashes
            self._chosen.append((parent_id, query, relevant))

    def build(self) -> list[Reranking]:
        """The set; empty where there are too few groups to draw the other candidates from."""
        pool = [(owner, child) for owner, (_, _, group) in enumerate(self._chosen) for child in group]
        if len(pool) - self._positives < self._negatives:
            self.counts["too few other candidates"] += len(self._chosen)
            return []
        self.counts["written"] += len(self._chosen)
        return [
            self._reranking(owner, *chosen, self._others(owner, chosen[1].id, pool))
            for owner, chosen in enumerate(self._chosen)
        ]

    def _others(self, owner: int, query_id: str, pool: list[tuple[int, Member]]) -> list[Member]:
        rng = random.Random(f"{self.name} {query_id}")
        # Of so many drawn at least enough are foreign.
        drawn = rng.sample(pool, self._negatives + self._positives)
        return [child for other, child in drawn if other != owner][: self._negatives]

    def _reranking(
        self, owner: int, parent_id: str, query: Member, relevant: list[Member], others: list[Member]
    ) -> Reranking:
        candidates = [Candidate(child.id, child.text, True) for child in relevant]
        candidates += [Candidate(child.id, child.text, False) for child in others]
        candidates.sort(key=lambda one: (place_of(one.id), one.id))
        return Reranking(self.name, query.id, query.text, parent_id, tuple(candidates))


def usable_groups(paths: Sequence[Path], partition: int, keep: int, path: Path) -> dict[str, Counter[str]]:
    """Write the groups of a partition that may make a query; says what became of the children, by prefix.

    A line is a JSON list: prefix, key, the parent or null, the children.
    """
    counts: dict[str, Counter[str]] = {"q": Counter(), "r": Counter()}
    with atomic_write(path) as file:
        for key, group in read_groups([Part(one) for one in paths], partition, keep, True, counts):
            children = group.members()
            counts[key[0]]["kept in groups"] += len(children)
            if len(children) >= keep - 1:
                parent = None if group.parent is None else asdict(group.parent)
                line = [key[0], key[1:], parent, [asdict(child) for child in children]]
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return counts


def read_usable(paths: Iterable[Path]) -> Iterator[tuple[str, str, Member | None, list[Member]]]:
    """What `usable_groups` wrote."""
    for path in paths:
        with open(path, encoding="utf-8", newline="\n") as file:
            for line in file:
                prefix, key, parent, children = json.loads(line)
                yield prefix, key, parent and Member(**parent), [Member(**child) for child in children]


def write_of(reranking: Reranking) -> str:
    """The line of a query."""
    return json.dumps(asdict(reranking), ensure_ascii=False) + "\n"
