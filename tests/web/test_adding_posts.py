"""Posts that are added while people label: nothing that they did is lost, and what is claimed is about all posts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from linker.annotation.project.post_files import PostFiles
from linker.annotation.session.events import Event
from linker.annotation.session.session import Session
from linker.annotation.session.session_file import SessionFile
from linker.annotation.worker import InterruptedWorkError, Worker
from linker.data.types import Post
from tests.web.conftest import Client, make_posts, rows_of
from tests.web.test_projects_api import KEY, POSTS, Served, label

PLACE = "0b" * 16
SESSION = f"/api/sessions/{KEY}"
ALL = make_posts(45)
FURTHER = ALL[30:]


def lines(posts: list[Post]) -> bytes:
    return rows_of([replace(post, created_at=None, extra={"lang": "en"}) for post in posts]).encode()


def add(served: Served, content: bytes | None = None) -> dict[str, Any]:
    """Add posts, and wait for the end."""
    if content is not None:
        served.owner.post(f"/api/uploads/{PLACE}/files", params={"name": "posts.jsonl"}, content=content)
    answer = served.owner.post(f"/api/projects/{KEY}/posts", json={"files": PLACE})
    assert answer.status_code == 200, answer.text
    return served.settled()


def events(session: Path) -> list[Event]:
    with SessionFile(session) as file:
        return file.news()


def exported(served: Served) -> list[dict[str, Any]]:
    """The labels of the former posts, without what scores and samples say of all posts together."""
    text = served.owner.get(f"{SESSION}/export", params={"format": "jsonl", "annotator": "Max"}).text
    rows = [json.loads(line) for line in text.splitlines()]
    former = {post.id for post in ALL[:30]}
    return [
        {k: v for k, v in row.items() if k not in ("sample", "score")}
        for row in rows
        if row["post_id"] in former
    ]


def shown(client: Client) -> dict[str, Any]:
    """What a person sees of the labels of all posts."""
    posts = client.get(f"{SESSION}/posts", params={"count": 200}).json()["posts"]
    return {post["id"]: (post["labels"], post["answers"], post["note"]) for post in posts}


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A project of thirty posts in random order, with labels, notes, answers, an undo, a look and a decision."""
    monkeypatch.setattr(Worker, "call", lambda worker, function, *arguments: function(*arguments))
    one = Served(tmp_path / "projects")
    one.create(strategy="random", questions=[{"key": "tone", "text": "Kind?", "kind": "yes_no"}])
    one.upload()
    one.start()
    ada, bo = one.person("Ada"), one.person("Bo")
    for post in ada.sync(annotator="Ada", key=KEY, count=5)["next"]:
        label(ada, "Ada", post["id"], "relevant", answers={"tone": "yes"}, note="so it is")
    for post in bo.sync(annotator="Bo", key=KEY, count=3)["next"]:
        label(bo, "Bo", post["id"], "not")
    ada.sync(ada.action("undo"), annotator="Ada", key=KEY)
    bo.get(f"{SESSION}/posts", params={"count": 50})
    one.projects.get(KEY).session.resolve("Max", post["id"], "not")
    one.owner.get(f"{SESSION}/export", params={"annotator": "Max"})  # a look, before those that are compared
    yield one
    one.projects.close()


def test_what_people_did_stays_and_samples_begin_again(served: Served) -> None:
    ada, folder = served.person("Ada"), served.root / KEY
    version = ada.get(f"{SESSION}/version").text
    about, posts, rows = ada.get(SESSION).json(), shown(ada), exported(served)
    status, review = (served.owner.get(f"{SESSION}/{one}").json() for one in ("status", "agreement"))
    before = events(folder / "session")
    assert any(event.at_random for event in before if event.kind == "label")
    assert "randomly sampled posts" in status["estimate"]["basis"]
    details = add(served, lines(FURTHER))
    assert (details["error"], details["posts"], details["labeled"]) == ("", 45, status["labeled"])
    no_sample: dict[str, Any] = {"at_random": False, "frame": None, "probability": None, "strategy": None}
    assert events(folder / "session") == [
        replace(event, **no_sample) if event.strategy == "random" else event for event in before
    ]
    assert exported(served) == rows
    assert served.owner.get(f"{SESSION}/agreement").json() == review
    assert "no random sample yet" in details["estimate"]["basis"]
    after = ada.get(SESSION).json()
    assert (after["uid"], after["posts"]) == (about["uid"], 45)
    assert ada.get(f"{SESSION}/version").text != version
    assert {id: one for id, one in shown(ada).items() if id in posts} == posts
    assert label(ada, "Ada", "p44", "not")["post"] == "p44"
    for post in ada.sync(annotator="Ada", key=KEY, count=20)["next"][-5:]:
        label(ada, "Ada", post["id"], "not")
    basis = served.owner.get(f"{SESSION}/status").json()["estimate"]["basis"]
    assert "of 5 randomly sampled posts are relevant" in basis
    # The session before is kept as it was, and the server finds the new one when it starts again.
    assert events(folder / "session-before-1") == before
    served.projects.close()
    again = Served(served.root)
    assert again.owner.get(f"/api/projects/{KEY}").json()["posts"] == 45
    assert sorted(path.name for path in folder.iterdir()) == [
        "articles.jsonl", "project.json", "session", "session-before-1", "uploads",
    ]  # fmt: skip
    again.projects.close()


