"""Mining of training pairs: from archives to a file of pairs."""

from __future__ import annotations

import gzip
import json
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from linker.common.console import progress_bar
from linker.common.files import atomic_write
from linker.contrib.twitter4sse.archives import UNIT_BYTES
from linker.contrib.twitter4sse.cleaning import TweetFilter
from linker.contrib.twitter4sse.extraction import Extraction
from linker.contrib.twitter4sse.pair_miners import Member, Pair, PairMiner
from linker.contrib.twitter4sse.pool import run_tasks
from linker.contrib.twitter4sse.report import Report
from linker.contrib.twitter4sse.shards import Group, Part, read_groups
from linker.data.io.dates import parse_date

# Pair miners see at most this number of children per group.
_CHILDREN = 2


def mine_pairs(
    archives: Sequence[str | Path],
    miner: PairMiner,
    out: str | Path,
    filter: TweetFilter | None = None,
    max_pairs: int | None = None,
    workers: int = 1,
    on_error: Literal["strict", "skip"] = "strict",
    unit_bytes: int = UNIT_BYTES,
) -> Report:
    """Write the pairs of archives in a reproducible random order, and a report beside them.

    The finished parts of an interrupted run are reused from `<out>.parts`, which is removed at the end.

    Args:
        archives: files and folders.
        miner: pair miner.
        out: JSON Lines, compressed if the name ends in .gz: kind, parent_id, anchor_id, anchor_text, id, text,
            published (of the anchor), created_at.
        filter: filter of the tweets.
        max_pairs: size of a random sample; None writes all pairs.
        workers: number of processes; the results do not depend on it.
        on_error: "strict" stops at a damaged archive, "skip" uses the lines before the damage.
        unit_bytes: compressed size after which a part is finished.

    Raises:
        DataError: if an archive is missing, unreadable or damaged, or if none contains a tweet.
    """
    out = Path(out)
    filter = filter or TweetFilter()
    work = out.with_name(f"{out.name}.parts")
    extraction = Extraction(archives, {"": miner}, filter, work, workers, on_error, unit_bytes)
    report, pairs = extraction.report, Counter[str]()
    with progress_bar() as progress:
        bar = progress.add_task("reading archives (MiB)", total=extraction.size / 2**20)
        parts = extraction.run(lambda size: progress.update(bar, completed=size / 2**20))
        partitions = extraction.config.partitions
        files = [work / f"{number}.pairs" for number in range(partitions)]
        tasks = [(parts, number, miner, file) for number, file in enumerate(files)]
        links = report.links.setdefault(miner.child, Counter())
        bar = progress.add_task("pairing tweets", total=partitions)
        for counts in run_tasks(_write_partition, tasks, workers):
            links.update(counts)
            progress.advance(bar)
        write_lines(out, _sampled(files, max_pairs, pairs))
    report.results["pairs"] = pairs
    report.write(report_path(out), {"miner": type(miner).__name__, **vars(filter), "max_pairs": max_pairs})
    extraction.clear()
    return report


def _write_partition(paths: Sequence[Path], partition: int, miner: PairMiner, path: Path) -> Counter[str]:
    """Write the pairs of a partition and return the fates of the children.

    A line is a JSON list: the hashes of both texts, and the record of the pair.
    """
    counts: Counter[str] = Counter()
    parts = [Part(part) for part in paths]
    with atomic_write(path) as file:
        for key, group in read_groups(parts, partition, _CHILDREN, miner.needs_parent, {"": counts}):
            children = group.members()
            pair = miner.pair(group.parent, children)
            if pair is None:
                counts[_why_none(group, miner)] += len(children)
                continue
            used = 2 - (pair.anchor is group.parent)
            counts["further {} of the same tweet"] += len(children) - used
            counts["in pairs"] += used
            line = [pair.anchor.hash, pair.other.hash, _record(miner.child, key, pair)]
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


def _sampled(paths: Sequence[Path], max_pairs: int | None, counts: Counter[str]) -> Iterator[str]:
    """Yield the lines to write: each text only in its first pair, at most `max_pairs`; count the fates of all pairs."""
    # 16 bytes per pair are in memory.
    hashes = array("Q")
    for line in _lines(paths):
        hashes.extend(json.loads(line)[:2])
    for line, repeated in zip(_lines(paths), _repeats(hashes)):
        counts["made"] += 1
        if repeated:
            counts["a text of it in another pair"] += 1
        elif max_pairs is not None and counts["written"] >= max_pairs:
            counts["more than --max-pairs"] += 1
        else:
            counts["written"] += 1
            yield json.dumps(json.loads(line)[2], ensure_ascii=False) + "\n"


def _repeats(hashes: array[int]) -> np.ndarray:
    """Return, for each pair of hashes, whether one of them occurs earlier: bool, pairs."""
    values = np.array(hashes, dtype=np.uint64)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    repeated = np.zeros(len(values), dtype=bool)
    repeated[order[1:]] = ordered[1:] == ordered[:-1]
    pairs = repeated.reshape(-1, 2)
    return pairs[:, 0] | pairs[:, 1]


def _lines(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        with open(path, encoding="utf-8", newline="\n") as file:
            yield from file


def report_path(out: Path) -> Path:
    """Return the path of an output's report: pairs.jsonl.gz → pairs.report.json."""
    name = out.name.removesuffix(".gz").removesuffix(".jsonl")
    return out.with_name(f"{name}.report.json")


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines atomically, compressed if the name ends in .gz; equal lines give equal bytes."""
    with atomic_write(path, "wb") as file, _compressed(file, path.suffix == ".gz") as target:
        for line in lines:
            target.write(line.encode())


@contextmanager
def _compressed(file: IO[bytes], gz: bool) -> Iterator[IO[bytes]]:
    if not gz:
        yield file
        return
    # Neither name nor time in the header.
    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
        yield packed  # type: ignore[misc]
