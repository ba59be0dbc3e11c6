"""SIGKILL at random moments, and then the same command again."""

import random
import signal
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import httpx

from tests.reliability.harness import (
    DATA,
    FETCH,
    HEADERS,
    ROOT,
    SAMPLE,
    START,
    Said,
    Server,
    Tally,
    digest,
    finish,
    fresh,
    must,
    read_rows,
    run,
    sample_ids,
    serving,
    start,
    write_rows,
)
from tests.reliability.loopback import loopback
from tests.reliability.workplace import linked_posts

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


#: Post → label and note.
_Labels: TypeAlias = "dict[str, tuple[str, str | None]]"


@dataclass
class _Annotator:
    """Somebody who labels, changes labels, notes and takes back, and what of it was acknowledged.

    Attributes:
        name: their name.
        done: acknowledged actions.
        sent: the action that was sent last, if it was not acknowledged; it is sent again, as the page does.
    """

    name: str
    done: list[dict[str, str]] = field(default_factory=list)
    sent: dict[str, str] | None = None

    def act(self, server: Server, ids: Sequence[str], tally: Tally, chance: random.Random) -> None:
        """Send actions as fast as the server answers, until it is killed."""
        with suppress(httpx.HTTPError), httpx.Client(trust_env=False, headers=HEADERS, timeout=60) as client:
            while not tally.faults:
                self.sent = self.sent or self._action(ids, chance)
                body = {"annotator": self.name, "actions": [self.sent], "count": 0}
                answer = client.post(f"{server.url}/api/sessions/session/sync", json=body)
                if answer.status_code != 200 or "error" in answer.json()["done"][0]:
                    tally.check(False, f"sync: {answer.status_code} {answer.text[:200]}")
                self.done.append(self.sent)
                self.sent = None

    def _action(self, ids: Sequence[str], chance: random.Random) -> dict[str, str]:
        number = f"{self.name}-{len(self.done):08}"
        (kind,) = chance.choices(("label", "note", "undo"), (8, 1, 1))
        action = {"annotator": self.name, "kind": kind, "id": number, "post": chance.choice(ids)}
        value = {"value": chance.choice(("relevant", "not", "skip"))} if kind == "label" else {}
        return action | value | ({} if kind == "undo" or chance.random() < 0.5 else {"note": number})

    def expected(self) -> list[_Labels]:
        """Return what may be in the session: without and with the action that was sent last."""
        said = (Said(self.done), Said([*self.done, *filter(None, [self.sent])]))
        return [{post: (label, one.notes.get(post)) for post, label in one.labels.items()} for one in said]


def _label_by_command(
    tally: Tally, folder: Path, id_: str, when: int, chance: random.Random
) -> tuple[str, bool]:
    """Kill a command while it starts (0), when it begins to write (1), or later; returns label and acknowledgment."""
    value = chance.choice(("relevant", "not"))
    command = ("annotate", "label", "session", id_, value, "--annotator", "Ada")
    before, process = _written(folder), start(command, folder, {"PYTHONUNBUFFERED": "1"})
    until = time.monotonic() + (60 if when else chance.uniform(0.2, 1.5))
    while time.monotonic() < until and process.poll() is None and _written(folder) == before:
        time.sleep(0.0005)
    time.sleep(chance.uniform(0, 0.002 if when == 1 else 0.6))
    process.kill()
    ended = finish(process, 30)
    tally.kills += ended.code == -signal.SIGKILL
    tally.without(ended.fault((0, -9)), "label")
    return value, ended.out == f"{id_}: {value}\n"


def _written(folder: Path) -> int:
    """Return the size of what a session has written beside its database."""
    with suppress(FileNotFoundError):
        return (folder / "session" / "session.sqlite-wal").stat().st_size
    return 0


def sessions(tally: Tally, folder: Path, rounds: int, chance: random.Random) -> None:
    """Kill `annotate label`, and `serve` under two clients; what was acknowledged is there once, as it was sent."""
    must(START, folder)
    ids = sample_ids()
    commands = {
        id_: _label_by_command(tally, folder, id_, n % 4, chance) for n, id_ in enumerate(ids[:rounds])
    }
    people = [_Annotator("Bo"), _Annotator("Cy")]
    for _ in range(max(2, rounds // 5)):
        with serving(folder) as server:
            enough = sum(len(person.done) for person in people) + chance.randint(50, 150)
            with ThreadPoolExecutor() as pool:
                acting = [
                    pool.submit(person.act, server, ids, tally, random.Random(enough + n))
                    for n, person in enumerate(people)
                ]
                while sum(len(person.done) for person in people) < enough and not any(
                    one.done() for one in acting
                ):
                    time.sleep(0.0005)
                time.sleep(chance.uniform(0, 0.02))
                server.process.kill()
            tally.kills += [one.result() for one in acting] == [None, None]
        rows = [row for row in tally.labels(folder) if row["annotator"]]
        tally.check(len(rows) == len({(row["annotator"], row["post_id"]) for row in rows}), "a label twice")
        by: dict[str, _Labels] = {name: {} for name in ("Ada", "Bo", "Cy")}
        for row in rows:
            by[row["annotator"]][row["post_id"]] = row["label"], row.get("note")
        for person in people:
            tally.check(by[person.name] in person.expected(), f"other labels of {person.name} than sent")
    for id_, (value, acknowledged) in commands.items():
        label = by["Ada"][id_][0] if id_ in by["Ada"] else None
        tally.check(label in ((value,) if acknowledged else (value, None)), f"{id_}: {label}, not {value}")
    printed = sum(acknowledged for _, acknowledged in commands.values())
    sent = sum(len(person.done) for person in people)
    tally.check(4 * printed >= rounds - 2 and sent > 9 * rounds, f"only {printed} and {sent} acknowledged")
    tally.notes = (
        f"{tally.kills} kills; {printed} labels of commands, {sent:,} actions acknowledged, none lost"
    )


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
    articles, posts = linked_posts()
    write_rows(folder / "articles.jsonl", articles)
    write_rows(
        folder / "posts.jsonl", [{**post, "id": f"{n}-{post['id']}"} for n in range(330) for post in posts]
    )
    inputs = ("../posts.jsonl", "--articles", "../articles.jsonl")
    command = ("mine", "links", *inputs, "--dev", "0.2", "--out", "mined")
    for _ in range(rounds):
        with fresh(folder) as place:
            tally.kill(command, place, chance.uniform(0.3, 4))
            tally.without(run(command, place).fault((0,)), "mine")
    tally.notes = f"{tally.kills} kills"
