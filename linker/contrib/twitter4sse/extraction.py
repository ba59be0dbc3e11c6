"""Extraction: the links of archives in a database, by several processes; an interrupted run continues."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from linker.common.concurrency import in_processes
from linker.common.console import progress_bar
from linker.common.databases import open_database
from linker.common.errors import DataError
from linker.contrib.twitter4sse.archives import Source, find_sources, parse_line, source_lines, units
from linker.contrib.twitter4sse.cleaning import TweetFilter, Usable
from linker.contrib.twitter4sse.pair_miners import PairMiner
from linker.contrib.twitter4sse.report import Report
from linker.contrib.twitter4sse.tweets import Tweet

_TABLES = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA cache_size = -65536;
CREATE TABLE IF NOT EXISTS unit (id INTEGER PRIMARY KEY, name TEXT UNIQUE, number INTEGER, counts TEXT);
CREATE TABLE IF NOT EXISTS link (hash BLOB, key TEXT, role TEXT, unit INTEGER, row INTEGER, record TEXT,
                                 PRIMARY KEY (hash, key, role, unit, row)) WITHOUT ROWID;
"""


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


@contextmanager
def extracted_links(
    archives: Sequence[str | Path], config: ExtractionConfig, path: Path, workers: int, unit_bytes: int
) -> Iterator[tuple[sqlite3.Connection, Report]]:
    """Provide the links of archives in a database, which is removed if the block succeeds.

    Archives are read in units, each of which is committed with its counts; a later call with the same settings reads
    no unit again.

    Args:
        archives: files and folders.
        config: settings.
        path: file of the database.
        workers: number of processes.
        unit_bytes: compressed size of a unit.

    Yields:
        The database, for `read_groups`, and the counts of all lines and links.

    Raises:
        DataError: if an archive is missing or unreadable, no line contains a tweet or, in strict mode, an archive is
            damaged.
        LinkerError: if there is no room.
    """
    sources = find_sources(archives)
    work = {_name(unit, config): unit for unit in units(sources, unit_bytes)}
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_database(path) as database:
        database.executescript(_TABLES)
        finished = _finished(database, work.keys(), config.on_error == "strict")
        tasks = [(name, unit) for name, unit in work.items() if name not in finished]
        with progress_bar() as progress:
            bar = progress.add_task("reading archives (MiB)", total=_mebibytes(sources))
            progress.advance(bar, sum(_mebibytes(work[name]) for name in finished))
            for number, result in in_processes(extract, config, [(unit,) for _, unit in tasks], workers):
                _store(database, tasks[number][0], *result)
                progress.advance(bar, _mebibytes(tasks[number][1]))
        database.executemany("UPDATE unit SET number = ? WHERE name = ?", enumerate(work))
        report = _report(database, config)
        if not any(name.startswith("tweets") for name in report.lines):
            reasons = ", ".join(f"{n} {name}" for name, n in report.lines.most_common()) or "no lines"
            first = sources[0].name if sources else "the archives"
            raise DataError(
                f"{first}{' and others' if len(sources) > 1 else ''}: no tweets in {report.lines.total()} lines "
                f"({reasons}); expected are JSON lines of tweet objects"
            )
        yield database, report
    path.unlink()


def _finished(database: sqlite3.Connection, names: Any, strict: bool) -> set[str]:
    """Return the units that are in the database; remove others, and in strict mode damaged ones."""
    finished = set()
    for unit, name, counts in database.execute("SELECT id, name, counts FROM unit").fetchall():
        if name in names and not (strict and json.loads(counts)["damaged"]):
            finished.add(name)
        else:
            database.execute("DELETE FROM link WHERE unit = ?", (unit,))
            database.execute("DELETE FROM unit WHERE id = ?", (unit,))
    return finished


def _store(
    database: sqlite3.Connection, name: str, counts: dict[str, Any], links: list[tuple[str, str, str]]
) -> None:
    database.execute("BEGIN")
    unit = database.execute("INSERT INTO unit (name, counts) VALUES (?, ?)", (name, json.dumps(counts)))
    rows = (
        (hash_of(key).to_bytes(8, "big"), key, role, unit.lastrowid, row, record)
        for row, (key, role, record) in enumerate(links)
    )
    database.executemany("INSERT INTO link VALUES (?, ?, ?, ?, ?, ?)", rows)
    database.execute("COMMIT")


def _report(database: sqlite3.Connection, config: ExtractionConfig) -> Report:
    report = Report()
    for (text,) in database.execute("SELECT counts FROM unit ORDER BY number"):
        counts = json.loads(text)
        report.lines.update(counts["lines"])
        for prefix, fates in counts["links"].items():
            report.links.setdefault(config.miners[prefix].child, Counter()).update(fates)
        report.damaged += counts["damaged"]
    return report


def extract(
    config: ExtractionConfig, unit: Sequence[Source]
) -> tuple[dict[str, Any], list[tuple[str, str, str]]]:
    """Return the counts of a unit, and its links: key, role and record.

    The record of a tweet is its id, text, hash and date as JSON; of a parent that the filter rejects, its id and the
    reason.

    Args:
        config: settings.
        unit: sources to read.

    Raises:
        DataError: in strict mode, if a source is damaged.
    """
    lines: Counter[str] = Counter()
    fates: dict[str, Counter[str]] = {prefix: Counter() for prefix in config.miners}
    damaged: list[str] = []
    links: list[tuple[str, str, str]] = []
    for source in unit:
        try:
            for line in source_lines(source):
                tweets = parse_line(line)
                if isinstance(tweets, str):
                    lines[tweets] += 1
                    continue
                of_line = _links(tweets, config, fates)
                linked = any(role == "child" for _, role, _ in of_line)
                lines["tweets, with links" if linked else "tweets, without links"] += 1
                links += [(key, role, json.dumps(record)) for key, role, record in of_line if record]
        except DataError as error:
            if config.on_error == "strict":
                raise DataError(
                    f"{error}; with --on-error skip the lines before the damage are used"
                ) from error
            damaged.append(str(error))
    return {"lines": lines, "links": fates, "damaged": damaged}, links


def _links(
    tweets: list[Tweet], config: ExtractionConfig, fates: dict[str, Counter[str]]
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
                fates[prefix][verdict] += 1
                record = []
            if role == "child":
                fates[prefix]["found"] += 1
            links.append((prefix + key, role, record))
    return links


def hash_of(key: str) -> int:
    """Return 64 bits of a key's hash, which put groups in a random but reproducible order."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big")


def _name(unit: Sequence[Source], config: ExtractionConfig) -> str:
    """Return a name that depends on the sources and settings alone, so that a unit is found again."""
    settings = {prefix: _settings(miner) for prefix, miner in config.miners.items()}
    content = [settings, _settings(config.filter), unit]
    return hashlib.sha256(json.dumps(content, default=repr).encode()).hexdigest()[:32]


def _settings(component: Any) -> list[Any]:
    kind = type(component)
    return [kind.__module__, kind.__qualname__, dict(sorted(vars(component).items()))]


def _mebibytes(sources: Sequence[Source]) -> float:
    return sum(source.size for source in sources) / 2**20
