"""Several people in one project, over HTTP: nobody sees what others said of a post before saying something about it."""

from __future__ import annotations

import random
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from linker.annotation.session.agreement import krippendorff_alpha
from linker.annotation.session.events import name_key
from tests.reliability.harness import DATA, HEADERS, Tally, read_rows, serving

_OWNER, _NAMES, _VALUES = "Olga", ("Zoë", "Ada", "Bó", "Cy"), ("relevant", "not", "skip")
_SESSION, _PROJECT = "/api/sessions/otters", "/api/projects/otters"
_SETTINGS = {
    "title": "Otters", "articles": ["Otters\n\nOtters are seen below the weir."], "question": "?", "model": "bm25",
    "people": _NAMES, "labels_per_post": 3, "labels": [{"name": value, "value": value} for value in _VALUES],
}  # fmt: skip
_OPEN = ("/", "/static/main.js", "/api/about", _SESSION, f"{_SESSION}/status", f"{_SESSION}/posts?count=200")
_CLOSED = (
    "/api/projects", _PROJECT, f"{_SESSION}/agreement", f"{_SESSION}/export?format=jsonl", f"{_SESSION}/resolve",
    f"{_SESSION}/import?name=a.csv", "/api/rank", f"/{_SESSION}/export", f"{_SESSION}/posts/../export",
    "/api/openapi.json",
    f"/static/..{_SESSION}/export", f"{_SESSION}%2fexport", f"{_SESSION}/posts?count=x", "/static/%2e%2e/api/projects",
)  # fmt: skip
_TRICKS: tuple[dict[str, str], ...] = (
    {}, {"X-Forwarded-For": "127.0.0.1", "X-Forwarded-User": _OWNER}, {"X-Original-URL": f"{_SESSION}/posts"},
    {"X-HTTP-Method-Override": "GET"}, {"Range": "bytes=0-10"}, {"Cookie": "linker-8123=a"},
)  # fmt: skip


