"""Links between tweets: extracted from archives by several processes, and grouped by the tweet that they lead to."""

import hashlib
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple

from linker.common.concurrency import in_processes
from linker.common.console import track
from linker.common.databases import open_database
from linker.common.errors import DataError
from linker.common.files import write_json
from linker.contrib.twitter4sse.tweets import Tweet, TweetFilter, tweets_of_line
from linker.data.files.line_errors import OnError
from linker.data.files.streams import open_bytes
from linker.data.io.input_files import check_inputs

# A reply and its tweet may be months apart, and memory must not grow with the archives: SQLite sorts the links.
_TABLE = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -65536;
CREATE TABLE link (hash BLOB, key TEXT, role TEXT, archive INTEGER, row INTEGER, record TEXT,
                   PRIMARY KEY (hash, key, role, archive, row)) WITHOUT ROWID;
BEGIN;
"""


class PairKind(NamedTuple):
    """What two tweets of a pair have to do with each other.

    Attributes:
        child: "quote" or "reply".
        with_parent: whether a tweet is paired with its child; otherwise two of its children are.
    """

    child: Literal["quote", "reply"]
    with_parent: bool


#: Qt, Rp, CoQt and CoRp in the paper.
PAIR_KINDS = {
    "quotes": PairKind("quote", True),
    "replies": PairKind("reply", True),
    "coquotes": PairKind("quote", False),
    "coreplies": PairKind("reply", False),
}
_LINKS = {"quote": "links to quotes", "reply": "links to replies"}


class Report:
    """Counts of what happened to lines, links and pairs; those of a section add up to all of its kind.

    Attributes:
        counts: section → fate → number.
        damaged: messages about archives that could not be read to the end.
    """

    def __init__(self) -> None:
        self.counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.damaged: list[str] = []

    def links(self, child: str) -> Counter[str]:
        """Return the fates of the links to quotes or replies."""
        return self.counts[_LINKS[child]]

    def sections(self) -> dict[str, dict[str, int]]:
        """Return each section: first the total, then its parts in descending order."""
        totals = {"lines": "read", **dict.fromkeys(_LINKS.values(), "found")}
        return {
            section: {totals.get(section, "in all"): counts.total()}
            | {name: n for name, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if n}
            for section, counts in self.counts.items()
        }

    def write(self, path: Path, settings: Mapping[str, Any]) -> None:
        """Write the report and the settings of the run as JSON."""
        write_json(path, {"settings": settings, **self.sections(), "damaged archives": self.damaged})


class Member(NamedTuple):
    """A tweet of a group that passed the filter: id, cleaned text, date and time as in the object."""

    id: str
    text: str
    created_at: str | None = None


class Group(NamedTuple):
    """A tweet and those that quote or answer it.

    Attributes:
        key: prefix of the kind and id of the tweet.
        parent: the tweet; None if it is not in the archives, or was rejected.
        fault: why it was rejected.
        children: the first few, in the order of a hash of their ids, with different texts.
    """

    key: str
    parent: Member | None
    fault: str | None
    children: list[Member]


@contextmanager
def linked_tweets(
    archives: Sequence[str | Path],
    kinds: Mapping[str, PairKind],
    filter: TweetFilter,
    path: Path,
    workers: int,
    on_error: OnError,
) -> Iterator[tuple[sqlite3.Connection, Report]]:
    """Provide the links of archives in a temporary database, for `read_groups`, and the counts of lines and links.

    Args:
        archives: files and folders.
        kinds: kinds of pairs by the prefix of their keys; "" for a single one.
        filter: filter of the tweets.
        path: file of the database.
        workers: number of processes, each of which reads a file at a time.
        on_error: "strict" stops at a damaged archive, "skip" uses the lines before the damage.

    Raises:
        DataError: if an archive is missing, unreadable or, in strict mode, damaged, or no line contains a tweet.
        LinkerError: if there is no room.
    """
    files = check_inputs([str(archive) for archive in archives])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # of a run that was killed
    report, damage = Report(), dict[int, str]()
    sections = ["lines", *(_LINKS[kind.child] for kind in kinds.values())]
    report.counts.update({section: Counter() for section in sections})
    try:
        with open_database(path) as database:
            database.executescript(_TABLE)
            tasks = in_processes(_extracted, (kinds, filter, on_error), [(file,) for file in files], workers)
            for number, (counts, links, problem) in track(tasks, "reading archives", len(files)):
                for section, of_section in counts.items():
                    report.counts[section].update(of_section)
                if problem is not None:
                    damage[number] = problem
                rows = (
                    (hash_of(key).to_bytes(8, "big"), key, role, number, row, record)
                    for row, (key, role, record) in enumerate(links)
                )
                database.executemany("INSERT INTO link VALUES (?, ?, ?, ?, ?, ?)", rows)
            report.damaged = [damage[number] for number in sorted(damage)]
            lines = report.counts["lines"]
            if not any(name.startswith("tweets") for name in lines):
                reasons = ", ".join(f"{n} {name}" for name, n in lines.most_common()) or "no lines"
                raise DataError(
                    f"{files[0]}{' and others' if len(files) > 1 else ''}: no tweets in {lines.total()} lines "
                    f"({reasons}); expected are JSON lines of tweet objects"
                )
            yield database, report
    finally:
        path.unlink(missing_ok=True)


def _extracted(
    settings: tuple[Mapping[str, PairKind], TweetFilter, OnError], file: str
) -> tuple[dict[str, Counter[str]], list[tuple[str, str, str]], str | None]:
    """Return the counts of a file by section, its links (key, role and record), and its damage.

    The record of a tweet is its id, text and date as JSON; of a parent that the filter rejects, its id and the reason.
    """
    kinds, filter, on_error = settings
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    links: list[tuple[str, str, str]] = []
    damage = None
    try:
        with open_bytes(file) as lines:
            for line in lines:
                tweets = tweets_of_line(line)
                if isinstance(tweets, str):
                    counts["lines"][tweets] += 1
                    continue
                is_linked = False
                for prefix, kind in kinds.items():
                    for target, role, tweet in _links(tweets, kind):
                        is_linked |= role == "child"
                        fault = filter.fault(tweet)
                        if fault and role == "child":
                            counts[_LINKS[kind.child]][fault] += 1
                            continue
                        record = [tweet.id, fault] if fault else [tweet.id, tweet.text, tweet.created_at]
                        links.append((prefix + target, role, json.dumps(record)))
                counts["lines"]["tweets, with links" if is_linked else "tweets, without links"] += 1
    except DataError as error:
        if on_error == "strict":
            raise DataError(f"{error}; --on-error skip uses the lines before a damage") from error
        used = f"the {counts['lines'].total():,} lines before are used"
        damage = str(error).replace("nothing was read from it", used)
    return dict(counts), links, damage


def _links(tweets: Sequence[Tweet], kind: PairKind) -> Iterator[tuple[str, str, Tweet]]:
    """Yield the tweet that a link leads to, the role in its group, and the tweet that has the role.

    A quoted tweet is in the same object; an answered one may be any tweet of the archives.
    """
    quoted = {tweet.quotes for tweet in tweets}
    for tweet in tweets:
        target = tweet.quotes if kind.child == "quote" else tweet.replies_to
        if target and target != tweet.id:
            yield target, "child", tweet
        if kind.with_parent and (kind.child == "reply" or tweet.id in quoted):
            yield tweet.id, "parent", tweet


def read_groups(
    database: sqlite3.Connection, size: int, counts: Mapping[str, Counter[str]]
) -> Iterator[Group]:
    """Yield the groups with children in the order of the hashes of their keys.

    Args:
        database: of `linked_tweets`.
        size: maximum number of children of a group.
        counts: receives the fates of the other children, by prefix of their keys.
    """
    rows = database.execute("SELECT key, role, record FROM link ORDER BY hash, key, role, archive, row")
    for key, of_key in groupby(rows, itemgetter(0)):
        children: list[Member] = []
        parents: list[Member] = []
        faults: list[str] = []
        for _, role, text in of_key:  # children before parents
            record = json.loads(text)
            if role == "child":
                children.append(Member(*record))
            elif not children:
                break
            elif len(record) == 2:
                faults.append(record[1])
            else:
                parents.append(Member(*record))
        if children:
            fates = next(counts[prefix] for prefix in counts if key.startswith(prefix))
            # Of several versions of a tweet, the longest is complete.
            parent = max(parents, key=_length, default=None)
            yield Group(key, parent, min(faults, default=None), _distinct(children, size, fates))


def _distinct(children: Sequence[Member], size: int, fates: Counter[str]) -> list[Member]:
    by_id: dict[str, Member] = {}
    for child in children:
        by_id[child.id] = max(child, by_id.get(child.id, child), key=_length)
    by_text: dict[str, Member] = {}
    for child in sorted(by_id.values(), key=lambda child: (hash_of(child.id), child.id)):
        by_text.setdefault(child.text, child)
    fates["met again"] += len(children) - len(by_id)
    fates["same text as another of its tweet"] += len(by_id) - len(by_text)
    fates["surplus of the same tweet"] += max(len(by_text) - size, 0)
    return list(by_text.values())[:size]


def _length(member: Member) -> tuple[int, str]:
    return len(member.text), member.text


def hash_of(text: str) -> int:
    """Return 64 bits of a hash, which put keys in a random but reproducible order, and identify texts."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
