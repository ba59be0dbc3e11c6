"""Two writers on everything that can be written, and clocks that jump."""

import random
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from unittest import mock

from linker.annotation.session import session
from linker.common.errors import LinkerError
from linker.data.types import Article, Post
from tests.helpers.tweets import v1, write
from tests.reliability.harness import (
    FETCH,
    Ended,
    Tally,
    digest,
    finish,
    fresh,
    left_parts,
    read_rows,
    run,
    sample_ids,
    start,
)
from tests.reliability.loopback import loopback
from tests.reliability.workplace import CASES, Case, make_workplace

# What they write differs from run to run, or is tried otherwise below.
_NOT_COMPARED = ("annotate start", "corpus build", "mine fetch", "config new")
_JUMPS = (timedelta(days=3650), timedelta(days=-3650), timedelta(hours=2), timedelta(hours=-2), timedelta(0))


def _both(
    commands: Sequence[Sequence[str]], folder: Path, changes: Mapping[str, str] | None = None
) -> tuple[list[Ended], list[str]]:
    """Run commands at the same time, of which one must end well, and others may be refused; returns faults as well."""
    processes = [start(command, folder, changes) for command in commands]
    ends = [finish(process, 300) for process in processes]
    faults = [fault for ended in ends if (fault := ended.fault((0, 2)))]
    if not faults and all(ended.code for ended in ends):
        faults = [f"neither ended well: {ends[0].err[-200:]!r}"]
    return ends, faults


def _content(file: Path) -> bytes:
    """Return what of a file does not differ by the time of the run; of workbooks these are the sheets."""
    if file.suffix in (".json", ".svg", ".md"):
        return b""
    if file.suffix != ".xlsx":
        return file.read_bytes()
    with zipfile.ZipFile(file) as parts:
        names = sorted(name for name in parts.namelist() if name.startswith("xl/"))
        return b"".join(name.encode() + parts.read(name) for name in names)


def _write_other(workplace: Path) -> None:
    """Put other inputs into a workplace, of the same formats, below `other`."""
    other = workplace / "other"
    other.mkdir()
    for name in ("posts.jsonl", "linked.jsonl", "labels.csv", "classes.csv"):
        lines = (workplace / name).read_text(encoding="utf-8").splitlines(keepends=True)
        fewer = "".join(line for n, line in enumerate(lines) if n == 0 or n % 5)
        (other / name).write_text(fewer, encoding="utf-8")
    tweets = [v1(100 * n + i, quotes=v1(n), replies_to=n) for n in range(20, 27) for i in range(1, 7)]
    write(other / "tweets" / "a.json.gz", [*tweets, *(v1(n) for n in range(20, 27))])


def _twice(case: Case, workplace: Path, folder: Path) -> list[str]:
    """Run a command twice at the same time, with two inputs if it has one; the output is that of one of the two."""
    has_other = case.input and (workplace / "other" / case.input).exists()
    inputs = [case.input, f"other/{case.input}" if has_other else case.input]
    expected, faults = [], []
    for given in inputs:
        with fresh(folder, workplace) as place:
            fault = run(case.words(given), place, 300).fault((case.ends,))
            faults += [f"alone: {fault}"] if fault else []
            expected.append(digest(place / f"out{case.suffix}", read=_content))
    with fresh(folder, workplace) as place:
        faults += _both([case.words(given) for given in inputs], place)[1]
        if not faults and digest(place / f"out{case.suffix}", read=_content) not in expected:
            faults = ["the output is of neither"]
        return faults or [left for left in [left_parts(place)] if left]


def _train_twice(tally: Tally, place: Path, *more: str) -> None:
    """Train twice into a folder that has a model; the folder can be loaded and resumed."""
    command = ("train", "small.jsonnet", "--out", "run", *more)
    tally.without(_both([command, command], place)[1], f"train {more} twice")
    tally.run(("rank", "--article", "article.html", "--posts", "posts.jsonl", "--model", "run"), place)