class _Room:
    """The people with their tokens, and what each of them has said, and had said when they saw what others said."""

    def __init__(self, url: str, token: str, tally: Tally, chance: random.Random) -> None:
        self.client = httpx.Client(base_url=url, trust_env=False, headers=HEADERS, timeout=60)
        self.tally, self.chance, self.count = tally, chance, 0
        self.posts = [row["id"] for row in read_rows(DATA / "posts.jsonl")[:12]]
        self.tokens, self.void = {_OWNER: token}, ["", "void" * 8, "é"]
        self.spelling = {name: name for name in (_OWNER, *_NAMES)}
        self.labels: dict[str, dict[str, str]] = {name: {} for name in self.spelling}
        self.before: dict[str, list[tuple[str, str | None]]] = {name: [] for name in self.spelling}
        self.seen: dict[str, dict[str, str]] = {name: {} for name in self.spelling}
        self.notes: dict[tuple[str, str], str] = {}

    def ask(self, name: str | None, path: str, body: Any = None, **how: Any) -> httpx.Response:
        """Send a request, and search the answer for what somebody must not see; None: a stranger."""
        token = self.tokens[name] if name else self.chance.choice(self.void)
        headers = how.pop("headers", {}) | ({"Authorization": f"Bearer {token}".encode()} if token else {})
        own = {post for post, value in self.labels.get(name or "", {}).items() if value != "skip"}
        secrets = [token for other, token in self.tokens.items() if other != name]
        secrets += [note for (other, post), note in self.notes.items() if other != name and post not in own]
        method = how.pop("method", "GET" if body is None else "POST")
        answer = self.client.request(method, path, json=body, headers=headers, **how)
        leaks = [secret for secret in secrets if secret in f"{answer.headers} {answer.text}"]
        self.tally.check(name == _OWNER or not leaks, f"{method} {path} by {name}: {leaks}")
        return answer

    def people(self, people: list[str]) -> None:
        """Change who is in the project; whoever was not in it gets a new link."""
        answer = self.ask(_OWNER, _PROJECT, {"people": people}).json()
        by_key = {name_key(one["name"]): one["token"] for one in answer["people"]}
        self.tokens |= {name: by_key[name_key(name)] for name in _NAMES if name_key(name) in by_key}

    def act(self, name: str) -> None:
        """Label, skip, note or take back, perhaps in the name of another, and get the next posts."""
        self.count += 1
        (kind,), post = (
            self.chance.choices(("label", "note", "undo"), (6, 1, 2)),
            self.chance.choice(self.posts),
        )
        value, note = self.chance.choice(_VALUES), f"canary-{self.count}-{self.chance.random()}"
        who = self.chance.choice(_NAMES) if name != _OWNER and self.chance.random() < 0.1 else name
        action = {"kind": kind, "annotator": self.spelling[who], "id": f"action-{self.count}", "post": post}
        action |= {"label": {"value": value, "note": note}, "note": {"note": note}}.get(kind, {})
        if who == name and kind != "undo":
            self.notes[name, post] = note
        if who == name and kind == "label":
            self.before[name].append((post, self.labels[name].get(post)))
            self.labels[name][post] = value
        elif who == name and kind == "undo" and self.before[name]:
            last, earlier = self.before[name].pop()
            self.labels[name].pop(last)
            self.labels[name] |= {last: earlier} if earlier else {}
        body = {"annotator": name, "actions": [action], "count": self.chance.randrange(4)}
        answer = self.ask(name, f"{_SESSION}/sync", body).json()
        self.tally.check(
            ("error" in answer["done"][0]) == (who != name), f"{name} for {who}: {answer['done']}"
        )
        values, status = list(self.labels[name].values()), answer["status"]
        own: tuple[int, int, dict[str, int]] = (
            len(values) - values.count("skip"),
            values.count("relevant"),
            {},
        )
        shown = (status["labeled"], status["relevant"], status["annotators"])
        self.tally.check(name == _OWNER or shown == own, f"status of {name}: {shown}, own {own}")

    def browse(self, name: str) -> None:
        """List a page of posts by label."""
        label, offset = self.chance.choice(("all", "none", *_VALUES)), self.chance.choice((0, 0, 5, 50))
        query = {"annotator": _OWNER, "label": label, "offset": offset, "count": 5}
        answer = self.ask(name, f"{_SESSION}/posts", params=query).json()
        visible: dict[str, dict[str, str]] = {}
        for post in self.posts:
            by = {who: labels[post] for who, labels in self.labels.items() if post in labels}
            visible[post] = (
                by if by.get(name, "skip") != "skip" else {who: by[who] for who in by if who == name}
            )
        fits = [
            by
            for by in visible.values()
            if label == "all" or (label in by.values() if label != "none" else not by)
        ]
        self.tally.check(
            answer["total"] == len(fits), f"{answer['total']} posts {label} for {name}, not {len(fits)}"
        )
        names = {name_key(who): who for who in self.labels}
        for post in answer["posts"]:
            shown = {names[name_key(who)]: value for who, value, _ in post["labels"]}
            self.tally.check(
                shown == visible[post["id"]], f"labels for {name}: {shown}, not {visible[post['id']]}"
            )
        page = [post["id"] for post in answer["posts"]]
        self.look(
            name,
            [post for post in (page if label in ("all", "none") else self.posts) if len(visible[post]) > 1],
        )

    def look(self, name: str, posts: list[str]) -> None:
        """Remember what somebody had said of posts when they saw what others said."""
        self.seen[name] = {post: self.labels[name].get(post, "skip") for post in posts} | self.seen[name]

    def review(self) -> None:
        """Look at the agreement as the owner, which is that of what people said on their own; adjudicate perhaps."""
        answer = self.ask(_OWNER, f"{_SESSION}/agreement", params={"annotator": _OWNER}).json()
        independent = [labels | self.seen[name] for name, labels in self.labels.items()]
        alpha = krippendorff_alpha(
            [
                {post: value == "relevant" for post, value in one.items() if value != "skip"}
                for one in independent
            ]
        )
        fits = alpha != alpha if answer["alpha"] is None else abs(answer["alpha"] - alpha) < 1e-9
        self.tally.check(fits, f"alpha {answer['alpha']} of independent labels, not {alpha}")
        disputed = [post["id"] for post in answer["disagreements"]]
        self.look(_OWNER, disputed)
        if disputed and self.chance.random() < 0.2:
            body = {
                "annotator": _OWNER,
                "post": disputed[0],
                "value": "not",
                "id": f"resolve-{self.count:04}",
            }
            self.ask(_OWNER, f"{_SESSION}/resolve", body)

    def replace(self, name: str) -> None:
        """Remove somebody, whose link is void from then on, and add them again under a name that looks the same."""
        self.people([self.spelling[other] for other in _NAMES if other != name])
        self.void.append(self.tokens.pop(name))
        self.tally.check(self.ask(None, f"{_SESSION}/posts").status_code == 401, f"{name} is let in, removed")
        forms = (
            name.upper(),
            unicodedata.normalize("NFD", name),
            f"{name[0]}\u200b{name[1:]}\ufe0f",
            f" {name} ",
        )
        self.spelling[name] = self.chance.choice(forms)
        self.people([self.spelling[other] for other in _NAMES])

    def probe(self, name: str | None) -> None:
        """Ask for what is closed to all but the owner, and for what is open."""
        method, tricks = (
            self.chance.choice(("GET", "GET", "POST", "HEAD", "OPTIONS", "PUT")),
            self.chance.choice(_TRICKS),
        )
        answer = self.ask(name, self.chance.choice(_CLOSED), {}, method=method, headers=tricks)
        self.tally.check(answer.status_code >= 400, f"{method} {answer.url} by {name}: {answer.status_code}")
        path = self.chance.choice(_OPEN)
        answer, open_ = self.ask(name, path, headers=tricks), name is not None or not path.startswith("/api")
        self.tally.check(
            (answer.status_code in (200, 206)) == open_, f"{path} by {name}: {answer.status_code}"
        )
        if "posts" in path and name:
            self.look(name, _doubly_labeled(answer))

    def together(self) -> None:
        """List as all people at once, while notes of the owner make the server list anew."""
        note = {"kind": "note", "annotator": _OWNER, "post": self.posts[0], "note": ""}
        with ThreadPoolExecutor() as pool:
            asked = []
            for name in 10 * _NAMES:
                asked.append((name, pool.submit(self.ask, name, f"{_SESSION}/posts?count=200")))
                body = {"actions": [note | {"id": f"{time.time_ns()}"}]}
                pool.submit(self.ask, _OWNER, f"{_SESSION}/sync", body)
        for name, answer in asked:
            self.look(name, _doubly_labeled(answer.result()))


