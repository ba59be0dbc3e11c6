"""A run: units gathered into parts, by several processes and in several goes, then something made of them."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from linker.common.errors import DataError
from linker.contrib.twitter4sse.archives import Source, SourceLines, find_sources, parse_line, units
from linker.contrib.twitter4sse.cleaning import TweetFilter, Usable
from linker.contrib.twitter4sse.pair_miners import PairMiner
from linker.contrib.twitter4sse.pool import Tell, run_all, tell
from linker.contrib.twitter4sse.report import Report
from linker.contrib.twitter4sse.shards import Part, PartWriter, write_part
from linker.contrib.twitter4sse.tweets import Tweet

_TOLD_EVERY = 1_000


@dataclass(frozen=True)
class Gathering:
    """What is gathered and how.

    Attributes:
        miners: by the prefix of their keys; one with "" where there is one.
        filter: which tweets will do.
        partitions: how many stretches a part is sorted into, a power of two.
        on_error: "strict" stops at a damaged archive, "skip" keeps what came before the damage.
    """

    miners: dict[str, PairMiner]
    filter: TweetFilter
    partitions: int
    on_error: Literal["strict", "skip"] = "strict"


def gather(unit: Sequence[Source], path: Path, how: Gathering) -> None:
    """Write the part of a unit.

    Args:
        unit: what to read.
        path: the part.
        how: what to gather.

    Raises:
        DataError: a source is damaged, in strict mode.
    """
    lines: Counter[str] = Counter()
    found: dict[str, Counter[str]] = {prefix: Counter() for prefix in how.miners}
    damaged: list[str] = []
    with write_part(path, how.partitions) as part:
        for source in unit:
            since, left = 0, source.size
            try:
                source_lines = SourceLines(source)
                for line in source_lines:
                    tweets = parse_line(line)
                    if isinstance(tweets, str):
                        lines[tweets] += 1
                    else:
                        linked = _sort_in(tweets, how, part, found)
                        lines["tweets, with links" if linked else "tweets, without links"] += 1
                    since += 1
                    if since == _TOLD_EVERY:
                        tell(left - source_lines.left, since)
                        since, left = 0, source_lines.left
            except DataError as error:
                if how.on_error == "strict":
                    raise DataError(
                        f"{error}; with --on-error skip the lines before the damage are used"
                    ) from error
                damaged.append(str(error))
            tell(left, since)
        part.close({"lines": lines, "links": found, "damaged": damaged})


def _sort_in(tweets: list[Tweet], how: Gathering, part: PartWriter, found: dict[str, Counter[str]]) -> bool:
    """Put tweets where their groups are gathered. Is one of them a child?"""
    judged: dict[str, Usable | str] = {}
    linked = False
    for prefix, miner in how.miners.items():
        for key, role, tweet in miner.links(tweets):
            if tweet.id not in judged:
                judged[tweet.id] = how.filter.judge(tweet)
            verdict = judged[tweet.id]
            if role == "child":
                linked = True
                found[prefix]["found"] += 1
                if isinstance(verdict, str):
                    found[prefix][verdict] += 1
                    continue
            # What is known of a parent that will not do: why.
            content = (
                [verdict] if isinstance(verdict, str) else [verdict.text, verdict.hash, tweet.created_at]
            )
            part.add(prefix + key, role[0], [tweet.id, *content])
    return linked


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
