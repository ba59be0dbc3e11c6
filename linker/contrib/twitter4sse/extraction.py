"""Extraction: the links of archives in parts on disk, by several processes; finished parts are reused."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from linker.common.concurrency import in_processes
from linker.common.console import progress_bar
from linker.common.errors import DataError
from linker.common.files import atomic_write
from linker.contrib.twitter4sse.archives import Source, find_sources, parse_line, source_lines, units
from linker.contrib.twitter4sse.cleaning import TweetFilter, Usable
from linker.contrib.twitter4sse.pair_miners import PairMiner
from linker.contrib.twitter4sse.report import Report
from linker.contrib.twitter4sse.tweets import Tweet

# Increase it when parts of an earlier version must not be reused.
_VERSION = 2


@dataclass(frozen=True)
class ExtractionConfig:
    """Settings of an extraction.

    Attributes:
        miners: pair miners by the prefix of their keys; "" for a single one.
        filter: filter of the tweets.
        on_error: "strict" stops at a damaged archive, "skip" keeps the lines before the damage.
    """

    miners: dict[str, PairMiner]
    filter: TweetFilter
    on_error: Literal["strict", "skip"] = "strict"


def extract_links(
    archives: Sequence[str | Path], config: ExtractionConfig, folder: Path, workers: int, unit_bytes: int
) -> tuple[list[Path], Report]:
    """Write the links of archives to a folder, in parts that a later call with the same settings reuses.

    Args:
        archives: files and folders.
        config: settings.
        folder: where the parts are written.
        workers: number of processes.
        unit_bytes: compressed size after which a part is finished.

    Returns:
        The parts, in the order of the archives, and the counts of all lines and links.

    Raises:
        DataError: if an archive is missing or unreadable, no line contains a tweet or, in strict mode, an archive is
            damaged.
    """
    sources = find_sources(archives)
    work = units(sources, unit_bytes)
    folder.mkdir(parents=True, exist_ok=True)
    parts = [folder / f"{_name(unit, config)}.part" for unit in work]
    tasks = [(unit, part) for unit, part in zip(work, parts) if not _is_finished(part, config)]
    sizes = [sum(source.size for source in unit) / 2**20 for unit, _ in tasks]
    total = sum(source.size for source in sources) / 2**20
    with progress_bar() as progress:
        bar = progress.add_task("reading archives (MiB)", total=total)
        progress.advance(bar, total - sum(sizes))
        for number, _ in in_processes(extract, config, tasks, workers):
            progress.advance(bar, sizes[number])
    report = Report()
    for part in parts:
        counts = _counts(part)
        report.lines.update(counts["lines"])
        for prefix, found in counts["links"].items():
            report.links.setdefault(config.miners[prefix].child, Counter()).update(found)
        report.damaged += counts["damaged"]
    if not any(name.startswith("tweets") for name in report.lines):
        reasons = ", ".join(f"{n} {name}" for name, n in report.lines.most_common()) or "no lines"
        first = sources[0].name if sources else "the archives"
        raise DataError(
            f"{first}{' and others' if len(sources) > 1 else ''}: no tweets in {report.lines.total()} lines "
            f"({reasons}); expected are JSON lines of tweet objects"
        )
    return parts, report


def extract(config: ExtractionConfig, unit: Sequence[Source], path: Path) -> None:
    """Write the links of a unit of work, and their counts beside them.

    A line is a JSON list: key, role and record. The record of a tweet is its id, text, hash and date; of a parent that
    the filter rejects, its id and the reason.

    Args:
        config: settings.
        unit: sources to read.
        path: file of the part.

    Raises:
        DataError: in strict mode, if a source is damaged.
    """
    lines: Counter[str] = Counter()
    found: dict[str, Counter[str]] = {prefix: Counter() for prefix in config.miners}
    damaged: list[str] = []
    with atomic_write(path, "wb") as file, gzip.GzipFile("", "wb", 1, file, mtime=0) as part:
        for source in unit:
            try:
                for line in source_lines(source):
                    tweets = parse_line(line)
                    if isinstance(tweets, str):
                        lines[tweets] += 1
                        continue
                    links = _links(tweets, config, found)
                    linked = any(role == "child" for _, role, _ in links)
                    lines["tweets, with links" if linked else "tweets, without links"] += 1
                    part.write(b"".join(json.dumps(link).encode() + b"\n" for link in links if link[2]))
            except DataError as error:
                if config.on_error == "strict":
                    raise DataError(
                        f"{error}; with --on-error skip the lines before the damage are used"
                    ) from error
                damaged.append(str(error))
        # A part that is there has its counts, even if a kill comes between the two.
        with atomic_write(path.with_suffix(".json")) as counts:
            json.dump({"lines": lines, "links": found, "damaged": damaged}, counts)


def _links(
    tweets: list[Tweet], config: ExtractionConfig, found: dict[str, Counter[str]]
) -> list[tuple[str, str, list[Any]]]:
    """Return key, role and record of the links of tweets; no record for children that the filter rejects."""
    judged: dict[str, Usable | str] = {}
    links: list[tuple[str, str, list[Any]]] = []
    for prefix, miner in config.miners.items():
        for key, role, tweet in miner.links(tweets):
            if tweet.id not in judged:
                judged[tweet.id] = config.filter.judge(tweet)
            verdict = judged[tweet.id]
            record: list[Any] = [tweet.id, verdict]
            if not isinstance(verdict, str):
                record = [tweet.id, verdict.text, verdict.hash, tweet.created_at]
            elif role == "child":
                found[prefix][verdict] += 1
                record = []
            if role == "child":
                found[prefix]["found"] += 1
            links.append((prefix + key, role, record))
    return links


def _counts(part: Path) -> dict[str, Any]:
    """Return what was counted in a part: lines, links by prefix, damaged archives."""
    counts: dict[str, Any] = json.loads(part.with_suffix(".json").read_text(encoding="utf-8"))
    return counts


def _is_finished(part: Path, config: ExtractionConfig) -> bool:
    try:
        return part.is_file() and (config.on_error == "skip" or not _counts(part)["damaged"])
    except (OSError, ValueError):
        return False


def _name(unit: Sequence[Source], config: ExtractionConfig) -> str:
    """Return a name that depends on the sources and settings alone, so that a part is found again."""
    settings = {prefix: _settings(miner) for prefix, miner in config.miners.items()}
    content = [_VERSION, settings, _settings(config.filter), unit]
    return hashlib.sha256(json.dumps(content, default=repr).encode()).hexdigest()[:32]


def _settings(component: Any) -> list[Any]:
    kind = type(component)
    return [kind.__module__, kind.__qualname__, dict(sorted(vars(component).items()))]