def _doubly_labeled(answer: httpx.Response) -> list[str]:
    return [post["id"] for post in answer.json()["posts"] if len(post["labels"]) > 1]


def people(tally: Tally, folder: Path, rounds: int, chance: random.Random) -> None:
    """Act in turn as several people, their owner and strangers; each answer is searched for what others said."""
    token = f"{chance.getrandbits(128):032x}"
    with serving(folder, "--token", token, "--no-browser", served=("--projects", "projects")) as server:
        room = _Room(server.url, token, tally, chance)
        room.ask(_OWNER, "/api/projects", _SETTINGS).raise_for_status()
        lines = (DATA / "posts.jsonl").read_bytes().splitlines(keepends=True)[: len(room.posts)]
        room.ask(_OWNER, f"{_PROJECT}/files?name=posts.jsonl", method="POST", content=b"".join(lines))
        room.ask(_OWNER, f"{_PROJECT}/start", {}).raise_for_status()
        while room.ask(_OWNER, _PROJECT).json()["step"]:
            time.sleep(0.1)
        room.people(list(_NAMES))
        for _ in range(rounds):
            name = chance.choice((_OWNER, *_NAMES))
            (kind,) = chance.choices(
                ("act", "browse", "probe", "review", "replace", "together"), (12, 6, 3, 2, 0.2, 0.2)
            )
            if kind in ("act", "browse"):
                getattr(room, kind)(name)
            elif kind == "replace":
                room.replace(chance.choice(_NAMES))
            elif kind == "probe":
                room.probe(chance.choice((None, *_NAMES)))
            else:
                getattr(room, kind)()
    leaks = sum("canary" in fault for fault in tally.faults)
    tally.notes = (
        f"{rounds:,} actions, {tally.tried:,} checks, {len(room.void) - 3} links made void; {leaks} leaks"
    )
