"""From archives to a file of pairs."""

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

from linker.common.files import atomic_write
from linker.contrib.twitter4sse.archives import UNIT_BYTES
from linker.contrib.twitter4sse.cleaning import TweetFilter
from linker.contrib.twitter4sse.extraction import Run
from linker.contrib.twitter4sse.pair_miners import Member, Pair, PairMiner
from linker.contrib.twitter4sse.pool import run_all
from linker.contrib.twitter4sse.report import Display, Report
from linker.contrib.twitter4sse.shards import Group, Part, read_groups
from linker.data.io.dates import parse_date

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
    """Write the pairs of some archives, in random order that is always the same, and a report beside them.

    What a killed run had finished is found again in `<out>.parts`, which is removed at the end.

    Args:
        archives: files and folders.
        miner: how pairs are found.
        out: JSON lines, packed where the name ends in .gz: kind, parent_id, anchor_id, anchor_text, id, text,
            published (of the anchor), created_at.
        filter: which tweets will do.
        max_pairs: no more than these; they are a random sample of all.
        workers: processes; they change nothing but the time it takes.
        on_error: "strict" stops at a damaged archive, "skip" uses what comes before the damage.
        unit_bytes: packed bytes after which a part is finished.

    Raises:
        DataError: an archive is missing, cannot be read or is damaged; or none holds a tweet.
    """
    out = Path(out)
    filter = filter or TweetFilter()
    run = Run(archives, {"": miner}, filter, _work(out), workers, on_error, unit_bytes)
    with Display(run.size) as display:
        parts = run.gather(display.show)
        pairs: Counter[str] = Counter()
        files = []
        tasks = [(parts, n, miner, miner.child, run.work / f"{n}.pairs") for n in range(run.how.partitions)]
        links = run.report.links.setdefault(miner.child, Counter())
        display.second_half(len(tasks))
        for number, counts in enumerate(run_all(_pair_up, tasks, workers)):
            links.update(counts)
            files.append(run.work / f"{number}.pairs")
            display.advance()
        write_lines(out, written_pairs(files, max_pairs, pairs))
    run.report.results["pairs"] = pairs
    run.report.write(
        report_path(out), {"miner": type(miner).__name__, **vars(filter), "max_pairs": max_pairs}
    )
    run.clear()
    return run.report


def report_path(out: Path) -> Path:
    """Where the report of an output goes: pairs.jsonl.gz → pairs.report.json."""
    name = out.name.removesuffix(".gz").removesuffix(".jsonl")
    return out.with_name(f"{name}.report.json")


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines whole or not at all, packed where the name ends in .gz; the same lines, the same bytes."""
    with atomic_write(path, "wb") as file, _packing(file, path.suffix == ".gz") as packed:
        for line in lines:
            packed.write(line.encode())


@contextmanager
def _packing(file: IO[bytes], gz: bool) -> Iterator[IO[bytes]]:
    if not gz:
        yield file
        return
    # Neither name nor time in the header.
    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
        yield packed  # type: ignore[misc]


def _work(out: Path) -> Path:
    return out.with_name(f"{out.name}.parts")


def _pair_up(paths: Sequence[Path], partition: int, miner: PairMiner, kind: str, path: Path) -> Counter[str]:
    return pair_up([Part(part) for part in paths], partition, miner, kind, path)
