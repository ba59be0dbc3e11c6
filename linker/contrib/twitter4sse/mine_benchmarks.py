"""Mining of the reranking sets of Di Giovanni & Brambilla 2021, and of training sets without their tweets."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from linker.common.console import track
from linker.common.errors import DataError
from linker.common.files import write_lines
from linker.common.locks import only_writer
from linker.contrib.twitter4sse.archives import UNIT_BYTES
from linker.contrib.twitter4sse.cleaning import TweetFilter, clean, text_hash
from linker.contrib.twitter4sse.extraction import ExtractionConfig, extracted_links
from linker.contrib.twitter4sse.groups import read_groups
from linker.contrib.twitter4sse.pair_miners import PairMiner
from linker.contrib.twitter4sse.report import Report
from linker.contrib.twitter4sse.reranking_sets import SetBuilder
from linker.data.files.streams import open_bytes
from linker.evaluation.benchmarks.reranking import Reranking

_IDS = ("id", "anchor_id", "parent_id")
_TEXTS = ("text", "anchor_text", "parent_text")


class ExcludedTweets:
    """The tweets of the reranking sets, by id and by cleaned text."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._texts: set[int] = set()

    def add(self, query: Reranking) -> None:
        """Add the query, its parent and all its candidates."""
        self._ids |= {query.query_id, query.parent_id, *(candidate.id for candidate in query.candidates)}
        self._texts |= {text_hash(clean(text)) for text in (query.query, *(c.text for c in query.candidates))}

    def other_pairs(self, path: str | Path, counts: Counter[str]) -> Iterator[str]:
        """Yield the lines of a file of pairs without these tweets; count the fates of all lines.

        Raises:
            DataError: if the file cannot be read, or a line is not a pair.
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
                    raise DataError(
                        f"{path}, line {number}: a pair has two texts, this line has {len(texts)}"
                    )
                counts["made"] += 1
                if ids & self._ids:
                    counts["a tweet of a benchmark"] += 1
                elif hashes & self._texts:
                    counts["a text of a benchmark"] += 1
                else:
                    counts["written"] += 1
                    yield line.decode().rstrip("\r\n") + "\n"


#: Set → prefix of the keys whose children are ranked, and whether the query is their parent.
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
        unit_bytes: compressed size of what is read at a time.

    Raises:
        DataError: if an archive or training set cannot be read, or the archives yield no query.
        LinkerError: if another process writes the same folder.
    """
    out, filter = Path(out), filter or TweetFilter()
    miners = {"q": PairMiner.by_name("quotes")(), "r": PairMiner.by_name("replies")()}
    config, work = ExtractionConfig(miners, filter, on_error), out / "benchmarks.links.db"
    with (
        only_writer(out),
        extracted_links(archives, config, work, workers, unit_bytes) as (database, report),
    ):
        sets = [SetBuilder(name, parent, queries, positives, negatives) for name, (_, parent) in SETS.items()]
        links = {prefix: report.links[miner.child] for prefix, miner in miners.items()}
        for key, group in track(read_groups(database, positives + 1, links), "grouping tweets"):
            children = group.members()
            links[key[0]]["kept in groups"] += len(children)
            for builder in sets:
                if SETS[builder.name][0] == key[0]:
                    builder.offer(key[1:], group.parent, children)
        excluded = _write_sets(out, sets, report)
        for path in map(Path, train):
            counts_of = report.results[f"training set {path.name}"] = Counter()
            write_lines(out / "train" / path.name, excluded.other_pairs(path, counts_of))
        settings = {"queries": queries, "positives": positives, "negatives": negatives, **vars(filter)}
        report.write(out / "benchmarks.report.json", settings)
    return report


def _write_sets(out: Path, sets: list[SetBuilder], report: Report) -> ExcludedTweets:
    excluded = ExcludedTweets()
    built = {builder.name: builder.build() for builder in sets}
    if not any(built.values()):
        groups = ", ".join(f"{builder.name}: {builder.counts['made']}" for builder in sets)
        raise DataError(
            f"no reranking set can be made: too few tweets with enough quotes or replies ({groups}); give more "
            "archives, or fewer --positives and --negatives"
        )
    for builder in sets:
        report.results[f"queries of {builder.name}"] = builder.counts
        path = out / f"{builder.name}.jsonl.gz"
        if built[builder.name]:
            write_lines(
                path, (json.dumps(asdict(query), ensure_ascii=False) + "\n" for query in built[builder.name])
            )
        else:
            path.unlink(missing_ok=True)  # From an earlier run.
        for query in built[builder.name]:
            excluded.add(query)
    return excluded
