"""Projects over HTTP: creation, uploads, people and their tokens, review, export and import."""

from __future__ import annotations

import csv
import io
import json
import shlex
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from linker.annotation.project.post_files import safe_name
from linker.annotation.project.project_folder import ProjectsFolder, key_of
from linker.annotation.session.session import Session
from linker.annotation.worker import Worker
from linker.data.types import Post
from linker.ranking.ranker import load
from linker.web.api.projects import Projects
from linker.web.app import Served as Contents
from linker.web.app import create_app
from linker.web.server.access import Access
from linker.web.server.security import MAX_UPLOAD
from tests.helpers.forked import run_linker
from tests.helpers.pdfs import pdf
from tests.helpers.sessions import events_in
from tests.web.conftest import TEXT, Client, make_posts, rows_of

LABELS = [
    {"name": "Relevant", "value": "relevant"},
    {"name": "Not relevant", "value": "not"},
    {"name": "Unsure", "value": "skip"},
]
NEW = {
    "title": "Otters: näher & closer",
    "articles": [TEXT],
    "question": "Is it about otters?",
    "guidelines": "# What counts",
    "model": "bm25",
    "people": ["Ada", "Bo"],
    "labels_per_post": 2,
    "labels": LABELS,
}
KEY = "otters-naher-closer"
POSTS = rows_of([replace(post, created_at=None, extra={"lang": "en"}) for post in make_posts()]).encode()


