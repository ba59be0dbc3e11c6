"""Reranking sets: queries with candidates, of which a few are relevant (DQ, DR, CQ, CR)."""

from __future__ import annotations

import random
from collections import Counter

from linker.contrib.twitter4sse.extraction import hash_of
from linker.contrib.twitter4sse.pair_miners import Member
from linker.evaluation.benchmarks.reranking import Candidate, Reranking


class SetBuilder:
    """Collects the queries of one reranking set.

    Args:
        name: dq, dr, cq or cr.
        with_parent: whether the query is the parent (dq, dr) or a child (cq, cr).
        queries: maximum number of queries.
        positives: number of relevant candidates per query.
        negatives: number of other candidates per query, which are relevant to other queries.
    """

    def __init__(self, name: str, with_parent: bool, queries: int, positives: int, negatives: int) -> None:
        self.name, self._with_parent = name, with_parent
        self._queries, self._positives, self._negatives = queries, positives, negatives
        self.counts: Counter[str] = Counter()
        self._chosen: list[tuple[str, Member, list[Member]]] = []
        self._texts: set[int] = set()

    def offer(self, parent_id: str, parent: Member | None, children: list[Member]) -> None:
        """Add a query if the group has enough children and no text of an earlier query."""
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
        """Return the set; empty if there are too few groups to sample the other candidates from."""
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
        # At most `positives` of the sample belong to this query.
        sample = rng.sample(pool, self._negatives + self._positives)
        return [child for other, child in sample if other != owner][: self._negatives]

    def _reranking(
        self, owner: int, parent_id: str, query: Member, relevant: list[Member], others: list[Member]
    ) -> Reranking:
        candidates = [Candidate(child.id, child.text, True) for child in relevant]
        candidates += [Candidate(child.id, child.text, False) for child in others]
        candidates.sort(key=lambda candidate: (hash_of(candidate.id), candidate.id))
        return Reranking(self.name, query.id, query.text, parent_id, tuple(candidates))
