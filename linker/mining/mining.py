"""From archives to a file of pairs."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal

from linker.files import atomic_write
from linker.mining.archives import UNIT_BYTES
from linker.mining.cleaning import TweetFilter
from linker.mining.miner import PairMiner
from linker.mining.pairing import pair_up, written_pairs
from linker.mining.parts import Part
from linker.mining.progress import Display
from linker.mining.report import Report
from linker.mining.running import Run
from linker.mining.workers import run_all


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
