"""Two writers on everything that can be written, and clocks that jump."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import zipfile
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from unittest import mock

from benchmarks.reliability.commands import FETCH, Tally, await_end, fault_of, has_left_parts, run, start
from benchmarks.reliability.loopback import Loopback
from benchmarks.reliability.workplace import CASES, Case, arguments_of, copied, make
from linker.annotation.session import session
from linker.common.errors import LinkerError
from linker.data.types import Article, Post
from tests.helpers.tweets import v1, write

# What they write differs from run to run, or is tried otherwise below.
_NOT_COMPARED = ("annotate start", "corpus build", "mine fetch", "config new")
_JUMPS = (timedelta(days=3650), timedelta(days=-3650), timedelta(hours=2), timedelta(hours=-2), timedelta(0))


def _both(
    commands: Sequence[Sequence[str]], folder: Path, changes: dict[str, str] | None = None
) -> list[tuple[int | None, str]]:
    """Run commands at the same time; returns their exit codes and errors."""
    processes = [start(command, folder, changes) for command in commands]
    return [await_end(process, 300)[:2] for process in processes]


def _digest(path: Path) -> str:
    """Return a digest of a file or of the files of a folder, without what differs by the time of the run."""
    found = hashlib.sha256()
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    for file in files:
        if file.is_file() and file.suffix not in (".json", ".svg", ".md"):
            content = _cells(file) if file.suffix == ".xlsx" else file.read_bytes()
            found.update(file.relative_to(path).as_posix().encode() + b"\0" + content)
    return found.hexdigest()


def _cells(workbook: Path) -> bytes:
    """Return the sheets of a workbook, without its properties, which have the time of writing."""
    with zipfile.ZipFile(workbook) as parts:
        names = sorted(name for name in parts.namelist() if name.startswith("xl/"))
        return b"".join(name.encode() + parts.read(name) for name in names)


def _other(workplace: Path) -> None:
    """Put other inputs into a workplace, of the same formats, below `other`."""
    other = workplace / "other"
    other.mkdir()
    for name in ("posts.jsonl", "linked.jsonl", "ranking.csv", "labels.csv", "classes.csv"):
        lines = (workplace / name).read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for n, line in enumerate(lines) if n == 0 or n % 5]
        (other / name).write_text("".join(kept), encoding="utf-8")
    tweets = [v1(100 * n + i, quotes=v1(n), replies_to=n) for n in range(20, 27) for i in range(1, 7)]
    write(other / "tweets" / "a.json.gz", [*tweets, *(v1(n) for n in range(20, 27))])


def _twice(name: str, case: Case, workplace: Path, place: Path, tally: Tally) -> None:
    """Run a command twice at the same time, with two inputs if it has one; the output is that of one of the two."""
    suffix = next(one[3:] for one in case.arguments if one.startswith("OUT"))
    has_other = case.input and (workplace / "other" / case.input).exists()
    inputs = [case.input, f"other/{case.input}" if has_other else case.input]
    expected = []
    for given in inputs:
        copied(workplace, place)
        code, _, err = run(arguments_of(case, given, "out"), place, 300)
        tally.check(not (fault := fault_of(code, err, (case.ends,))), f"{name} alone: {fault}")
        expected.append(_digest(place / f"out{suffix}"))
        shutil.rmtree(place)
    copied(workplace, place)
    ends = _both([arguments_of(case, given, "out") for given in inputs], place)
    faults = [fault for code, err in ends if (fault := fault_of(code, err, (0, 2)))]
    if not faults and all(code for code, _ in ends):
        faults = [f"neither ended well: {ends[0][1][-200:]!r}"]
    if not faults and _digest(place / f"out{suffix}") not in expected:
        faults = ["the output is of neither"]
    tally.check(
        not (faults := faults or [left for left in [has_left_parts(place)] if left]),
        f"{name} twice: {faults}",
    )
    shutil.rmtree(place)


def _train_twice(more: tuple[str, ...], workplace: Path, place: Path, tally: Tally) -> None:
    """Train twice into a folder that has a model; the folder can be loaded and resumed."""
    copied(workplace, place)
    command = ("train", "small.jsonnet", "--out", "run", *more)
    ends = _both([command, command], place)
    faults = [fault for code, err in ends if (fault := fault_of(code, err, (0, 2)))]
    if not faults and all(code for code, _ in ends):
        faults = [f"neither ended well: {ends[0][1][-200:]!r}"]
    code, _, err = run(
        ("rank", "--article", "article.html", "--posts", "posts.jsonl", "--model", "run"), place
    )
    faults += [fault for fault in [fault_of(code, err, (0,))] if fault]
    tally.check(not faults, f"train {more} twice: {faults}")
    shutil.rmtree(place)


def _corpus(workplace: Path, place: Path, tally: Tally) -> None:
    """Add to a corpus twice, and build it at the same time; whoever ended well has all posts in it."""
    copied(workplace, place)
    posts = {"posts.jsonl", "more.jsonl", "linked.jsonl"}
    commands = [("corpus", "add", "corpus", "more.jsonl"), ("corpus", "add", "corpus", "linked.jsonl")]
    ends = _both(
        [*commands, ("corpus", "build", "posts.jsonl", "--out", "corpus", "--model", "distilled")], place
    )
    faults = [fault for code, err in ends if (fault := fault_of(code, err, (0, 2)))]
    for command, (code, _) in zip(commands, ends, strict=False):
        if code == 2:
            posts.remove(command[3])
    lines = [line for name in posts for line in (place / name).read_text(encoding="utf-8").splitlines()]
    expected = {json.loads(line)["id"] for line in lines}
    code, _, err = run(("corpus", "verify", "corpus"), place)
    faults += [fault for fault in [fault_of(code, err, (0,))] if fault]
    query = (
        "corpus",
        "search",
        "corpus",
        "--article",
        "article.html",
        "--top",
        "1000",
        "--format",
        "jsonl",
        "--copies",
    )
    code, out, err = run(query, place)
    found = {json.loads(line)["id"] for line in out.splitlines()} if code == 0 else set()
    if found != expected:
        faults.append(f"{len(found)} posts in the corpus, {len(expected)} were added; {err[-200:]}")
    tally.check(not faults, f"corpus add twice, and build: {faults}")
    shutil.rmtree(place)


def _session(workplace: Path, place: Path, tally: Tally) -> None:
    """Import into a session twice, label and export at the same time; every label is there."""
    copied(workplace, place)
    ids = [
        json.loads(line)["id"] for line in (place / "posts.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    ends = _both(
        [
            *(("annotate", "import", "session", "labels.csv", "--annotator", name) for name in ("Bo", "Cy")),
            *(("annotate", "label", "session", id_, "relevant", "--annotator", "Di") for id_ in ids[30:33]),
            ("annotate", "export", "session", "--out", "beside.csv"),
            ("annotate", "undo", "session", "--annotator", "Ada"),
        ],
        place,
    )
    faults = [fault for code, err in ends if (fault := fault_of(code, err, (0,)))]
    code, _, err = run(("annotate", "export", "session", "--out", "labels.jsonl"), place)
    faults += [fault for fault in [fault_of(code, err, (0,))] if fault]
    rows = [json.loads(line) for line in (place / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
    counts = Counter(row["annotator"] for row in rows if row["annotator"])  # others have no label
    if counts != {"Bo": 20, "Cy": 20, "Di": 3, "Ada": 1}:
        faults.append(f"labels by annotator: {dict(counts)}")
    tally.check(not faults, f"import, label and export at once: {faults}")
    shutil.rmtree(place)


def _fetch(place: Path, tally: Tally) -> None:
    """Crawl twice into a folder, then download an archive twice."""
    place.mkdir()
    with Loopback(pages=6) as web:
        (place / "links.txt").write_text("".join(f"{url}\n" for url in web.urls), encoding="utf-8")
        ends = _both([FETCH, FETCH], place, web.environment)
        faults = [fault for code, err in ends if (fault := fault_of(code, err, (0, 2)))]
        tally.check(not faults and any(code == 0 for code, _ in ends), f"fetch twice: {faults or ends}")
        vectors = ("vectors", "fetch", "6B.50d", "--cache", "cache", "--url", web.archive)
        ends = _both([vectors, vectors], place, web.environment)
        faults = [fault for code, err in ends if (fault := fault_of(code, err, (0, 2)))]
        code, _, err = run((*vectors[:5], "--url", "http://127.0.0.1:9/"), place, 60, web.environment)
        faults += [fault for fault in [fault_of(code, err, (0,))] if fault]
        tally.check(
            not faults and any(code == 0 for code, _ in ends), f"vectors fetch twice: {faults or ends}"
        )
    shutil.rmtree(place)


def two_writers(folder: Path, rounds: int, chance: random.Random) -> Tally:
    """Run every writing command twice at the same time, with two inputs where it has one: the output is that of one of
    the two, or one is refused with a message; what several may write at once has what all of them wrote.

    Args:
        folder: an empty folder.
        rounds: how many times.
        chance: not used.
    """
    tally = Tally()
    workplace = folder / "workplace"
    workplace.mkdir()
    make(workplace)
    _other(workplace)
    place = folder / "place"
    written = {name: case for name, case in CASES.items() if any(one[:3] == "OUT" for one in case.arguments)}
    for _ in range(rounds):
        for name, case in written.items():
            if name not in _NOT_COMPARED:
                _twice(name, case, workplace, place, tally)
        for more in (("--overwrite",), ("--resume", "--allow-config-change", "-o", "trainer.epochs=2")):
            _train_twice(more, workplace, place, tally)
        _corpus(workplace, place, tally)
        _session(workplace, place, tally)
        _fetch(place, tally)
    tally.notes = f"{len(written) - len(_NOT_COMPARED) + 7} commands"
    return tally


def clocks(folder: Path, rounds: int, chance: random.Random) -> Tally:
    """Label under clocks that jump forwards and backwards; posts assigned under a wrong clock are free again."""
    tally = Tally()
    real = session.now
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

            with mock.patch.object(session, "now", jumped):
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
