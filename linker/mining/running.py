"""A run: units gathered into parts, by several processes and in several goes, then something made of them."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from linker.errors import DataError
from linker.mining.archives import Source, find_sources, units
from linker.mining.cleaning import TweetFilter
from linker.mining.gathering import Gathering, gather
from linker.mining.miner import PairMiner
from linker.mining.parts import Part
from linker.mining.report import Report
from linker.mining.workers import Tell, run_all

# Raised whenever parts of an earlier linker must not be used any more.
_VERSION = 1
_PARTITION_BYTES = 32 << 20
_FEWEST, _MOST = 16, 1024


class Run:
    """The parts of some archives, made as far as they are not there already.

    Args:
        archives: files and folders.
        miners: what to gather for, by the prefix of its keys.
        filter: which tweets will do.
        work: folder for the parts.
        workers: processes.
        on_error: what a damaged archive does.
        unit_bytes: packed bytes that are one unit of work.
    """

    def __init__(
        self,
        archives: Sequence[str | Path],
        miners: dict[str, PairMiner],
        filter: TweetFilter,
        work: Path,
        workers: int,
        on_error: Literal["strict", "skip"],
        unit_bytes: int,
    ) -> None:
        self.sources = find_sources(archives)
        self.size = sum(source.size for source in self.sources)
        self._units = units(self.sources, unit_bytes)
        self.how = Gathering(miners, filter, _partitions(self.size), on_error)
        self.work, self.workers = work, workers
        self.report = Report()

    def gather(self, show: Tell) -> list[Path]:
        """Make the parts that are missing; the report then knows what became of all lines.

        Args:
            show: called with packed bytes and lines done in all.

        Returns:
            The parts, in the order of the archives.

        Raises:
            DataError: an archive is damaged, in strict mode; or no line of all holds a tweet.
        """
        self.work.mkdir(parents=True, exist_ok=True)
        paths = [self.work / f"{self._name(unit)}.part" for unit in self._units]
        there = {path for path in paths if self._finished(path)}
        missing = [(unit, path) for unit, path in zip(self._units, paths) if path not in there]
        before = sum(s.size for unit, path in zip(self._units, paths) if path in there for s in unit)
        tasks = [(unit, path, self.how) for unit, path in missing]
        show(before, 0)
        for _ in run_all(gather, tasks, self.workers, lambda size, lines: show(before + size, lines)):
            pass
        self._count(paths)
        return paths

    def clear(self) -> None:
        """Remove the parts: the run is over."""
        shutil.rmtree(self.work, ignore_errors=True)

    def _count(self, paths: Sequence[Path]) -> None:
        for path in paths:
            counts = Part(path).counts
            self.report.lines.update(counts["lines"])
            for prefix, found in counts["links"].items():
                child = self.how.miners[prefix].child
                self.report.links.setdefault(child, Counter()).update(found)
            self.report.damaged += counts["damaged"]
        if not any(name.startswith("tweets") for name in self.report.lines):
            reasons = ", ".join(f"{n} {name}" for name, n in self.report.lines.most_common()) or "no lines"
            first = self.sources[0].name if self.sources else "the archives"
            raise DataError(
                f"{first}{' and others' if len(self.sources) > 1 else ''}: not one tweet in "
                f"{self.report.lines.total()} lines ({reasons}); expected are JSON lines of tweet objects"
            )

    def _finished(self, path: Path) -> bool:
        try:
            damaged = Part(path).counts["damaged"]
        except (OSError, ValueError):
            return False
        return self.how.on_error == "skip" or not damaged

    def _name(self, unit: Sequence[Source]) -> str:
        """The same for the same sources and settings, so that a part is found again."""
        settings = {prefix: _settings(miner) for prefix, miner in self.how.miners.items()}
        said = [_VERSION, self.how.partitions, settings, _settings(self.how.filter), unit]
        return hashlib.sha256(json.dumps(said, default=repr).encode()).hexdigest()[:32]


def _settings(component: Any) -> list[Any]:
    kind = type(component)
    return [kind.__module__, kind.__qualname__, dict(sorted(vars(component).items()))]


def _partitions(size: int) -> int:
    """A power of two, so that a partition fits into memory; what is made does not depend on it."""
    wanted = 1 << max(0, (size // _PARTITION_BYTES) - 1).bit_length()
    return min(max(wanted, _FEWEST), _MOST)
