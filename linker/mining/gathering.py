"""First half of the work: one unit of archives becomes one part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from linker.errors import DataError
from linker.mining.archives import Source
from linker.mining.cleaning import TweetFilter, Usable
from linker.mining.lines import SourceLines, parse_line
from linker.mining.miner import PairMiner
from linker.mining.parts import PartWriter, write_part
from linker.mining.tweets import Tweet
from linker.mining.workers import tell

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
