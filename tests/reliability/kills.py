"""SIGKILL at random moments, and then the same command again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from tests.reliability.harness import (
    DATA,
    FETCH,
    ROOT,
    SAMPLE,
    START,
    Tally,
    digest,
    fresh,
    must,
    read_rows,
    run,
    sample_ids,
    write_rows,
)
from tests.reliability.loopback import loopback

_TRAIN = ("train", str(ROOT / "configs" / "quickstart.jsonnet"), "-o", "trainer.epochs=3", "--out", "run")
_CORPUS = ("corpus", "build", str(DATA / "posts.jsonl"), "--out", "corpus", "--model", "distilled")
_MOST_KILLS = 3


def _again(
    arguments: Sequence[str],
    more: Sequence[str],
    folder: Path,
    whole: float,
    tally: Tally,
    chance: random.Random,
) -> str:
    """Kill a command up to three times, each time begun again, then let it end; returns a fault."""
    now = list(arguments)
    for _ in range(chance.randint(1, _MOST_KILLS)):
        ended = tally.kill(now, folder, chance.uniform(0.3, whole))
        now = [*arguments, *more]  # also where the command had ended: it is there already
        if ended.code is not None and ended.code >= 0:
            break
    return run(now, folder, 300).fault((0,))


def training(tally: Tally, folder: Path, rounds: int, chance: random.Random) -> None:
    """Kill training; the resumed run must end with the weights of one that was never killed."""
    whole = must(_TRAIN, folder, 600).seconds
    expected = digest(folder / "run", "*.safetensors")
    for _ in range(rounds):
        with fresh(folder) as place:
            fault = _again(_TRAIN, ("--resume",), place, whole, tally, chance)
            if not fault and digest(place / "run", "*.safetensors") != expected:
                fault = "other weights than without a kill"
            tally.without(fault, "training")
    tally.notes = f"{tally.kills} kills; same weights"


def corpora(tally: Tally, folder: Path, rounds: int, chance: random.Random) -> None:
    """Kill the building of corpora; the resumed one must have all posts, and pass `corpus verify`."""
    whole = must(_CORPUS, folder).seconds
    query = ("corpus", "search", "corpus", *SAMPLE[:2], "--format", "jsonl", "--top", "50")
    expected = run(query, folder).out
    for _ in range(rounds):
        with fresh(folder) as place:
            fault = _again(_CORPUS, (), place, whole, tally, chance)
            fault = fault or run(("corpus", "verify", "corpus"), place).fault((0,))
            if not fault and run(query, place).out != expected:
                fault = "other results than without a kill"
            tally.without(fault, "corpus")
    tally.notes = f"{tally.kills} kills; same results"


def sessions(tally: Tally, folder: Path, rounds: int, chance: random.Random) -> None:
    """Kill `annotate label`; what was acknowledged must be in the session, and the session must open."""
    must(START, folder)
    first, *ids = sample_ids()[: rounds + 1]
    acknowledged = []
    whole = run(("annotate", "label", "session", first, "relevant", "--annotator", "Ada"), folder).seconds
    for id_ in ids:
        label = ("annotate", "label", "session", id_, "relevant", "--annotator", "Ada")
        ended = tally.kill(label, folder, chance.uniform(0.3, 1.1 * whole))
        if ended.code == 0:
            acknowledged.append(id_)
        tally.without(ended.fault((0, -9)), "label")
    labels = {row["post_id"]: row["label"] for row in tally.labels(folder)}
    for id_ in acknowledged:
        tally.check(labels.get(id_) == "relevant", f"label of {id_} lost")
    tally.notes = f"{tally.kills} kills; {len(acknowledged)} labels acknowledged, none lost"


def crawls(tally: Tally, folder: Path, rounds: int, chance: random.Random) -> None:
    """Kill `fetch` on a web on loopback; in the end each address has its state, and pages are asked for once."""
    repeated = 0
    for _ in range(rounds):
        with fresh(folder) as place, loopback(pages=24) as web:
            links = "".join(f"{url}\n" for url in (*web.urls, *web.hostile))
            (place / "links.txt").write_text(links, encoding="utf-8")
            for _ in range(_MOST_KILLS):
                tally.kill(FETCH, place, chance.uniform(0.5, 4), changes=web.environment)
            if not (fault := run(FETCH, place, changes=web.environment).fault((0,))):
                articles = read_rows(place / "crawl" / "articles.jsonl")
                if len(articles) != len(web.urls):
                    fault = f"{len(articles)} articles of {len(web.urls)} pages"
                elif web.private:
                    fault = f"{web.private} requests to private addresses"
            repeated += web.requests - len(web.urls)
            tally.without(fault, "fetch")
    tally.notes = f"{tally.kills} kills; {repeated} requests that a kill repeated"


def mining(tally: Tally, folder: Path, rounds: int, chance: random.Random) -> None:
    """Kill `mine links`; the output folder is complete or can be written again."""
    text = "otters below the weir number {} https://news.example/story-{}"
    write_rows(
        folder / "posts.jsonl", [{"id": str(n), "text": text.format(n, n % 40)} for n in range(20_000)]
    )
    command = ("mine", "links", "../posts.jsonl", "--out", "mined")
    for _ in range(rounds):
        with fresh(folder) as place:
            tally.kill(command, place, chance.uniform(0.3, 4))
            more = ("--overwrite",) if (place / "mined").exists() else ()
            tally.without(run((*command, *more), place).fault((0, 2)), "mine")
    tally.notes = f"{tally.kills} kills"
