"""Mining of training pairs: from archives to a file of pairs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from linker.common.console import track
from linker.common.files import write_lines
from linker.common.locks import only_writer
from linker.contrib.twitter4sse.archives import UNIT_BYTES
from linker.contrib.twitter4sse.cleaning import TweetFilter
from linker.contrib.twitter4sse.extraction import ExtractionConfig, extracted_links
from linker.contrib.twitter4sse.groups import Group, read_groups
from linker.contrib.twitter4sse.pair_miners import Member, Pair, PairMiner
from linker.contrib.twitter4sse.report import Report
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

    An interrupted run continues from `<out>.links.db`, which is removed at the end.

    Args:
        archives: files and folders.
        miner: pair miner.
        out: JSON Lines, compressed if the name ends in .gz: kind, parent_id, anchor_id, anchor_text, id, text,
            published (of the anchor), created_at.
        filter: filter of the tweets.
        max_pairs: size of a random sample; None writes all pairs.
        workers: number of processes; the results do not depend on it.
        on_error: "strict" stops at a damaged archive, "skip" uses the lines before the damage.
        unit_bytes: compressed size of what is read at a time.

    Raises:
        DataError: if an archive is missing, unreadable or damaged, or if none contains a tweet.
        LinkerError: if another process writes the same file.
    """
    out = Path(out)
    filter = filter or TweetFilter()
    work = out.with_name(f"{out.name}.links.db")
    config = ExtractionConfig({"": miner}, filter, on_error)
    with (
        only_writer(out),
        extracted_links(archives, config, work, workers, unit_bytes) as (database, report),
    ):
        links = report.links.setdefault(miner.child, Counter())
        groups = track(read_groups(database, _CHILDREN, {"": links}), "pairing tweets")
        report.results["pairs"] = Counter()
        write_lines(
            out, _lines(_pairs(groups, miner, links), miner.child, max_pairs, report.results["pairs"])
        )
        report.write(
            report_path(out), {"miner": type(miner).__name__, **vars(filter), "max_pairs": max_pairs}
        )
    return report


def _pairs(
    groups: Iterable[tuple[str, Group]], miner: PairMiner, counts: Counter[str]
) -> Iterator[tuple[str, Pair]]:
    """Yield the key and the pair of each group that has one; count the fates of the children."""
    for key, group in groups:
        children = group.members()
        pair = miner.pair(group.parent, children)
        if pair is None:
            counts[_why_none(group, miner)] += len(children)
            continue
        used = 2 - (pair.anchor is group.parent)
        counts["further {} of the same tweet"] += len(children) - used
        counts["in pairs"] += used
        yield key, pair


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


def _lines(
    pairs: Iterable[tuple[str, Pair]], kind: str, max_pairs: int | None, counts: Counter[str]
) -> Iterator[str]:
    """Yield the lines to write: each text only in its first pair, at most `max_pairs`; count the fates of all pairs."""
    met: set[int] = set()
    for key, pair in pairs:
        counts["made"] += 1
        texts = {pair.anchor.hash, pair.other.hash}
        if len(texts) < 2 or texts & met:
            counts["a text of it in another pair"] += 1
        elif max_pairs is not None and counts["written"] >= max_pairs:
            counts["more than --max-pairs"] += 1
        else:
            counts["written"] += 1
            yield json.dumps(_record(kind, key, pair), ensure_ascii=False) + "\n"
        met |= texts


def report_path(out: Path) -> Path:
    """Return the path of an output's report: pairs.jsonl.gz → pairs.report.json."""
    name = out.name.removesuffix(".gz").removesuffix(".jsonl")
    return out.with_name(f"{name}.report.json")
