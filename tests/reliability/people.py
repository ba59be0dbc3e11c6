"""Several people in one project, over HTTP: labels and notes of others on a post are hidden before one labels it."""

import random
import time
import unicodedata
from pathlib import Path
from typing import Any

import httpx

from linker.annotation.formats.label_format import LabelFormat
from linker.annotation.session.agreement import Agreement, label_table
from linker.annotation.session.events import name_key
from tests.reliability.harness import DATA, HEADERS, Said, Tally, read_rows, serving

_OWNER, _NAMES, _VALUES = "Olga", ("Zoë", "Ada", "Bó", "Cy"), ("relevant", "not", "skip")
_SESSION, _PROJECT = "/api/sessions/otters", "/api/projects/otters"
_SETTINGS = {
    "title": "Otters", "articles": ["Otters\n\nOtters are seen below the weir."], "question": "?", "model": "bm25",
    "people": _NAMES, "labels_per_post": 3, "labels": [{"name": value, "value": value} for value in _VALUES],
}  # fmt: skip
_OWN = [f"{_SESSION}{end}" for end in ("", "/status", "/version", "/posts?count=200")]
_OPEN = ("/", "/static/main.js", "/api/about", *_OWN)
_CLOSED = (
    "/api/projects", _PROJECT, f"{_SESSION}/agreement", f"{_SESSION}/export?format=jsonl", f"{_SESSION}/resolve",
    f"{_SESSION}/import?name=a.csv", "/api/rank", f"/{_SESSION}/export", f"{_SESSION}/posts/../export",
    f"/static/..{_SESSION}/export", f"{_SESSION}%2fexport", f"{_SESSION}/posts?count=x", "/api/openapi.json",
)  # fmt: skip
_TRICKS: tuple[dict[str, str], ...] = (
    {}, {"X-Forwarded-For": "127.0.0.1", "X-Forwarded-User": _OWNER}, {"X-Original-URL": f"{_SESSION}/posts"},
    {"X-HTTP-Method-Override": "GET"}, {"Range": "bytes=0-10"}, {"Cookie": "linker-8123=a"},
)  # fmt: skip


