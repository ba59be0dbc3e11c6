"""Mining of training pairs: from archives to a file of pairs."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from linker.common.console import track
from linker.common.files import write_lines
from linker.common.locks import only_writer
from linker.contrib.twitter4sse.links import (
    PAIR_KINDS,
    Group,
    Member,
    PairKind,
    Report,
    hash_of,
    linked_tweets,
    read_groups,
)
from linker.contrib.twitter4sse.tweets import TweetFilter
from linker.data.files.line_errors import OnError
from linker.data.io.dates import parse_date


def mine_pairs(
    archives: Sequence[str | Path],
    kind: str,
    out: str | Path,
    filter: TweetFilter | None = None,
    max_pairs: int | None = None,
    workers: int = 1,
    on_error: OnError = "strict",
) -> Report:
    """Write the pairs of archives in a reproducible random order, and a report beside them.

    Args:
        archives: files and folders.
        kind: one of `PAIR_KINDS`.
        out: JSON Lines, compressed if the name ends in .gz: kind, parent_id, anchor_id, anchor_text, id, text,
            published (of the anchor), created_at.
        filter: filter of the tweets.
        max_pairs: size of a random sample; None writes all pairs.
        workers: number of processes; the results do not depend on it.
        on_error: "strict" stops at a damaged archive, "skip" uses the lines before the damage.

    Raises:
        DataError: if an archive is missing, unreadable or damaged, or if none contains a tweet.
        LinkerError: if another process writes the same file.
    """
    out, filter, pair_kind = Path(out), filter or TweetFilter(), PAIR_KINDS[kind]
    work = out.with_name(f".{out.name}.links.db")
    with (
        only_writer(out),
        linked_tweets(archives, {"": pair_kind}, filter, work, workers, on_error) as (database, report),
    ):
        links = report.links(pair_kind.child)
        # Two children with different texts: one of them may have the text of the tweet.
        groups = track(read_groups(database, 2, {"": links}), "pairing tweets")
        write_lines(out, _lines(groups, pair_kind, max_pairs, links, report.counts["pairs"]))
        report.write(report_path(out), {"kind": kind, **vars(filter), "max_pairs": max_pairs})
    return report


def _lines(
    groups: Iterable[Group], kind: PairKind, max_pairs: int | None, links: Counter[str], counts: Counter[str]
) -> Iterator[str]:
    """Yield the lines to write, each text only in its first pair; count the fates of all children and pairs."""
    met: set[int] = set()
    for group in groups:
        pair = _pair(group, kind, links)
        if pair is None:
            continue
        anchor, other = pair
        texts = {hash_of(anchor.text), hash_of(other.text)}
        if texts & met:
            counts["a text of it in another pair"] += 1
        elif max_pairs is not None and counts["written"] >= max_pairs:
            counts["more than --max-pairs"] += 1
        else:
            counts["written"] += 1
            record = {
                "kind": kind.child, "parent_id": group.key, "anchor_id": anchor.id,
                "anchor_text": anchor.text, "id": other.id, "text": other.text, "published": _date(anchor),
                "created_at": _date(other),
            }  # fmt: skip
            filled = {name: value for name, value in record.items() if value is not None}
            yield json.dumps(filled, ensure_ascii=False) + "\n"
        met |= texts


def _pair(group: Group, kind: PairKind, links: Counter[str]) -> tuple[Member, Member] | None:
    """Return the pair of a group: at most one, so that popular tweets do not count more."""
    children, fate = group.children, "the only one of its tweet"
    if not kind.with_parent:
        pair = (children[0], children[1]) if len(children) > 1 else None
    elif group.parent is None:
        pair, fate = None, f"its tweet: {group.fault or 'not in the archives'}"
    else:
        others = [child for child in children if child.text != group.parent.text]
        pair, fate = (group.parent, others[0]) if others else None, "same text as the tweet itself"
    used = 0 if pair is None else 2 - kind.with_parent
    links[fate if pair is None else "surplus of the same tweet"] += len(children) - used
    links["in pairs"] += used
    return pair


def _date(member: Member) -> str | None:
    try:
        return parse_date(member.created_at).isoformat()
    except ValueError:
        return None


def report_path(out: Path) -> Path:
    """Return the path of an output's report: pairs.jsonl.gz → pairs.report.json."""
    return out.with_name(f"{out.name.removesuffix('.gz').removesuffix('.jsonl')}.report.json")
