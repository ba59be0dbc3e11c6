"""SIGKILL at random moments, and then the same command again."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.reliability.commands import (
    DATA,
    FETCH,
    ROOT,
    SAMPLE,
    Tally,
    await_end,
    fault_of,
    run,
    seconds_of,
    start,
)
from benchmarks.reliability.loopback import Loopback

_TRAIN = ("train", str(ROOT / "configs" / "quickstart.jsonnet"), "-o", "trainer.epochs=3", "--out", "run")
_CORPUS = ("corpus", "build", str(DATA / "posts.jsonl"), "--out", "corpus", "--model", "distilled")
_MOST_KILLS = 3


def _digest(folder: Path, pattern: str) -> str:
    """Return a digest of the files of a folder that match."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob(pattern)):
        if path.is_file():
            found.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def _killed(arguments: Sequence[str], folder: Path, delay: float) -> bool:
    """Start a command, kill it after a delay, and return whether it was still running."""
    process = start(arguments, folder)
    time.sleep(delay)
    running = process.poll() is None
    process.kill()
    await_end(process, 30)
    return running


def _again(
    arguments: Sequence[str], more: Sequence[str], folder: Path, whole: float, chance: random.Random
) -> tuple[str, int]:
    """Kill a command up to three times, each time begun again, then let it end; returns a fault and the kills."""
    kills, now = 0, list(arguments)
    for _ in range(chance.randint(1, _MOST_KILLS)):
        killed = _killed(now, folder, chance.uniform(0.3, whole))
        now = [*arguments, *more]  # also where the command had ended: it is there already
        if not killed:
            break
        kills += 1
    code, _, err = run(now, folder, 300)
    return fault_of(code, err, (0,)), kills


def training(folder: Path, rounds: int, chance: random.Random) -> Tally:
    """Kill training; the resumed run must end with the weights of one that was never killed."""
    tally, kills = Tally(), 0
    whole = seconds_of(_TRAIN, folder, 600)
    expected = _digest(folder / "run", "*.safetensors")
    for number in range(rounds):
        place = folder / f"round-{number}"
        place.mkdir()
        fault, killed = _again(_TRAIN, ("--resume",), place, whole, chance)
        kills += killed
        if not fault and _digest(place / "run", "*.safetensors") != expected:
            fault = "other weights than without a kill"
        tally.check(not fault, f"training: {fault}")
        shutil.rmtree(place)
    tally.notes = f"{kills} kills; same weights"
    return tally


def corpora(folder: Path, rounds: int, chance: random.Random) -> Tally:
    """Kill the building of corpora; the resumed one must have all posts, and pass `corpus verify`."""
    tally, kills = Tally(), 0
    whole = seconds_of(_CORPUS, folder)
    query = ("corpus", "search", "corpus", SAMPLE[0], SAMPLE[1], "--format", "jsonl", "--top", "50")
    _, expected, _ = run(query, folder)
    for number in range(rounds):
        place = folder / f"round-{number}"
        place.mkdir()
        fault, killed = _again(_CORPUS, (), place, whole, chance)
        kills += killed
        code, _, err = run(("corpus", "verify", "corpus"), place)
        fault = fault or fault_of(code, err, (0,))
        if not fault and run(query, place)[1] != expected:
            fault = "other results than without a kill"
        tally.check(not fault, f"corpus: {fault}")
        shutil.rmtree(place)
    tally.notes = f"{kills} kills; same results"
    return tally


def sessions(folder: Path, rounds: int, chance: random.Random) -> Tally:
    """Kill `annotate label`; what was acknowledged must be in the session, and the session must open."""
    tally, kills = Tally(), 0
    code, _, err = run(("annotate", "start", "session", *SAMPLE, "--model", "bm25"), folder)
    assert code == 0, err
    ids = [json.loads(line)["id"] for line in (DATA / "posts.jsonl").read_text(encoding="utf-8").splitlines()]
    begun = time.monotonic()
    acknowledged = {}
    run(("annotate", "label", "session", ids[0], "relevant", "--annotator", "Ada"), folder)
    whole = time.monotonic() - begun
    for id_ in ids[1 : rounds + 1]:
        process = start(("annotate", "label", "session", id_, "relevant", "--annotator", "Ada"), folder)
        time.sleep(chance.uniform(0.3, 1.1 * whole))
        process.kill()
        code, err, _ = await_end(process, 30)
        kills += code == -signal.SIGKILL
        if code == 0:
            acknowledged[id_] = "relevant"
        tally.check(code in (0, -signal.SIGKILL), f"label: {fault_of(code, err)}")
    code, _, err = run(("annotate", "export", "session", "--out", "labels.jsonl"), folder)
    rows = (
        map(json.loads, (folder / "labels.jsonl").read_text(encoding="utf-8").splitlines())
        if code == 0
        else []
    )
    labels = {row["post_id"]: row["label"] for row in rows}
    for id_, value in acknowledged.items():
        tally.check(labels.get(id_) == value, f"label of {id_} lost")
    tally.check(code == 0, f"export: {fault_of(code, err)}")
    tally.notes = f"{kills} kills; {len(acknowledged)} labels acknowledged, none lost"
    return tally


def crawls(folder: Path, rounds: int, chance: random.Random) -> Tally:
    """Kill `fetch` on a web on loopback; in the end each address has its state, and pages are asked for once."""
    tally, kills, repeated = Tally(), 0, 0
    for number in range(rounds):
        place = folder / f"round-{number}"
        place.mkdir()
        with Loopback(pages=24) as web:
            links = "".join(f"{url}\n" for url in (*web.urls, *web.hostile))
            (place / "links.txt").write_text(links, encoding="utf-8")
            code: int | None = -1
            for _ in range(_MOST_KILLS):
                process = start(FETCH, place, web.environment)
                time.sleep(chance.uniform(0.5, 4))
                process.kill()
                code, err, _ = await_end(process, 30)
                kills += code == -signal.SIGKILL
            code, _, err = run(FETCH, place, 120, web.environment)
            fault = fault_of(code, err, (0,))
            if not fault:
                articles = (place / "crawl" / "articles.jsonl").read_text(encoding="utf-8").splitlines()
                if len(articles) != len(web.urls):
                    fault = f"{len(articles)} articles of {len(web.urls)} pages"
                elif web.private:
                    fault = f"{web.private} requests to private addresses"
            repeated += web.requests - len(web.urls)
            tally.check(not fault, f"fetch: {fault}")
        shutil.rmtree(place)
    tally.notes = f"{kills} kills; {repeated} requests that a kill repeated"
    return tally


def mining(folder: Path, rounds: int, chance: random.Random) -> Tally:
    """Kill `mine links`; the output folder is complete or can be written again."""
    tally, kills = Tally(), 0
    rows = [
        {"id": str(n), "text": f"otters below the weir number {n} https://news.example/story-{n % 40}"}
        for n in range(20_000)
    ]
    (folder / "posts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = ("mine", "links", "../posts.jsonl", "--out", "mined")
    for number in range(rounds):
        place = folder / f"round-{number}"
        place.mkdir()
        process = start(command, place)
        time.sleep(chance.uniform(0.3, 4))
        process.kill()
        kills += await_end(process, 30)[0] == -signal.SIGKILL
        code, _, err = run((*command, *(("--overwrite",) if (place / "mined").exists() else ())), place)
        tally.check(not (fault := fault_of(code, err, (0, 2))), f"mine: {fault}")
        shutil.rmtree(place)
    tally.notes = f"{kills} kills"
    return tally