class Served:
    """A server of projects, with the client of its owner."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.projects = Projects(ProjectsFolder(root))
        self.app = create_app(Contents(projects=self.projects))
        self.owner = Client(self.app)

    def create(self, **values: Any) -> dict[str, Any]:
        answer = self.owner.post("/api/projects", json={**NEW, **values})
        assert answer.status_code == 200, answer.text
        created: dict[str, Any] = answer.json()
        return created

    def upload(self, key: str = KEY, name: str = "posts.jsonl", content: bytes = POSTS) -> Any:
        return self.owner.post(f"/api/projects/{key}/files", params={"name": name}, content=content)

    def start(self, key: str = KEY) -> dict[str, Any]:
        """Begin, and wait for the end."""
        assert self.owner.post(f"/api/projects/{key}/start").status_code == 200
        return self.settled(key)

    def settled(self, key: str = KEY) -> dict[str, Any]:
        """Wait for the end of what is done to a project."""
        for _ in range(1500):
            details: dict[str, Any] = self.owner.get(f"/api/projects/{key}").json()
            if not details["step"]:
                return details
            time.sleep(0.02)
        raise AssertionError(details)

    def person(self, name: str, key: str = KEY) -> Client:
        """The client of a person, with their token."""
        people = self.owner.get(f"/api/projects/{key}").json()["people"]
        client = Client(self.app)
        token = next(one["token"] for one in people if one["name"] == name)
        client.headers["Authorization"] = f"Bearer {token}"
        return client


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """Without a process, which takes seconds to start."""
    monkeypatch.setattr(Worker, "call", lambda worker, function, *arguments: function(*arguments))
    one = Served(tmp_path / "projects")
    yield one
    one.projects.close()


@pytest.fixture
def ready(served: Served) -> Served:
    """A project of thirty posts, each of which two people label."""
    served.create()
    assert served.upload().status_code == 200
    assert served.start()["state"] == "labeling"
    return served


def label(client: Client, name: str, post: str, value: str, **more: Any) -> dict[str, Any]:
    action = client.action("label", post, value, annotator=name, id=f"of-{name}-{post}-{value}", **more)
    answer = client.sync(action, annotator=name, key=KEY)
    done: dict[str, Any] = answer["done"][0]
    return done


def test_a_project_is_created_labeled_and_listed(served: Served) -> None:
    assert served.owner.get("/api/projects").json()["projects"] == []
    created = served.create()
    assert (created["key"], created["state"]) == (KEY, "draft")
    assert (
        served.owner.post(f"/api/projects/{KEY}/start").json()["error"]
        == "no posts; drop a file of posts first"
    )
    assert served.upload().json()["name"] == "posts.jsonl"
    details = served.start()
    assert (details["state"], details["posts"], details["error"]) == ("labeling", 30, "")
    assert details["estimate"]["known"] is False
    about = served.owner.get(f"/api/sessions/{KEY}").json()
    assert about["question"] == "Is it about otters?"
    assert about["labels"] == LABELS
    assert about["people"] == ["Ada", "Bo"]
    listed = served.owner.get("/api/projects").json()["projects"]
    assert [one["title"] for one in listed] == ["Otters: näher & closer"]
    assert served.create()["key"] == f"{KEY}-2"


def test_all_that_is_wrong_is_reported_at_once_and_nothing_is_created(served: Served) -> None:
    wrong = {"title": " ", "articles": [], "people": ["Ada", "ada"], "labels": LABELS[:1], "model": "/etc"}
    body = {**NEW, **wrong}
    answer = served.owner.post("/api/projects", json=body)
    assert answer.status_code == 400
    error = answer.json()["error"]
    for part in (
        "title: is empty",
        "article: none was given",
        "a name is given twice",
        "label set: no label",
        "model '/etc'",
    ):
        assert part in error
    assert not served.root.exists() or not ProjectsFolder(served.root).project_keys()
    no_people = served.owner.post("/api/projects", json={**NEW, "people": []})
    assert "2 people per post, but there are 0" in no_people.json()["error"]


def test_bad_posts_are_named_by_file_and_line_and_can_be_replaced(served: Served) -> None:
    served.create()
    served.upload(content=b'{"id": "1", "text": "otters"}\nnot json\n')
    details = served.start()
    assert details["state"] == "draft"
    assert "posts.jsonl, line 2" in details["error"] or "posts.jsonl:2" in details["error"], details["error"]
    assert details["error"].startswith("1 bad line; correct it:")  # no option of a command
    assert str(served.root) not in details["error"]
    refused = served.upload(name="posts.docx", content=b"PK\x03\x04word/document.xml").json()["error"]
    assert refused.startswith("posts.docx: not an Excel workbook")
    assert [file.name for file in (served.root / KEY / "uploads").iterdir()] == ["posts.jsonl"]
    served.upload()
    assert served.start()["state"] == "labeling"
    assert "reload the page to add posts" in served.upload().json()["error"]


def test_the_page_says_how_files_were_read(served: Served) -> None:
    served.create()
    lines = POSTS.splitlines(keepends=True)
    served.upload(content=POSTS + lines[0] + lines[1] + b"\n")
    details = served.start()
    assert details["posts"] == 30
    assert details["notes"] == ["posts.jsonl: 30 posts of 33 rows; 2 duplicates, 1 blank line left out"]


def test_posts_outside_of_conditions_are_left_out_and_counted(served: Served) -> None:
    wrong = served.owner.post("/api/projects", json={**NEW, "since": "soonish", "languages": ["klingonese"]})
    assert "soonish" in wrong.json()["error"]
    served.create(since="2031-03-05", until="2031-03-11", languages=["English"])
    served.upload(content=rows_of(make_posts()).encode())
    details = served.start()
    assert details["posts"] == 3  # p5, p7, p9
    assert details["notes"][-1] == "3 of 30 posts are within --since, --until and --lang"
    assert "--posts labels.csv" in details["commands"]["rank"]  # which has these posts alone
    assert ProjectsFolder(served.root).open(KEY).settings.filter.languages == ("en",)


def test_posts_have_links_and_context(served: Served) -> None:
    served.create(labels_per_post=1)
    posts = [
        Post("1", "Otters at the weir", extra={"url": "https://social.example/1"}),
        Post("2", "Nobody believes a word of that", extra={"reply_to": "1"}),
    ]
    served.upload(content=rows_of(posts).encode())
    assert served.start()["state"] == "labeling"
    shown = {post["id"]: post for post in served.owner.sync(key=KEY, count=4)["next"]}
    original = {"text": "Otters at the weir", "url": "https://social.example/1"}
    assert shown["2"]["context"] == [{"relation": "In reply to", **original}]


@pytest.mark.parametrize(
    "name",
    [
        "../../evil.jsonl",
        "..\\..\\evil.jsonl",
        "/etc/evil.jsonl",
        "a/../evil.jsonl",
        ".evil.jsonl",
        "evil.jsonl\0.exe",
    ],
)
def test_no_name_of_an_upload_leaves_its_folder(served: Served, name: str) -> None:
    served.create()
    before = set(served.root.parent.rglob("*"))
    served.upload(name=name)
    new = {path for path in served.root.parent.rglob("*") if path.is_file()} - before
    assert all(path.parent == served.root / KEY / "uploads" for path in new)
    assert "/" not in safe_name(name)
    assert not safe_name(name).startswith(".")


@pytest.mark.parametrize("key", ["..", "%2e%2e", ".secret", "a%2fb", "../otters", "UPPER", "-x"])
def test_no_key_of_a_project_leaves_the_folder(ready: Served, key: str) -> None:
    assert ready.owner.get(f"/api/projects/{key}/").status_code in (307, 404)
    assert ready.owner.post(f"/api/projects/{key}/start").status_code in (404, 405)
    assert key_of(f"../{key}/…").strip("-").replace("-", "").isalnum()


def test_a_person_labels_in_one_project_under_one_name_and_sees_nothing_else(ready: Served) -> None:
    ready.create(title="Another")
    ada = ready.person("Ada")
    about = ada.get("/api/about").json()
    assert (about["name"], about["owner"], [one["key"] for one in about["sessions"]]) == ("Ada", False, [KEY])
    assert "sources" not in about
    session = f"/api/sessions/{KEY}"
    project, all_versions = f"/api/projects/{KEY}", "/api/projects/-/version"
    closed = ("/api/projects", project, f"{session}/agreement", f"{session}/export", "/api/sessions/another")
    for path in (*closed, all_versions, "/api/sessions/another/version"):
        assert ada.get(path).status_code == 403, path
    for path in (
        "/api/projects",
        project,
        f"{session}/resolve",
        f"{session}/import",
        "/api/rank",
        f"{project}/files",
    ):
        assert ada.post(path, json={}).status_code == 403, path
    assert "error" not in label(ada, "Ada", "p3", "relevant")
    assert "this link belongs to Ada" in label(ada, "Bo", "p3", "not")["error"]
    # Whoever the request names, suggestions and posts are Ada's.
    listed = ada.get(f"{session}/posts", params={"annotator": "Bo", "label": "relevant"}).json()
    assert [post["id"] for post in listed["posts"]] == ["p3"]


def test_labels_of_others_are_hidden_until_ones_own(ready: Served) -> None:
    ada, bo = ready.person("Ada"), ready.person("Bo")
    label(ada, "Ada", "p3", "relevant", note="a secret")
    assert bo.sync(annotator="Bo", key=KEY)["next"][0]["id"] == "p3"  # the second label is wanted first
    for response in (
        bo.get(f"/api/sessions/{KEY}/posts", params={"count": 200}),
        bo.get(f"/api/sessions/{KEY}"),
    ):
        assert "secret" not in response.text
    assert all(
        not post["labels"]
        for post in bo.get(f"/api/sessions/{KEY}/posts", params={"count": 200}).json()["posts"]
    )
    # Not in the owner's review either, as long as somebody is to label the post.
    review = ready.owner.get(f"/api/sessions/{KEY}/agreement", params={"annotator": "Olga"}).json()
    assert (review["total"], review["disagreements"]) == (0, [])
    # The figures of all would tell Ada's labels one by one: both get the same posts in the same order.
    for status in (bo.get(f"/api/sessions/{KEY}/status").json(), bo.sync(annotator="Bo", key=KEY)["status"]):
        assert (status["relevant"], status["labeled"], status["curve"]) == (0, 0, [])
        assert "last relevant post" not in status["decision"]["reason"]
    assert ada.get(f"/api/sessions/{KEY}/status").json()["curve"] == [[1, 1]]
    assert ready.owner.get(f"/api/sessions/{KEY}/status").json()["relevant"] == 1
    label(bo, "Bo", "p3", "not")
    shown = bo.get(f"/api/sessions/{KEY}/posts", params={"label": "not"}).json()["posts"][0]
    assert sorted(one[0] for one in shown["labels"]) == ["Ada", "Bo"]
    again = bo.get(f"/api/sessions/{KEY}/posts", params={"ids": ["p3", "p4"], "count": 200}).json()["posts"]
    assert {post["id"]: len(post["labels"]) for post in again} == {"p3": 2, "p4": 0}


def test_a_version_changes_with_labels_and_settings_alone(ready: Served) -> None:
    paths = (f"/api/sessions/{KEY}/version", "/api/projects/-/version")
    seen = {ready.owner.get(path).text for path in paths}
    ready.owner.get(f"/api/projects/{KEY}")
    for change in (
        lambda: None,
        lambda: label(ready.owner, "Ada", "p3", "relevant"),
        lambda: ready.owner.post(f"/api/projects/{KEY}", json={"question": "?"}),
    ):
        change()
        seen |= {ready.owner.get(path).text for path in paths}
    assert len(seen) == 2 * 3


def test_a_blind_project_sends_no_scores_and_no_marks_and_draws_at_random(served: Served) -> None:
    served.create(blind=True, strategy="random", labels_per_post=1)
    served.upload()
    assert served.start()["blind"]
    ada, path = served.person("Ada"), f"/api/sessions/{KEY}"
    hidden: dict[str, Any] = {"score": None, "position": 0, "random": False, "words": []}
    for one in (ada, served.owner):
        for post in one.sync(annotator="Ada", key=KEY, count=20)["next"]:
            assert hidden.items() <= post.items()
            assert not any(marked for _, marked in post["parts"])
        posts = one.get(f"{path}/posts", params={"annotator": "Ada", "count": 200}).json()["posts"]
        assert "score" not in posts[0]
    likeliest = [int(post["id"][1:]) % 3 == 0 for post in posts]
    assert 1 <= sum(likeliest[:10]) <= 9  # in no order of relevance
    assert one.get(path).json()["meaning"] == ""
    for post in ada.sync(annotator="Ada", key=KEY, count=20)["next"]:
        label(ada, "Ada", post["id"], "relevant" if int(post["id"][1:]) % 3 == 0 else "not")
    status = served.owner.get(f"{path}/status").json()
    assert "of 20 randomly sampled posts are relevant" in status["estimate"]["basis"]
    exported = served.owner.get(f"{path}/export", params={"format": "jsonl"}).text.splitlines()
    labels = [row for row in map(json.loads, exported) if row["label"]]
    assert {(row["sample"], row["blind"]) for row in labels} == {("random", True)}

    served.owner.post(f"/api/projects/{KEY}", json={"blind": False, "strategy": "active_learning"})
    (post,) = ada.sync(annotator="Ada", key=KEY, count=1)["next"]
    assert post["score"] is not None
    label(ada, "Ada", post["id"], "not")
    rows = [
        json.loads(row)
        for row in served.owner.get(f"{path}/export", params={"format": "jsonl"}).text.splitlines()
    ]
    assert [row.get("blind", False) for row in rows if row["post_id"] == post["id"]] == [False]
    served.projects.close()  # the settings are those of the session as well, for commands on it
    with Session.open(served.root / KEY / "session") as session:
        assert (session.settings.blind, session.settings.strategy["type"]) == (False, "active_learning")


def test_disagreements_are_decided_once(ready: Served) -> None:
    label(ready.person("Ada"), "Ada", "p3", "relevant")
    label(ready.person("Bo"), "Bo", "p3", "not", note="no otter")
    path = f"/api/sessions/{KEY}"
    unnamed = ready.owner.get(f"{path}/agreement").json()  # a look at labels has a name
    assert (unnamed["total"], unnamed["undecided"], unnamed["disagreements"]) == (1, 1, [])
    found = ready.owner.get(f"{path}/agreement", params={"annotator": "Cy"}).json()
    assert (found["posts"], found["total"]) == (1, 1)
    dispute = found["disagreements"][0]
    assert dispute["labels"] == [
        ["Ada", "relevant", "Relevant", ""],
        ["Bo", "not", "Not relevant", "no otter"],
    ]
    assert (dispute["resolved"], dispute["holds"]) == (None, True)
    body = {"annotator": "Cy", "post": "p3", "value": "not", "id": "resolve-0001"}
    for _ in range(2):
        decided = ready.owner.post(f"{path}/resolve", json=body).json()["disagreements"][0]
        assert (decided["resolved"], decided["holds"]) == ({"value": "not", "choice": None}, False)
    rows = list(
        csv.DictReader(
            io.StringIO(ready.owner.get(f"{path}/export", params={"resolved": True}).text.lstrip("\ufeff"))
        )
    )
    assert {row["post_id"]: row["label"] for row in rows if row["label"]} == {"p3": "not"}
    assert [event.kind for event in events_in(ready.root / KEY / "session")].count("resolve") == 1


@pytest.mark.parametrize("format", ["csv", "label_studio"])  # a single file, and several
def test_labels_are_exported_and_imported_again(ready: Served, format: str) -> None:
    label(ready.person("Ada"), "Ada", "p3", "relevant")
    path = f"/api/sessions/{KEY}"
    exported = ready.owner.get(f"{path}/export", params={"format": format})
    assert exported.status_code == 200
    assert "attachment" in exported.headers["content-disposition"]
    if exported.headers["content-disposition"].endswith('.zip"'):
        return  # the labels, and a file of settings for the other tool
    answer = ready.owner.post(
        f"{path}/import", params={"name": "x", "format": format}, content=exported.content
    )
    assert (answer.json()["read"], answer.json()["new"]) == (1, 0), answer.text


def test_bad_labels_are_named_by_file_and_line_and_none_is_imported(ready: Served) -> None:
    path, query = f"/api/sessions/{KEY}", {"name": "C:\\mine\\old.csv", "annotator": "Cy"}
    for content, problem in (
        (b"post_id,label\np1,not\np2,hardly\n", 'old.csv: 1 label is unknown in the column "label"'),
        (b"post_id,label\ngone,not\n", "old.csv: none of 1 labels belongs to a post"),
        (b"post,label\n", "old.csv: "),
    ):
        answer = ready.owner.post(f"{path}/import", params=query, content=content)
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(problem)
    assert ready.owner.get(f"{path}/status").json()["labeled"] == 0
    unknown = ready.owner.post(f"{path}/import", params={**query, "format": "docx"}, content=b"")
    assert "docx" in unknown.json()["error"]


def test_an_upload_that_is_too_large_is_refused_before_it_comes(served: Served) -> None:
    served.create()
    path = f"/api/projects/{KEY}/files?name=posts.jsonl"
    headers = {"Content-Length": str(MAX_UPLOAD + 1)}
    refused = served.owner.post(path, content=b"", headers=headers)
    assert (refused.status_code, refused.json()) == (413, {"error": "more than 1,024 MiB"})


def test_labels_of_machines_are_compared_and_never_counted(ready: Served) -> None:
    label(ready.person("Ada"), "Ada", "p3", "relevant")
    path = f"/api/sessions/{KEY}"
    before = ready.owner.get(f"{path}/status").json()
    content = b"post_id,label\np3,relevant\np4,not\n"
    query: dict[str, Any] = {"name": "model.csv", "annotator": "some-llm", "machine": True}
    imported = ready.owner.post(f"{path}/import", params=query, content=content).json()
    assert (imported["read"], imported["new"]) == (2, 2)
    assert ready.owner.get(f"{path}/status").json() == before
    (machine,) = ready.owner.get(f"{path}/agreement").json()["machines"]
    assert (machine["machine"], machine["labels"], machine["posts"]) == ("some-llm", 2, 1)
    assert "is the name of a machine" in label(ready.owner, "some-llm", "p5", "not")["error"]
    as_ada = ready.owner.post(f"{path}/import", params={**query, "annotator": "Ada"}, content=content)
    assert "'Ada' is a person" in as_ada.json()["error"]


def test_settings_change_while_people_label_and_a_removed_link_is_void(ready: Served) -> None:
    ada, bo = ready.person("Ada"), ready.person("Bo")
    label(bo, "Bo", "p3", "not")
    change = {"question": "Otters?", "guidelines": "*New*", "people": ["Ada", "Cy"]}
    details = ready.owner.post(f"/api/projects/{KEY}", json=change).json()
    assert [one["name"] for one in details["people"]] == ["Ada", "Cy"]
    assert ada.get(f"/api/sessions/{KEY}").json()["question"] == "Otters?"
    protected = Client(create_app(Contents(projects=ready.projects), Access(token="a-token-of-some-length")))
    protected.headers["Authorization"] = bo.headers["Authorization"]
    assert protected.get("/api/about").status_code == 401
    assert bo.get("/api/about").status_code == 401  # without a token of the server, too
    assert (
        "2 people per post"
        in ready.owner.post(f"/api/projects/{KEY}", json={"people": ["Ada"]}).json()["error"]
    )
    assert ready.owner.get(f"/api/sessions/{KEY}/status").json()["labeled"] == 1
    again = ready.owner.post(f"/api/projects/{KEY}", json={"people": ["Ada", "Bo"]}).json()
    assert f"Bearer {again['people'][1]['token']}" != bo.headers["Authorization"]


def test_the_server_starts_again_with_its_projects_and_tokens(ready: Served) -> None:
    label(ready.person("Ada"), "Ada", "p3", "relevant")
    tokens = [one["token"] for one in ready.owner.get(f"/api/projects/{KEY}").json()["people"]]
    ready.projects.close()
    again = Served(ready.root)
    try:
        details = again.owner.get(f"/api/projects/{KEY}").json()
        assert (details["labeled"], details["relevant"]) == (1, 1)
        assert [one["token"] for one in details["people"]] == tokens
        assert (ready.root / ".secret").stat().st_mode & 0o077 == 0
    finally:
        again.projects.close()


def test_a_server_token_protects_the_owner_and_logs_people_in(ready: Served) -> None:
    app = create_app(Contents(projects=ready.projects), Access(token="a-token-of-some-length"))
    token = ready.person("Ada").headers["Authorization"].removeprefix("Bearer ")
    client = Client(app)
    assert client.get("/api/projects").status_code == 401
    assert client.post("/api/login", json={"token": "wrong"}).status_code == 401
    assert client.post("/api/login", json={"token": token}).status_code == 200
    assert client.get("/api/about").json()["name"] == "Ada"
    assert client.get("/api/projects").status_code == 403
    assert client.post("/api/logout").status_code == 200
    assert client.get("/api/about").status_code == 401
    client.post("/api/login", json={"token": "a-token-of-some-length"})
    assert client.get("/api/projects").status_code == 200


def test_a_damaged_project_is_listed_with_what_is_wrong(ready: Served) -> None:
    ready.projects.close()
    path = ready.root / KEY / "project.json"
    path.write_text(path.read_text().replace('"labels_per_post": 2', '"labels_per_post": 7'))
    again = Served(ready.root)
    entry = again.owner.get("/api/projects").json()["projects"][0]
    assert entry["state"] == "broken"
    assert "7 people per post" in entry["error"]
    assert again.owner.delete(f"/api/projects/{KEY}").json() == {"folder": str(ready.root / ".removed" / KEY)}
    again.projects.close()


def test_a_process_scores_the_posts(tmp_path: Path) -> None:
    served = Served(tmp_path / "projects")
    served.create(model="tfidf", labels_per_post=1)
    served.upload()
    details = served.start()
    assert (details["state"], details["posts"]) == ("labeling", 30)
    assert served.owner.get(f"/api/sessions/{KEY}").json()["model"] == "tfidf"
    assert "people can label already" in served.owner.post(f"/api/projects/{KEY}/start").json()["error"]
    assert "error" not in label(served.owner, "Ada", "p3", "relevant")
    served.projects.close()


def test_the_labels_give_a_threshold_and_a_file_of_the_posts_above_it(ready: Served) -> None:
    session = ready.projects.get(KEY).session
    path = f"/api/sessions/{KEY}/selection"
    assert "no label" in ready.owner.get(path).json()["error"]
    for post in session.posts:
        session.label("Ada", post.id, "relevant" if "otters" in post.text else "not")
    records = {post.id: "otters" in post.text for post in session.posts}
    expected = load("bm25").rank(list(session.articles), session.posts, labels=records, recall=0.9)
    found = ready.owner.get(path, params={"by": "recall", "share": 0.9}).json()
    assert expected.threshold is not None
    assert (found["kept"], found["total"]) == (len(expected), len(session.posts))
    assert found["sentence"].startswith(f"score >= {expected.threshold.score} keeps {len(expected)} posts")
    table = ready.owner.get(f"{path}/csv", params={"by": "recall", "share": 0.9})
    assert "otters-naher-closer-relevant.csv" in table.headers["content-disposition"]
    rows = csv.DictReader(table.content.decode("utf-8-sig").splitlines())
    assert [row["id"] for row in rows] == [ranked.post.id for ranked in expected]
    assert ready.owner.get(f"{path}/xlsx").content.startswith(b"PK")
    assert ready.owner.get(f"{path}/exe").status_code == 422
    assert ready.person("Ada").get(path).status_code == 403


def test_files_are_read_as_people_choose(served: Served) -> None:
    rows = "".join(f"{i};Für Otter {i};0{i}/02/2024\n" for i in range(1, 4))
    place, path = f"/api/uploads/{'0a' * 16}/files", f"/api/projects/{KEY}/files"
    query, content = {"name": "wörk/A 1.csv"}, f"Nr;Was;Wann\n{rows}".encode("cp1252")
    found = served.owner.post(place, params=query, content=content).json()
    columns = ["Nr", "Was", "Wann"]
    assert (found["name"], found["encoding"], found["columns"]) == ("A_1.csv", "windows-1252", columns)
    assert 'column "text" is missing' in found["error"]
    choice: dict[str, Any] = {"text": "Was", "created_at": "Wann", "id": "Nr"}
    found = served.owner.post(f"{place}/A_1.csv", json=choice).json()
    assert (found["error"], found["count"], found["order"], found["posts"][0][2]) == ("", 3, "unknown", None)
    served.create(files="0a" * 16, labels_per_post=1)  # the files and the choice move along
    choice["day_first"] = True
    found = served.owner.post(f"{path}/A_1.csv", json=choice).json()
    assert found["posts"][1] == ["2", "Für Otter 2", "2024-02-02T00:00:00+00:00", None]
    served.upload()
    assert served.owner.delete(f"{path}/posts.jsonl").status_code == 200
    assert served.owner.delete(f"{path}/posts.jsonl").status_code == 400
    assert served.owner.get(place).json() == []
    assert "not a key" in served.owner.get("/api/uploads/x/files").json()["error"]
    settings = served.root / KEY / "project.json"
    written = json.loads(settings.read_text())
    assert written["reading"] == {"A_1.csv": choice}
    again = Served(served.root)
    details = again.start()
    assert details["posts"] == 3
    listed = again.owner.get(f"/api/sessions/{KEY}/posts").json()["posts"]
    assert {post["id"]: post["created"][:10] for post in listed}["3"] == "2024-02-03"
    label(again.owner, "Ada", "1", "relevant")
    label(again.owner, "Ada", "2", "not")
    for command in details["commands"].values():  # which read the same posts by the same ids
        done = run_linker(served.root, *shlex.split(command.partition(" --threshold")[0])[1:])
    assert (done.returncode, "Für Otter 3" in done.stdout) == (0, True), done.stderr
    again.projects.close()
    del written["reading"]
    settings.write_text(json.dumps(written))  # as before there were choices
    assert ProjectsFolder(served.root).open(KEY).settings.reading == {}


def test_articles_of_files_are_read_and_nothing_else_is(served: Served, tmp_path: Path) -> None:
    def read(name: str, content: bytes) -> Any:
        return served.owner.post("/api/articles", params={"name": name}, content=content).json()

    lines = [f"Otters were filmed below the weir of Marrow {i} times, said the keepers." for i in range(9)]
    (article,) = read("a.pdf", pdf(lines, title="Otters return"))
    assert (article["title"], article["text"]) == ("Otters return", "\n".join(lines))
    table = "title,text,published,id\n" + "".join(f"T{i},Otters {i},2031-03-0{i},a{i}\n" for i in (1, 2))
    assert [one["published"][:10] for one in read("b.csv", table.encode())] == ["2031-03-01", "2031-03-02"]
    many = json.dumps([{"title": "T", "text": "x"}] * 21).encode()
    assert read("c.json", many) == {"error": "c.json: more than 20 articles"}
    assert read("../d.docx", b"PK")["error"].startswith("d.docx: a word-processor document; save it as PDF")
    assert "not an address of the public internet" in read("e.txt", b"http://127.0.0.1:1/a")["error"]
    (article,) = read("f.txt", str(tmp_path).encode())
    assert article["text"] == str(tmp_path)


def test_a_removed_project_lies_in_a_folder_beside_the_others(ready: Served) -> None:
    ada = ready.person("Ada")
    label(ada, "Ada", "p3", "relevant")
    assert ada.delete(f"/api/projects/{KEY}").status_code == 403
    folder = Path(ready.owner.delete(f"/api/projects/{KEY}").json()["folder"])
    assert folder == ready.root / ".removed" / KEY
    assert ready.owner.get("/api/projects").json()["projects"] == []
    assert ready.owner.get(f"/api/sessions/{KEY}").status_code == 404
    assert ada.get("/api/about").status_code == 401
    assert ready.owner.delete(f"/api/projects/{KEY}").status_code == 400
    assert ready.create()["key"] == f"{KEY}-2"
    folder.rename(ready.root / KEY)  # and it is back
    assert ready.owner.get(f"/api/projects/{KEY}").json()["labeled"] == 1