class _Room:
    """The people with their tokens, what each of them has said, and had said when they saw what others said."""

    def __init__(self, url: str, token: str, tally: Tally, chance: random.Random) -> None:
        self.client = httpx.Client(base_url=url, trust_env=False, headers=HEADERS, timeout=60)
        self.check, self.chance, self.count = tally.check, chance, 0
        self.posts = [row["id"] for row in read_rows(DATA / "posts.jsonl")[:12]]
        self.tokens, self.void = {_OWNER: token}, ["", "void" * 8, "é"]
        self.spelling = {name: name for name in (_OWNER, *_NAMES)}
        self.said = {name: Said() for name in self.spelling}
        self.seen: dict[str, dict[str, str]] = {name: {} for name in self.spelling}

    def visible(self, name: str | None, post: str) -> dict[str, Said]:
        """Return those whose labels and notes on a post somebody may see; None: a stranger."""
        own = {name: self.said[name]} if name else {}
        may = name is not None and self.said[name].labels.get(post, "skip") != "skip"
        return self.said if may else own

    def ask(self, name: str | None, path: str, body: Any = None, **how: Any) -> httpx.Response:
        """Send a request, and search the answer for what somebody must not see."""
        token = self.tokens[name] if name else self.chance.choice(self.void)
        headers = how.pop("headers", {}) | ({"Authorization": f"Bearer {token}".encode()} if token else {})
        secrets = [token for other, token in self.tokens.items() if other != name]
        for other, said in self.said.items():
            secrets += [note for post, note in said.notes.items() if other not in self.visible(name, post)]
        method = how.pop("method", "GET" if body is None else "POST")
        answer = self.client.request(method, path, json=body, headers=headers, **how)
        leaks = [secret for secret in secrets if secret in f"{answer.headers} {answer.text}"]
        self.check(name == _OWNER or not leaks, f"leak: {method} {path} by {name}: {leaks}")
        return answer

    def people(self, people: list[str]) -> None:
        """Change who is in the project; people who are new to it get a new link."""
        answer = self.ask(_OWNER, _PROJECT, {"people": people}).json()
        by_key = {name_key(one["name"]): one["token"] for one in answer["people"]}
        self.tokens |= {name: by_key[name_key(name)] for name in _NAMES if name_key(name) in by_key}

    def act(self) -> None:
        """Label, skip, note or take back, perhaps in the name of another, and get the next posts."""
        self.count += 1
        name, (kind,) = (
            self.chance.choice(list(self.said)),
            self.chance.choices(("label", "note", "undo"), (6, 1, 2)),
        )
        who = self.chance.choice(_NAMES) if name != _OWNER and self.chance.random() < 0.1 else name
        action = {"kind": kind, "id": f"action-{self.count}", "post": self.chance.choice(self.posts)}
        action |= {"value": self.chance.choice(_VALUES)} if kind == "label" else {}
        action |= {"note": f"canary-{self.count}-{self.chance.random()}"} if kind != "undo" else {}
        if who == name:
            self.said[name].add(action)
        actions = [action | {"annotator": self.spelling[who]}]
        body = {"annotator": name, "actions": actions, "count": self.chance.randrange(4)}
        answer = self.ask(name, f"{_SESSION}/sync", body).json()
        self.check(("error" in answer["done"][0]) == (who != name), f"{name} for {who}: {answer['done']}")
        values, status = list(self.said[name].labels.values()), answer["status"]
        shown = [status["labeled"], status["relevant"], len(status["annotators"])]
        own = [len(values) - values.count("skip"), values.count("relevant"), 0]
        self.check(name == _OWNER or shown == own, f"leak: status of {name}: {shown}, own {own}")

    def browse(self) -> None:
        """List a page of posts by label."""
        name, label = self.chance.choice(_NAMES), self.chance.choice(("all", "none", *_VALUES))
        query = {"annotator": _OWNER, "label": label, "offset": self.chance.choice((0, 0, 5, 50)), "count": 5}
        answer = self.ask(name, f"{_SESSION}/posts", params=query).json()
        by_post = {
            post: {
                who: one.labels[post] for who, one in self.visible(name, post).items() if post in one.labels
            }
            for post in self.posts
        }
        tests = {"all": lambda by: True, "none": lambda by: not by}
        fits = list(filter(tests.get(label, lambda by: label in by.values()), by_post.values()))
        self.check(
            answer["total"] == len(fits), f"leak: {answer['total']} {label} for {name}, not {len(fits)}"
        )
        names = {name_key(who): who for who in self.said}
        for post in answer["posts"]:
            shown, expected = (
                {names[name_key(who)]: value for who, value, _ in post["labels"]},
                by_post[post["id"]],
            )
            self.check(shown == expected, f"leak: labels for {name}: {shown}, not {expected}")
        looked_at = [post["id"] for post in answer["posts"]] if label in tests else self.posts
        self.look(name, [post for post in looked_at if len(by_post[post]) > 1])

    def look(self, name: str, posts: list[str]) -> None:
        """Remember what somebody had said of posts when they saw what others said."""
        self.seen[name] = {post: self.said[name].labels.get(post, "skip") for post in posts} | self.seen[name]

    def review(self) -> None:
        """Look at the agreement as the owner, which is that of what people said on their own; adjudicate perhaps."""
        answer = self.ask(_OWNER, f"{_SESSION}/agreement", params={"annotator": _OWNER}).json()
        independent = [(one.labels | self.seen[name]).items() for name, one in self.said.items()]
        votes = [{post: value == "relevant" for post, value in one if value != "skip"} for one in independent]
        alpha, shown = Agreement.of(label_table(votes)).alpha, answer["alpha"]
        fits = alpha != alpha if shown is None else abs(shown - alpha) < 1e-9
        self.check(fits, f"alpha {shown} of independent labels, not {alpha}")
        disputed = [post["id"] for post in answer["disagreements"]]
        self.look(_OWNER, disputed)
        for post in disputed[: self.chance.random() < 0.2]:
            body = {"annotator": _OWNER, "post": post, "value": "not", "id": f"resolve-{self.count:04}"}
            self.ask(_OWNER, f"{_SESSION}/resolve", body)

    def export(self) -> None:
        """Export all labels as the owner, who has read those of others from then on."""
        name, format_ = (
            unicodedata.normalize("NFD", _OWNER.upper()),
            self.chance.choice([*LabelFormat.available()]),
        )
        query = {"annotator": name, "format": format_, "resolved": self.chance.choice((True, False))}
        self.ask(_OWNER, f"{_SESSION}/export", params=query).raise_for_status()
        others = [said.labels for name, said in self.said.items() if name != _OWNER]
        self.look(_OWNER, [post for post in self.posts if any(post in labels for labels in others)])

    def replace(self) -> None:
        """Remove somebody, whose link is void from then on, and add them again under a name that looks the same."""
        name = self.chance.choice(_NAMES)
        self.people([self.spelling[other] for other in _NAMES if other != name])
        self.void.append(self.tokens.pop(name))
        self.check(self.ask(None, f"{_SESSION}/posts").status_code == 401, f"{name} is let in, removed")
        hidden = f"{name[0]}\u200b{name[1:]}\ufe0f"
        self.spelling[name] = self.chance.choice((name.upper(), unicodedata.normalize("NFD", name), hidden))
        self.people([self.spelling[other] for other in _NAMES])

    def probe(self) -> None:
        """Ask for what is closed to all but the owner, and for what is open to people."""
        name, tricks = self.chance.choice((None, *_NAMES)), self.chance.choice(_TRICKS)
        method = self.chance.choice(("GET", "GET", "POST", "HEAD", "OPTIONS", "PUT"))
        answer = self.ask(name, self.chance.choice(_CLOSED), {}, method=method, headers=tricks)
        self.check(answer.status_code >= 400, f"{method} {answer.url} by {name}: {answer.status_code}")
        path = self.chance.choice(_OPEN)
        answer, is_open = (
            self.ask(name, path, headers=tricks),
            name is not None or not path.startswith("/api"),
        )
        self.check((answer.status_code in (200, 206)) == is_open, f"{path} by {name}: {answer.status_code}")
        if "posts" in path and name:
            self.look(name, [post["id"] for post in answer.json()["posts"] if len(post["labels"]) > 1])


