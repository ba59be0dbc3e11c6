"""Extraction: a resumable run that sorts the links of archives into parts, by several processes."""

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
from linker.contrib.twitter4sse.pool import Show, advance, run_tasks
from linker.contrib.twitter4sse.report import Report
from linker.contrib.twitter4sse.shards import Part, PartWriter, write_part
from linker.contrib.twitter4sse.tweets import Tweet

# Lines between two reports of progress.
_LINES_PER_REPORT = 1_000


@dataclass(frozen=True)
class ExtractionConfig:
    """Settings of an extraction.

    Attributes:
        miners: pair miners by the prefix of their keys; "" for a single one.
        filter: filter of the tweets.
        partitions: number of partitions of a part, a power of two.
        on_error: "strict" stops at a damaged archive, "skip" keeps the lines before the damage.
    """

    miners: dict[str, PairMiner]
    filter: TweetFilter
    partitions: int
    on_error: Literal["strict", "skip"] = "strict"


def extract(unit: Sequence[Source], path: Path, config: ExtractionConfig) -> None:
    """Write the part of a unit of work.

    Args:
        unit: sources to read.
        path: file of the part.
        config: settings.

    Raises:
        DataError: in strict mode, if a source is damaged.
    """
    lines: Counter[str] = Counter()
    found: dict[str, Counter[str]] = {prefix: Counter() for prefix in config.miners}
    damaged: list[str] = []
    with write_part(path, config.partitions) as part:
        for source in unit:
            count, left = 0, source.size
            try:
                source_lines = SourceLines(source)
                for line in source_lines:
                    tweets = parse_line(line)
                    if isinstance(tweets, str):
                        lines[tweets] += 1
                    else:
                        linked = _add_links(tweets, config, part, found)
                        lines["tweets, with links" if linked else "tweets, without links"] += 1
                    count += 1
                    if count % _LINES_PER_REPORT == 0:
                        advance(left - source_lines.left)
                        left = source_lines.left
            except DataError as error:
                if config.on_error == "strict":
                    raise DataError(
                        f"{error}; with --on-error skip the lines before the damage are used"
                    ) from error
                damaged.append(str(error))
            advance(left)
        part.close({"lines": lines, "links": found, "damaged": damaged})


def _add_links(
    tweets: list[Tweet], config: ExtractionConfig, part: PartWriter, found: dict[str, Counter[str]]
) -> bool:
    """Write the links of tweets to a part; return whether one of them is a child."""
    judged: dict[str, Usable | str] = {}
    linked = False
    for prefix, miner in config.miners.items():
        for key, role, tweet in miner.links(tweets):
            if tweet.id not in judged:
                judged[tweet.id] = config.filter.judge(tweet)
            verdict = judged[tweet.id]
            if role == "child":
                linked = True
                found[prefix]["found"] += 1
                if isinstance(verdict, str):
                    found[prefix][verdict] += 1
                    continue
            # Of a parent that the filter rejects, the reason is kept.
            content = (
                [verdict] if isinstance(verdict, str) else [verdict.text, verdict.hash, tweet.created_at]
            )
            part.add(prefix + key, role[0], [tweet.id, *content])
    return linked


# Increase it when parts of an earlier version must not be reused.
_VERSION = 1
_PARTITION_BYTES = 32 << 20
_FEWEST, _MOST = 16, 1024


class Extraction:
    """The parts of archives; finished parts in `work` are reused.

    Args:
        archives: files and folders.
        miners: pair miners by the prefix of their keys.
        filter: filter of the tweets.
        work: folder for the parts.
        workers: number of processes.
        on_error: "strict" stops at a damaged archive, "skip" uses the lines before the damage.
        unit_bytes: compressed size of a unit of work.
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
        self.config = ExtractionConfig(miners, filter, _partitions(self.size), on_error)
        self.work, self.workers = work, workers
        self.report = Report()

    def run(self, show: Show) -> list[Path]:
        """Write the missing parts and count all lines in `report`.

        Args:
            show: called with the total number of compressed bytes done.

        Returns:
            The parts, in the order of the archives.

        Raises:
            DataError: if no line contains a tweet or, in strict mode, if an archive is damaged.
        """
        self.work.mkdir(parents=True, exist_ok=True)
        paths = [self.work / f"{self._name(unit)}.part" for unit in self._units]
        tasks = [
            (unit, path, self.config) for unit, path in zip(self._units, paths) if not self._finished(path)
        ]
        before = self.size - sum(source.size for unit, _, _ in tasks for source in unit)
        show(before)
        for _ in run_tasks(extract, tasks, self.workers, lambda size: show(before + size)):
            pass
        self._count(paths)
        return paths

    def clear(self) -> None:
        """Remove the parts."""
        shutil.rmtree(self.work, ignore_errors=True)

    def _count(self, paths: Sequence[Path]) -> None:
        for path in paths:
            counts = Part(path).counts
            self.report.lines.update(counts["lines"])
            for prefix, found in counts["links"].items():
                child = self.config.miners[prefix].child
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
        return self.config.on_error == "skip" or not damaged

    def _name(self, unit: Sequence[Source]) -> str:
        """Return a name that depends on the sources and settings alone, so that a part is found again."""
        settings = {prefix: _settings(miner) for prefix, miner in self.config.miners.items()}
        content = [_VERSION, self.config.partitions, settings, _settings(self.config.filter), unit]
        return hashlib.sha256(json.dumps(content, default=repr).encode()).hexdigest()[:32]


def _settings(component: Any) -> list[Any]:
    kind = type(component)
    return [kind.__module__, kind.__qualname__, dict(sorted(vars(component).items()))]


def _partitions(size: int) -> int:
    """Return a power of two such that a partition fits into memory; the results do not depend on it."""
    wanted = 1 << max(0, (size // _PARTITION_BYTES) - 1).bit_length()
    return min(max(wanted, _FEWEST), _MOST)
