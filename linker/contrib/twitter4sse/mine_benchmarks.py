"""Mining of the reranking sets of Di Giovanni & Brambilla 2021, and of training sets without their tweets."""

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from linker.common.console import track
from linker.common.errors import DataError
from linker.common.files import write_lines
from linker.common.locks import only_writer
from linker.contrib.twitter4sse.links import (
    PAIR_KINDS,
    Group,
    Member,
    Report,
    hash_of,
    linked_tweets,
    read_groups,
)
from linker.contrib.twitter4sse.tweets import TweetFilter, clean
from linker.data.files.line_errors import OnError
from linker.data.files.streams import open_bytes

_KINDS = {"q": PAIR_KINDS["quotes"], "r": PAIR_KINDS["replies"]}
#: Set → prefix of the keys whose children are ranked, and whether the query is their parent.
SETS = {"dq": ("q", True), "dr": ("r", True), "cq": ("q", False), "cr": ("r", False)}


@dataclass(frozen=True)
class Candidate:
    """A tweet to be ranked."""

    id: str
    text: str
    relevant: bool


@dataclass(frozen=True)
class Reranking:
    """A query and its candidates, in an order independent of their relevance.

    Attributes:
        set: dq, dr, cq or cr.
        parent_id: the tweet that the relevant candidates quote or answer; of dq and dr it is the query.
    """

    set: str
    query_id: str
    query: str
    parent_id: str
    candidates: tuple[Candidate, ...]


def mine_benchmarks(
    archives: Sequence[str | Path],
    out: str | Path,
    train: Sequence[str | Path] = (),
    filter: TweetFilter | None = None,
    queries: int = 5000,
    positives: int = 5,
    negatives: int = 25,
    workers: int = 1,
    on_error: OnError = "strict",
) -> Report:
    """Write dq, dr, cq, cr.jsonl.gz to a folder, and training sets without their tweets to its `train/`.

    A set for which the archives contain too little is not written; the report counts why.

    Args:
        archives: files and folders.
        out: folder of the sets.
        train: files of training pairs.
        filter: filter of the tweets.
        queries: maximum number of queries per set.
        positives: number of relevant candidates per query.
        negatives: number of candidates per query that belong to other queries.
        workers: number of processes; the results do not depend on it.
        on_error: "strict" stops at a damaged archive, "skip" uses the lines before the damage.

    Raises:
        DataError: if an archive or training set cannot be read, or the archives yield no query.
        LinkerError: if another process writes the same folder.
    """
    out, filter = Path(out), filter or TweetFilter()
    work = out / ".benchmarks.links.db"
    with (
        only_writer(out),
        linked_tweets(archives, _KINDS, filter, work, workers, on_error) as (database, report),
    ):
        builders = [
            SetBuilder(name, queries, positives, negatives, report.counts[f"queries of {name}"])
            for name in SETS
        ]
        links = {prefix: report.links(kind.child) for prefix, kind in _KINDS.items()}
        for group in track(read_groups(database, positives + 1, links), "grouping tweets"):
            links[group.key[0]]["kept in groups"] += len(group.children)
            for builder in builders:
                builder.offer(group)
        sets = {builder.name: builder.build() for builder in builders}
        if not any(sets.values()):
            groups = ", ".join(f"{builder.name}: {builder.counts.total()}" for builder in builders)
            raise DataError(
                f"no reranking set can be made: too few tweets with enough quotes or replies ({groups}); give more "
                "archives"
            )
        for name, of_set in sets.items():
            path = out / f"{name}.jsonl.gz"
            path.unlink(missing_ok=True)  # From an earlier run.
            if of_set:
                write_lines(path, (json.dumps(asdict(query), ensure_ascii=False) + "\n" for query in of_set))
        excluded = [query for of_set in sets.values() for query in of_set]
        for path in map(Path, train):
            lines = _other_pairs(path, excluded, report.counts[f"training set {path.name}"])
            write_lines(out / "train" / path.name, lines)
        settings = {"queries": queries, "positives": positives, "negatives": negatives, **vars(filter)}
        report.write(out / "benchmarks.report.json", settings)
    return report


class SetBuilder:
    """Collects the queries of one reranking set.

    Args:
        name: dq, dr, cq or cr.
        queries: maximum number of queries.
        positives: number of relevant candidates per query.
        negatives: number of other candidates per query, which are relevant to other queries.
        counts: receives the fates of the queries.
    """

    def __init__(self, name: str, queries: int, positives: int, negatives: int, counts: Counter[str]) -> None:
        self.name, (self._prefix, self._with_parent) = name, SETS[name]
        self._queries, self._positives, self._negatives = queries, positives, negatives
        self.counts = counts
        self._chosen: list[tuple[str, Member, list[Member]]] = []
        self._texts: set[str] = set()

    def offer(self, group: Group) -> None:
        """Add a query if the group has enough children and no text of an earlier query."""
        query = group.parent if self._with_parent else group.children[0]
        if query is None or not group.key.startswith(self._prefix):
            return
        relevant = [child for child in group.children if child.text != query.text][: self._positives]
        if len(relevant) < self._positives:
            return
        texts = {query.text, *(child.text for child in relevant)}
        if len(self._chosen) == self._queries:
            self.counts["more than --queries"] += 1
        elif texts & self._texts:
            self.counts["a text of it in another query"] += 1
        else:
            self._texts |= texts
            self._chosen.append((group.key[1:], query, relevant))

    def build(self) -> list[Reranking]:
        """Return the set; empty if there are too few groups to sample the other candidates from."""
        pool = [(owner, child) for owner, (_, _, relevant) in enumerate(self._chosen) for child in relevant]
        if len(pool) - self._positives < self._negatives:
            self.counts["too few other candidates"] += len(self._chosen)
            return []
        self.counts["written"] += len(self._chosen)
        rerankings = []
        for owner, (parent_id, query, relevant) in enumerate(self._chosen):
            # At most `positives` of the sample belong to this query.
            sample = random.Random(f"{self.name} {query.id}").sample(pool, self._negatives + self._positives)
            others = [child for other, child in sample if other != owner][: self._negatives]
            candidates = [Candidate(child.id, child.text, True) for child in relevant]
            candidates += [Candidate(child.id, child.text, False) for child in others]
            candidates.sort(key=lambda candidate: (hash_of(candidate.id), candidate.id))
            rerankings.append(Reranking(self.name, query.id, query.text, parent_id, tuple(candidates)))
        return rerankings


def _other_pairs(path: Path, excluded: Sequence[Reranking], counts: Counter[str]) -> Iterator[str]:
    """Yield the lines of a file of pairs without tweets of reranking sets, by id and cleaned text; count all fates."""
    ids_of_sets, texts_of_sets = set[str](), set[str]()
    for query in excluded:
        ids_of_sets |= {query.query_id, query.parent_id, *(candidate.id for candidate in query.candidates)}
        texts_of_sets |= {query.query, *(candidate.text for candidate in query.candidates)}
    with open_bytes(str(path)) as file:
        for number, line in enumerate(file, 1):
            try:
                pair = json.loads(line)
                ids = {str(pair[name]) for name in ("id", "anchor_id", "parent_id") if name in pair}
                texts = {clean(pair["text"]), clean(pair["anchor_text"])}
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise DataError(
                    f"{path}, line {number}: not a pair of tweets with text and anchor_text"
                ) from error
            if ids & ids_of_sets:
                counts["a tweet of a benchmark"] += 1
            elif texts & texts_of_sets:
                counts["a text of a benchmark"] += 1
            else:
                counts["written"] += 1
                yield line.decode().rstrip("\r\n") + "\n"
