"""Two writers on everything that can be written, and clocks that jump."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from unittest import mock

from benchmarks.reliability.commands import DATA, FETCH, ROOT, SAMPLE, Tally, await_end, fault_of, run, start
from benchmarks.reliability.loopback import Loopback
from linker.annotation.session import journal, session
from linker.common.errors import LinkerError
from linker.data.types import Article, Post

_JUMPS = (timedelta(days=3650), timedelta(days=-3650), timedelta(hours=2), timedelta(hours=-2), timedelta(0))


def _both(
    commands: Sequence[Sequence[str]], folder: Path, changes: dict[str, str] | None = None
) -> list[tuple[int | None, str]]:
    """Run commands at the same time; returns their exit codes and errors."""
    processes = [start(command, folder, changes) for command in commands]
    return [await_end(process, 300)[:2] for process in processes]


def two_writers(folder: Path, rounds: int, chance: random.Random) -> Tally:
    """Run writing commands twice at the same time: both work, or one is refused with a message; nothing is damaged."""
    tally = Tally()
    ids = [json.loads(line)["id"] for line in (DATA / "posts.jsonl").read_text(encoding="utf-8").splitlines()]
    for number in range(rounds):
        place = folder / f"round-{number}"
        place.mkdir()
        corpus = ("corpus", "build", str(DATA / "posts.jsonl"), "--out", "corpus", "--model", "distilled")
        begin = ("annotate", "start", "session", *SAMPLE, "--model", "bm25")
        train = (
            "train",
            str(ROOT / "configs" / "quickstart.jsonnet"),
            "-o",
            "trainer.epochs=1",
            "--out",
            "run",
        )
        ranked = ("rank", *SAMPLE, "--model", "bm25", "--out", "ranked.csv")
        for name, command in {
            "corpus build": corpus,
            "annotate start": begin,
            "train": train,
            "rank": ranked,
        }.items():
            ends = _both([command, command], place)
            faults = [fault for code, err in ends if (fault := fault_of(code, err, (0, 2)))]
            if not faults and all(code for code, _ in ends):
                faults = [f"neither ended well: {ends[0][1][-200:]!r}"]
            tally.check(not faults, f"{name} twice: {faults}")
        for check in (("corpus", "verify", "corpus"), ("annotate", "status", "session")):
            code, _, err = run(check, place)
            tally.check(not (fault := fault_of(code, err, (0,))), f"{check[:2]} afterwards: {fault}")
        posts = chance.sample(ids, 6)
        ends = _both(
            [
                ("annotate", "label", "session", id_, "relevant", "--annotator", f"A{n}")
                for n, id_ in enumerate(posts)
            ],
            place,
        )
        run(("annotate", "export", "session", "--out", "labels.jsonl"), place)
        rows = map(json.loads, (place / "labels.jsonl").read_text(encoding="utf-8").splitlines())
        labels = {row["post_id"]: row["label"] for row in rows}
        for id_, (code, err) in zip(posts, ends, strict=True):
            held = code == 0 and labels.get(id_) == "relevant"
            tally.check(held, f"label beside others: {fault_of(code, err, (0,)) or 'lost'}")
        with Loopback(pages=6) as web:
            (place / "links.txt").write_text("".join(f"{url}\n" for url in web.urls), encoding="utf-8")
            ends = _both([FETCH, FETCH], place, web.environment)
            faults = [fault for code, err in ends if (fault := fault_of(code, err, (0, 2)))]
            tally.check(not faults and any(code == 0 for code, _ in ends), f"fetch twice: {faults or ends}")
    return tally


def clocks(folder: Path, rounds: int, chance: random.Random) -> Tally:
    """Label under clocks that jump forwards and backwards; posts assigned under a wrong clock are free again."""
    tally = Tally()
    real = journal.now
    for number in range(rounds):
        place = folder / f"clock-{number}"
        posts = [Post(str(n), f"otters {n} below the weir of river {n * n}") for n in range(30)]
        made = session.Session.create(
            place, [Article("a", "Otters below the weir.", "Otters")], posts, background=False, model="bm25"
        )
        made.close()
        done: set[str] = set()
        offset = timedelta(0)
        for step in range(12):
            offset += chance.choice(_JUMPS)

            def jumped(offset: timedelta = offset) -> datetime:
                return real() + offset

            with (
                mock.patch.object(journal, "now", jumped),
                mock.patch.object(session, "now", jumped, create=True),
            ):
                try:
                    with session.Session.open(place, background=False) as opened:
                        found = opened.next(f"annotator-{step % 3}", 2)
                        if found:
                            opened.label(f"annotator-{step % 3}", found[0].post.id, "relevant")
                            done.add(found[0].post.id)
                except LinkerError as error:
                    tally.check(False, f"clock at {offset}: {error}")
        with session.Session.open(place, background=False) as opened:
            labeled = {one.post.id for one in opened.labeled()}
            names = ("Ada", *(f"annotator-{n}" for n in range(3)))
            offered = {one.post.id for name in names for one in opened.next(name, len(posts))}
        tally.check(done <= labeled, f"labels lost: {done - labeled}")
        held = {post.id for post in posts} - labeled - offered
        tally.check(not held, f"posts that nobody gets: {held}")
    return tally