def people(tally: Tally, folder: Path, rounds: int, chance: random.Random) -> None:
    """Act in turn as several people, their owner and strangers; each answer is searched for what others said."""
    token = f"{chance.getrandbits(128):032x}"
    with serving(folder, "--token", token, "--no-browser", served=("--projects", "projects")) as server:
        room = _Room(server.url, token, tally, chance)
        room.ask(_OWNER, "/api/projects", _SETTINGS).raise_for_status()
        posts = b"".join((DATA / "posts.jsonl").read_bytes().splitlines(keepends=True)[: len(room.posts)])
        room.ask(_OWNER, f"{_PROJECT}/files?name=posts.jsonl", method="POST", content=posts)
        room.ask(_OWNER, f"{_PROJECT}/start", {}).raise_for_status()
        while room.ask(_OWNER, _PROJECT).json()["step"]:
            time.sleep(0.1)
        room.people(list(_NAMES))
        moves = (room.act, room.browse, room.probe, room.review, room.replace, room.export)
        for move in chance.choices(moves, (12, 6, 3, 2, 0.4, 0.4), k=rounds):
            move()
    leaks = sum("leak" in fault for fault in tally.faults)
    tally.notes = f"{rounds:,} actions, {len(room.void) - 3} links made void; {leaks} leaks"
