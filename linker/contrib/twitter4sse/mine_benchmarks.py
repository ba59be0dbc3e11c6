"""From archives to the four reranking sets of Di Giovanni & Brambilla 2021, and training sets without them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from linker.common.errors import DataError
from linker.contrib.twitter4sse.archives import UNIT_BYTES
from linker.contrib.twitter4sse.cleaning import TweetFilter, clean, text_hash
from linker.contrib.twitter4sse.extraction import Run
from linker.contrib.twitter4sse.mine_pairs import write_lines
from linker.contrib.twitter4sse.pair_miners import PairMiner
from linker.contrib.twitter4sse.pool import run_all
from linker.contrib.twitter4sse.report import Display, Report
from linker.contrib.twitter4sse.reranking_sets import SetBuilder, read_usable, usable_groups, write_of
from linker.data.io.streams import open_bytes
from linker.evaluation.benchmarks.reranking import Reranking

_IDS = ("id", "anchor_id", "parent_id")
_TEXTS = ("text", "anchor_text", "parent_text")


class Seen:
    """The tweets of benchmarks, by their ids and by their cleaned texts."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._texts: set[int] = set()

    def add(self, query: Reranking) -> None:
        """The query, what it is about, and all its candidates."""
        self._ids |= {query.query_id, query.parent_id, *(one.id for one in query.candidates)}
        self._texts |= {text_hash(clean(text)) for text in (query.query, *(c.text for c in query.candidates))}

    def others(self, path: str | Path, counts: Counter[str]) -> Iterator[str]:
        """The lines of a file of pairs that name no such tweet; `counts` takes up what became of all.

        Raises:
            DataError: the file cannot be read, or a line is no pair.
        """
        with open_bytes(str(path)) as file:
            for number, line in enumerate(file, 1):
                try:
                    pair = json.loads(line)
                    ids = {str(pair[name]) for name in _IDS if name in pair}
                    texts = [pair[name] for name in _TEXTS if name in pair]
                    hashes = {text_hash(clean(text)) for text in texts}
                except (ValueError, TypeError, AttributeError) as error:
                    raise DataError(f"{path}, line {number}: not a pair of tweets") from error
                if len(texts) < 2:
                    raise DataError(f"{path}, line {number}: a pair has two texts, here are {len(texts)}")
                counts["made"] += 1
                if ids & self._ids:
                    counts["a tweet of a benchmark"] += 1
                elif hashes & self._texts:
                    counts["a text of a benchmark"] += 1
                else:
                    counts["written"] += 1
                    yield line.decode().rstrip("\r\n") + "\n"


#: Set → whose children are ranked (the prefix of keys), and is the query their parent?
SETS = {"dq": ("q", True), "dr": ("r", True), "cq": ("q", False), "cr": ("r", False)}


def mine_benchmarks(
    archives: Sequence[str | Path],
    out: str | Path,
    train: Sequence[str | Path] = (),
    filter: TweetFilter | None = None,
    queries: int = 5000,
    positives: int = 5,
    negatives: int = 25,
    workers: int = 1,
    on_error: Literal["strict", "skip"] = "strict",
    unit_bytes: int = UNIT_BYTES,
) -> Report:
    """Write dq, dr, cq, cr.jsonl.gz into a folder, and training sets without their tweets into `train/` there.

    A set for which the archives hold too little is not written; the report says so.

    Args:
        archives: files and folders.
        out: the folder.
        train: files of pairs.
        filter: which tweets will do.
        queries: of each set, no more than these.
        positives: relevant candidates of each query.
        negatives: candidates of each query that belong to other queries.
        workers: processes; they change nothing but the time it takes.
        on_error: "strict" stops at a damaged archive, "skip" uses what comes before the damage.
        unit_bytes: packed bytes after which a part is finished.

    Raises:
        DataError: an archive or training set cannot be read; or there is not one query in all archives.
    """
    out, filter = Path(out), filter or TweetFilter()
    miners = {"q": PairMiner.by_name("quotes")(), "r": PairMiner.by_name("replies")()}
    run = Run(archives, miners, filter, out / "benchmarks.parts", workers, on_error, unit_bytes)
    sets = [SetBuilder(name, parent, queries, positives, negatives) for name, (_, parent) in SETS.items()]
    with Display(run.size) as display:
        parts = run.gather(display.show)
        files = [run.work / f"{n}.groups" for n in range(run.how.partitions)]
        tasks = [(parts, n, positives + 1, file) for n, file in enumerate(files)]
        display.second_half(len(tasks))
        for counts in run_all(usable_groups, tasks, workers):
            for prefix, found in counts.items():
                run.report.links[miners[prefix].child].update(found)
            display.advance()
        for prefix, key, parent, children in read_usable(files):
            for one in sets:
                if SETS[one.name][0] == prefix:
                    one.offer(key, parent, children)
        seen = _write_sets(out, sets, run.report)
        for path in map(Path, train):
            counts_of = run.report.results[f"training set {path.name}"] = Counter()
            write_lines(out / "train" / path.name, seen.others(path, counts_of))
    settings = {"queries": queries, "positives": positives, "negatives": negatives, **vars(filter)}
    run.report.write(out / "benchmarks.report.json", settings)
    run.clear()
    return run.report


def _write_sets(out: Path, sets: list[SetBuilder], report: Report) -> Seen:
    seen = Seen()
    built = {one.name: one.build() for one in sets}
    if not any(built.values()):
        groups = ", ".join(f"{one.name}: {one.counts['made']}" for one in sets)
        raise DataError(
            f"no reranking set can be made: too few tweets with enough quotes or replies ({groups}); give more "
            "archives, or fewer --positives and --negatives"
        )
    for one in sets:
        report.results[f"queries of {one.name}"] = one.counts
        path = out / f"{one.name}.jsonl.gz"
        if built[one.name]:
            write_lines(path, map(write_of, built[one.name]))
        else:
            path.unlink(missing_ok=True)  # of an earlier run
        for query in built[one.name]:
            seen.add(query)
    return seen
