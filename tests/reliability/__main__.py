"""Run campaigns that try to make linker lose, hang or leak, and print a table.

    python -m tests.reliability [--quick | --full] [--seed 1] [--out FILE] [CAMPAIGN ...]

Everything happens in a temporary folder and on 127.0.0.1. Exit code 1: something did not hold. Linux only.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.reliability import (
    designs,
    documents,
    environments,
    fuzz,
    intervals,
    joints,
    kills,
    many_adds,
    pages,
    people,
    posts,
    publishing,
    server,
    signals,
    slow_answers,
    web_pages,
    writers,
)
from tests.reliability.harness import Tally

_SHOWN = 20


class Campaign(NamedTuple):
    """A campaign.

    Attributes:
        run: takes a tally to fill, an empty folder, the length and random numbers.
        quick: length with --quick.
        full: length with --full.
    """

    run: Callable[[Tally, Path, int, random.Random], None]
    quick: int
    full: int


CAMPAIGNS = {
    "kill training": Campaign(kills.training, 1, 20),
    "kill sessions": Campaign(kills.sessions, 6, 100),
    "kill corpora": Campaign(kills.corpora, 1, 20),
    "many adds": Campaign(many_adds.many_adds, 80, 400),
    "kill mining": Campaign(kills.mining, 1, 20),
    "kill fetching": Campaign(kills.crawls, 1, 20),
    "signals": Campaign(signals.signals, 1, 20),
    "damaged files": Campaign(fuzz.files, 300, 10_000),
    "intervals": Campaign(intervals.intervals, 40, 2_000),
    "environments": Campaign(environments.commands, 1, 99),
    "pages": Campaign(pages.extraction, 1, 3),
    "web pages": Campaign(web_pages.web_pages, 1, 2),
    "documents": Campaign(documents.hostile_documents, 200_000, 5_000_000),
    "posts": Campaign(posts.hostile_posts, 20_000, 9_900_000),
    "slow answers": Campaign(slow_answers.slow_answers, 1, 2),
    "server": Campaign(server.abuse, 15, 300),
    "joints": Campaign(joints.joints, 1, 5),
    "people": Campaign(people.people, 500, 10_000),
    "publishing": Campaign(publishing.publishing, 1, 3),
    "imports": Campaign(server.imports, 15, 300),
    "two writers": Campaign(writers.two_writers, 1, 10),
    "clocks": Campaign(writers.clocks, 3, 100),
    "designs": Campaign(designs.designs, 10, 250),
}


def main() -> None:
    """Run the campaigns."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability")
    parser.add_argument("campaigns", nargs="*", metavar="CAMPAIGN", help=f"any of: {', '.join(CAMPAIGNS)}")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--quick", action="store_true", help="a few minutes (the default)")
    length.add_argument("--full", action="store_true", help="some hours")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="file for the table, in Markdown")
    arguments = parser.parse_args()
    if unknown := set(arguments.campaigns) - set(CAMPAIGNS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    rows, kind = [], "full" if arguments.full else "quick"
    held_all = True
    for name in arguments.campaigns or CAMPAIGNS:
        campaign, tally = CAMPAIGNS[name], Tally()
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder, "campaign")
            place.mkdir()
            campaign.run(tally, place, getattr(campaign, kind), random.Random(arguments.seed))
        held, seconds = tally.tried - len(tally.faults), time.monotonic() - begun
        rows.append(f"| {name} | {tally.tried:,} | {held:,} | {seconds:,.0f} s | {tally.notes} |")
        print(rows[-1], flush=True)
        held_all &= not tally.faults
        for fault, count in Counter(tally.faults).most_common(_SHOWN):
            print(f"  {name}: {count} x {fault}", file=sys.stderr, flush=True)
    head = f"`python -m tests.reliability --{kind} --seed {arguments.seed}`, {time.strftime('%Y-%m-%d')}:"
    table = "\n".join([head, "", "| campaign | tried | held | time | |", "|---|---|---|---|---|", *rows, ""])
    if arguments.out:
        arguments.out.write_text(table, encoding="utf-8")
    sys.exit(0 if held_all else 1)


if __name__ == "__main__":
    main()