def _corpus(tally: Tally, place: Path) -> None:
    """Add to a corpus twice, and build it at the same time; whoever ended well has all posts in it."""
    files = ["more.jsonl", "linked.jsonl"]
    build = ("corpus", "build", "posts.jsonl", "--out", "corpus", "--model", "distilled")
    ends, faults = _both([*(("corpus", "add", "corpus", name) for name in files), build], place)
    tally.without(faults, "corpus add twice, and build")
    added = ["posts.jsonl", *(name for name, ended in zip(files, ends, strict=False) if ended.code != 2)]
    expected = {row["id"] for name in added for row in read_rows(place / name)}
    tally.run(("corpus", "verify", "corpus"), place)
    query = "corpus search corpus --article article.html --top 1000 --copies --out all.jsonl"
    tally.run(query.split(), place)
    there = {row["id"] for row in read_rows(place / "all.jsonl")}
    tally.check(there == expected, f"{len(there)} posts in the corpus, {len(expected)} were added")


def _session(tally: Tally, place: Path) -> None:
    """Import into a session twice, label and export at the same time; every label is there."""
    imports = (f"annotate import session labels.csv --annotator {name}" for name in ("Bo", "Cy"))
    labels = (f"annotate label session {id_} relevant --annotator Di" for id_ in sample_ids()[30:33])
    others = ("annotate export session --out beside.csv", "annotate undo session --annotator Ada")
    ends, _ = _both([command.split() for command in (*imports, *labels, *others)], place)
    tally.without(
        [fault for ended in ends if (fault := ended.fault((0,)))], "import, label and export at once"
    )
    # Other rows have no label.
    counts = Counter(row["annotator"] for row in tally.labels(place) if row["annotator"])
    tally.check(counts == {"Bo": 20, "Cy": 20, "Di": 3, "Ada": 1}, f"labels by annotator: {dict(counts)}")


def _fetch(tally: Tally, place: Path) -> None:
    """Crawl twice into a folder, which must not disturb each other."""
    with loopback(pages=6) as web:
        (place / "links.txt").write_text("".join(f"{url}\n" for url in web.urls), encoding="utf-8")
        tally.without(_both([FETCH, FETCH], place, web.environment)[1], "fetch twice")


def two_writers(tally: Tally, folder: Path, rounds: int, chance: random.Random) -> None:
    """Run every writing command twice at the same time, with two inputs where it has one: the output is that of one of
    the two, or one is refused with a message; what several may write at once has what all of them wrote.
    """
    workplace = make_workplace(folder)
    _write_other(workplace)
    written = [name for name, case in CASES.items() if case.suffix is not None and name not in _NOT_COMPARED]
    for _ in range(rounds):
        for name in written:
            tally.without(_twice(CASES[name], workplace, folder), f"{name} twice")
        with fresh(folder, workplace) as place:
            _train_twice(tally, place, "--overwrite")
            _train_twice(tally, place, "--resume")
            _corpus(tally, place)
            _session(tally, place)
            _fetch(tally, place)
    tally.notes = f"{len(written) + 7} commands"


def clocks(tally: Tally, folder: Path, rounds: int, chance: random.Random) -> None:
    """Label under clocks that jump forwards and backwards; posts assigned under a wrong clock are free again."""
    real = session.now
    article = Article("a", "Otters below the weir.", "Otters")
    posts = [Post(str(n), f"otters {n} below the weir of river {n * n}") for n in range(30)]
    for number in range(rounds):
        place, offset = folder / f"clock-{number}", timedelta(0)
        session.Session.create(place, [article], posts, model="bm25").close()
        done: set[str] = set()
        for step in range(12):
            offset += chance.choice(_JUMPS)

            def jumped(offset: timedelta = offset) -> datetime:
                return real() + offset

            with mock.patch.object(session, "now", jumped):
                try:
                    with session.Session.open(place) as opened:
                        for assigned in opened.next(f"annotator-{step % 3}", 2)[:1]:
                            opened.label(f"annotator-{step % 3}", assigned.post.id, "relevant")
                            done.add(assigned.post.id)
                except LinkerError as error:
                    tally.check(False, f"clock at {offset}: {error}")
        with session.Session.open(place) as opened:
            labeled = {label.post.id for label in opened.labeled()}
            names = ("Ada", *(f"annotator-{n}" for n in range(3)))
            offered = {assigned.post.id for name in names for assigned in opened.next(name, len(posts))}
        tally.check(done <= labeled, f"labels lost: {done - labeled}")
        taken = {post.id for post in posts} - labeled - offered
        tally.check(not taken, f"posts that nobody gets: {taken}")