def test_a_label_that_comes_while_posts_are_scored_is_kept(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = served.person("Ada")
    free = next(row["post_id"] for row in exported(served) if row["label"] is None)

    def call(worker: Worker, function: Any, *arguments: Any) -> Any:
        answer = function(*arguments)
        label(ada, "Ada", free, "relevant", note="meanwhile")
        served.owner.post(f"/api/projects/{KEY}", json={"blind": True})
        return answer

    monkeypatch.setattr(Worker, "call", call)
    assert add(served, lines(FURTHER))["posts"] == 45
    last = events(served.root / KEY / "session")[-1]
    assert (last.kind, last.post, last.note) == ("label", free, "meanwhile")
    assert served.projects.get(KEY).session.settings.blind


def test_files_and_posts_of_the_same_name_do_not_replace_the_former_ones(served: Served) -> None:
    same = [replace(FURTHER[0], id="p0"), ALL[1], *FURTHER]
    details = add(served, lines(same))
    assert details["notes"][-1] == (
        "2 of 17 posts left out: their ids are in the project already, 1 of them with another text"
    )
    uploads = served.root / KEY / "uploads"
    assert {path.name: path.read_bytes() for path in uploads.iterdir()} == {
        "posts.jsonl": POSTS, "2-posts.jsonl": lines(same),
    }  # fmt: skip
    assert {post.id: post.text for post in served.projects.get(KEY).session.posts} == {
        post.id: post.text for post in ALL
    }
    assert served.owner.get(f"/api/uploads/{PLACE}/files").json() == []
    assert "no new post: 15 of 15 posts left out" in add(served, lines(FURTHER))["error"]
    assert add(served, lines([Post("q", "Otters once more")]))["posts"] == 46
    assert (served.root / KEY / "session-before-2").is_dir()


def killed(*_: Any, **__: Any) -> Any:
    raise InterruptedWorkError("killed")


@pytest.mark.parametrize(
    ("content", "where", "error"),
    [
        (b'{"id": "n", "text": "otters"}\nnot json\n', None, "posts.jsonl, line 2"),
        (lines(FURTHER), (Worker, "call"), "was interrupted"),
        (lines(FURTHER), (SessionFile, "copy_to"), "interrupted"),
        (lines(FURTHER), (SessionFile, "replace_contents"), "interrupted"),
    ],
)
def test_after_a_failure_all_is_as_it_was(
    served: Served, monkeypatch: pytest.MonkeyPatch, content: bytes, where: tuple[Any, str] | None, error: str
) -> None:
    ada, folder = served.person("Ada"), served.root / KEY
    before, files = events(folder / "session"), sorted(folder.rglob("*[!ml]"))
    settings = (folder / "project.json").read_bytes()
    if where:
        monkeypatch.setattr(*where, killed)
    details = add(served, content)
    assert error in details["error"]
    assert (details["posts"], details["state"]) == (30, "labeling")
    assert events(folder / "session") == before
    assert [path for path in sorted(folder.rglob("*[!ml]")) if path.suffix != ".sqlite-shm"] == files
    assert (folder / "project.json").read_bytes() == settings
    assert "error" not in label(ada, "Ada", "p3", "relevant")
    assert [one["name"] for one in served.owner.get(f"/api/uploads/{PLACE}/files").json()] == ["posts.jsonl"]
    monkeypatch.undo()
    monkeypatch.setattr(Worker, "call", lambda worker, function, *arguments: function(*arguments))
    assert add(served, lines(FURTHER))["posts"] == 45  # the other way than before


def test_files_that_cannot_be_moved_do_not_take_the_posts_back(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PostFiles, "move_to", killed)
    details = add(served, lines(FURTHER))
    assert (details["posts"], "interrupted" in details["error"]) == (45, True)
    assert "error" not in label(served.person("Ada"), "Ada", "p44", "relevant")


def test_one_addition_at_a_time_by_the_owner_alone(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    path, body = f"/api/projects/{KEY}", {"files": PLACE}
    assert served.person("Ada").post(f"{path}/posts", json=body).status_code == 403
    assert "no posts" in served.owner.post(f"{path}/posts", json=body).json()["error"]
    answers: list[dict[str, str]] = []

    def call(worker: Worker, function: Any, *arguments: Any) -> Any:
        requests = (("POST", f"{path}/posts"), ("POST", f"{path}/start"), ("DELETE", path))
        answers.extend(served.owner.request(method, where, json=body).json() for method, where in requests)
        return function(*arguments)

    monkeypatch.setattr(Worker, "call", call)
    assert add(served, lines(FURTHER))["posts"] == 45
    assert [one["error"] for one in answers] == [
        "this project is being prepared",
        "this project is being prepared",
        "the posts are being read; remove the project afterwards",
    ]
    served.create(title="Empty")
    served.owner.post(f"/api/uploads/{PLACE}/files", params={"name": "a.jsonl"}, content=POSTS)
    refused = served.owner.post("/api/projects/empty/posts", json=body).json()["error"]
    assert refused.startswith("people cannot label yet")


def test_only_posts_within_the_conditions_of_the_project_are_added(served: Served) -> None:
    project = served.projects.project(KEY)
    project.change(languages=("en",))
    posts = [Post("x", "Otters of the weir", extra={"lang": "de"}), Post("y", "Otters", extra={"lang": "en"})]
    details = add(served, rows_of(posts).encode())
    assert (details["posts"], details["notes"][-1]) == (
        31,
        "1 of 2 posts are within --since, --until and --lang",
    )
    with Session.open(project.session_folder) as session:
        assert session.posts[-1].id == "y"
