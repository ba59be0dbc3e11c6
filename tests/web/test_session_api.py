"""What the server does with labels, lists and articles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from linker.annotation.session.events import annotator_name
from linker.annotation.session.session import Session
from linker.common.errors import LinkerError, RefusedError
from linker.data.types import Post
from linker.web.api.views import status_view
from linker.web.app import Served, create_app
from tests.helpers.sessions import events_in
from tests.web.conftest import Client


def events(session: Session) -> list[tuple[str, str]]:
    """What was done: (kind, post), without assignments."""
    return [(event.kind, event.post) for event in events_in(session.folder)]


def test_the_page_gets_all_that_it_shows(client: Client, session: Session) -> None:
    about = client.get("/api/about").json()
    assert about["sessions"] == [{"key": "otters", "title": "Otters return to the river", "posts": 30}]
    details = client.get("/api/sessions/otters").json()
    assert details["articles"][0]["text"].startswith("Two otters")
    assert details["languages"] == ["de", "en"]
    assert details["meaning"].startswith("score: 0 to 100, how many words post and article share")
    assert [time[:10] for time in details["times"]] == ["2031-03-01", "2031-03-28"]
    answer = client.sync()
    first = answer["next"][0]
    assert [text for text, marked in first["parts"] if marked]
    assert "otters" in dict(first["words"])
    assert first["created"].startswith("2031-03-")
    assert answer["status"]["labeled"] == 0


def test_suggestions_stay_until_they_are_labeled(client: Client) -> None:
    first = [one["id"] for one in client.sync()["next"]]
    assert [one["id"] for one in client.sync()["next"]] == first
    answer = client.sync(client.action("label", first[0], "relevant"))
    assert answer["done"] == [{"id": "action-0001", "post": first[0]}]
    assert [one["id"] for one in answer["next"]][:2] == first[1:]
    assert (answer["status"]["labeled"], answer["status"]["relevant"]) == (1, 1)
    other = [one["id"] for one in client.sync(annotator="Bo")["next"]]
    assert not {*other} & {*first, answer["next"][2]["id"]}


def test_an_action_is_done_once_however_often_it_comes_and_over_a_restart(
    client: Client, session: Session
) -> None:
    one, two = (post["id"] for post in client.sync()["next"][:2])
    actions = [
        client.action("label", one, "relevant"),
        client.action("label", two, "not"),
        client.action("undo"),
    ]
    answers = [client.sync(*actions)["done"] for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    with Session.open(session.folder) as again:
        restarted = Client(create_app(Served([again])))
        done = restarted.sync(*actions)["done"]
        assert [one.get("post") for one in done] == [one, two, two]
        restarted.sync(restarted.action("label", two, "skip", id="another-one"))
    assert events(session) == [("label", one), ("label", two), ("undo", two), ("label", two)]


def test_an_undo_without_a_label_stays_without_effect(client: Client, session: Session) -> None:
    post = client.sync()["next"][0]["id"]
    undo = client.action("undo")
    assert client.sync(undo)["done"][0]["post"] is None
    client.sync(client.action("label", post, "relevant"))
    with Session.open(session.folder) as again:  # the server was started again meanwhile
        assert Client(create_app(Served([again]))).sync(undo)["done"][0]["post"] is None
    assert events(session) == [("undo", ""), ("label", post)]


def test_what_cannot_be_done_is_reported_and_holds_up_nothing(client: Client, session: Session) -> None:
    post = client.sync()["next"][0]["id"]
    done = client.sync(
        client.action("label", "no such post", "relevant"),
        client.action("label", post),
        client.action("label", post, "not", annotator="two\nlines"),
        client.action("note", post, note="x" * 5000),
        client.action("undo"),
        client.action("label", post, "not"),
    )["done"]
    assert ["error" in one for one in done] == [True, True, True, True, False, False]
    assert done[4]["post"] is None
    assert events(session) == [("undo", ""), ("label", post)]
    body = {"annotator": "Ada", "actions": [{"id": "short"}]}
    assert client.post("/api/sessions/otters/sync", json=body).status_code == 422
    assert client.post("/api/sessions/gone/sync", json={}).status_code == 404


def test_a_label_without_a_required_answer_is_refused(make_session: Callable[..., Session]) -> None:
    asked = {"key": "irony", "text": "Ironic?", "kind": "yes_no", "required": True}
    session = make_session(questions=[asked])
    client = Client(create_app(Served([session])))
    for answers in (None, {}, {"irony": ""}):
        (done,) = client.sync(client.action("label", "p1", "relevant", answers=answers), count=0)["done"]
        assert done["error"] == "irony: an answer is required; use yes, no"
    assert not session.number_of_events
    assert "error" not in client.sync(client.action("label", "p1", "not"))["done"][0]


def test_a_full_disk_is_reported_and_the_label_comes_again(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = client.sync()["next"][0]["id"]
    action = client.action("label", post, "relevant")

    def full(*_: object, **__: object) -> None:
        raise LinkerError("session.sqlite: cannot be written (No space left on device)")

    with monkeypatch.context() as broken:
        broken.setattr(session, "act", full)
        response = client.post("/api/sessions/otters/sync", json={"annotator": "Ada", "actions": [action]})
        assert response.status_code == 400
        assert "No space left" in response.json()["error"]
    client.sync(action)
    client.sync(action)
    assert events(session) == [("label", post)]


def test_notes_are_kept_and_come_back(client: Client) -> None:
    one, two = (post["id"] for post in client.sync()["next"][:2])
    client.sync(client.action("note", one, note="look again"))
    client.sync(client.action("label", two, "not", note="ironic"))
    assert client.sync()["next"][0]["note"] == "look again"
    assert {post["id"]: post["note"] for post in client.posts()}[two] == "ironic"


def test_lists_by_label_text_language_and_time(client: Client) -> None:
    client.sync(
        client.action("label", "p3", "relevant"),
        client.action("label", "p1", "not"),
        client.action("label", "p6", "skip"),
        client.action("label", "p9", "not"),
    )
    assert client.listed(label="relevant") == ["p3"]
    assert client.listed(label="not") == ["p9", "p1"]
    assert client.listed(label="skip") == ["p6"]
    assert len(client.listed(label="none", count=200)) == 26
    assert client.listed()[:4] == ["p9", "p6", "p1", "p3"]
    assert {*client.listed(text="OTTERS", count=200)} == {f"p{i}" for i in range(0, 30, 3)}
    assert {*client.listed(text="otters", lang="en")} == {f"p{i}" for i in range(3, 30, 6)}
    assert {*client.listed(since="2031-03-27", until="2031-03-28")} == {"p26"}
    assert client.listed(text="nothing like that") == []
    page = client.get("/api/sessions/otters/posts", params={"offset": 28, "count": 5}).json()
    assert (page["total"], len(page["posts"])) == (30, 2)
    client.sync(client.action("label", "p3", "not"))
    assert client.listed(label="relevant") == []
    labels = {post["id"]: post["labels"] for post in client.posts()}
    assert labels["p9"] == [["Ada", "not", "Not relevant"]]


def test_nobody_sees_labels_of_others_before_giving_their_own(client: Client) -> None:
    client.sync(
        client.action("label", "p9", "not", annotator="Bo", note="of buses"),
        client.action("label", "p3", "relevant", annotator="Bo"),
    )
    for wanted in ({}, {"label": "not"}, {"label": "relevant"}, {"label": "none"}):
        assert not [post for post in client.posts(**wanted) if post["labels"] or post["note"]]
    assert client.listed(label="not") == client.listed(label="relevant") == []
    assert len(client.listed(label="none", count=200)) == 30
    assert client.get("/api/sessions/otters/posts", params={"label": "not"}).json()["total"] == 0
    client.sync(client.action("label", "p9", "relevant", note="at the weir"))
    shown = {post["id"]: (post["labels"], post["note"]) for post in client.posts() if post["labels"]}
    labels = [["Ada", "relevant", "Relevant"], ["Bo", "not", "Not relevant"]]
    assert sorted(shown["p9"][0]) == labels
    assert (list(shown), shown["p9"][1]) == (["p9"], "of buses\nat the weir")
    assert client.listed(label="not") == ["p9"]


def test_a_skip_reveals_nothing_and_a_label_after_a_look_is_not_independent(client: Client) -> None:
    client.sync(client.action("label", "p9", "not", annotator="Bo", note="of buses"))
    client.sync(client.action("label", "p9", "skip"))
    (own,) = [post for post in client.posts(label="skip") if post["id"] == "p9"]
    assert (own["labels"], own["note"]) == ([["Ada", "skip", "Skip"]], "")
    client.sync(client.action("label", "p9", "relevant"), client.action("label", "p3", "relevant"))
    client.sync(client.action("label", "p3", "relevant", annotator="Bo"))
    client.posts()  # she sees that Bo disagrees
    client.sync(client.action("undo"), client.action("undo"), client.action("label", "p9", "not"))
    agreement = client.get("/api/sessions/otters/agreement").json()
    assert (agreement["posts"], agreement["revised"]) == (2, 2)
    assert agreement["alpha"] == pytest.approx(0)  # of relevant and not, relevant and relevant


@pytest.mark.parametrize(
    "look", ["a filter", "the disagreements", "adjudication", "a look without a label", "an export"]
)
def test_whoever_looked_in_any_way_does_not_label_independently(
    client: Client, session: Session, look: str
) -> None:
    client.sync(client.action("label", "p9", "not", annotator="Bo"))
    if look == "a filter":  # no post is on that page, but their number tells what Bo said
        client.sync(client.action("label", "p9", "relevant"))
        client.get("/api/sessions/otters/posts", params={"annotator": "Ada", "label": "not", "offset": 9})
        client.sync(client.action("undo"))
    elif look == "a look without a label":  # taken back in another tab while the list was made
        session.reveal("Ada", ["p9"])
    elif look == "an export":
        client.get(
            "/api/sessions/otters/export", params={"annotator": "ada", "resolved": True, "format": "xlsx"}
        )
    else:
        client.sync(client.action("label", "p9", "relevant", annotator="Cy"))
        client.get("/api/sessions/otters/agreement", params={"annotator": "Ada" * (look != "adjudication")})
    if look == "adjudication":
        resolved = {"annotator": "Ada", "post": "p9", "value": "not", "id": "resolve-1"}
        client.post("/api/sessions/otters/resolve", json=resolved)
    before = client.get("/api/sessions/otters/agreement").json()
    client.sync(client.action("label", "p9", "not"))
    after = client.get("/api/sessions/otters/agreement").json()
    assert [after[name] for name in ("posts", "alpha", "kappas")] == [
        before[name] for name in ("posts", "alpha", "kappas")
    ]
    assert after["revised"] == 1


def test_an_action_is_not_confused_with_that_of_another_person(client: Client, session: Session) -> None:
    for annotator, post in (("Bo", "p9"), ("Ada", "p3")):
        answer = client.sync(client.action("label", post, "not", annotator=annotator, id="a-guessed-id"))
        assert answer["done"] == [{"id": "a-guessed-id", "post": post}]
    assert session.status().annotators == {"Bo": 1, "Ada": 1}


def test_one_name_is_one_annotator_however_it_is_typed(client: Client) -> None:
    client.sync(client.action("label", "p9", "not", annotator="Zoë  Li"))
    for name in ("Zoe\u0308 Li", "zoë li ", "Zo\u200bë Li", "Zoë\ufe0f Li", "\u3164Zoë Li"):
        client.sync(client.action("label", "p3", "relevant", annotator=name))
    assert client.sync()["status"]["annotators"] == {"Zoë  Li": 2}
    with pytest.raises(RefusedError, match="give a name of 1 to 100 characters"):
        annotator_name("\u200b")


def test_half_characters_nulls_and_long_texts_are_served(make_session: Callable[..., Session]) -> None:
    hostile = [
        "otters \ud83d alone",
        "otters \0 null",
        "otters " * 15_000,
        "otters 🦦 <script>alert(1)</script>",
    ]
    session = make_session([Post(f"h{i}", text) for i, text in enumerate(hostile)])
    client = Client(create_app(Served([session])))
    shown = {post["id"]: "".join(text for text, _ in post["parts"]) for post in client.sync(count=4)["next"]}
    assert [shown[f"h{i}"] for i in range(4)] == hostile


def test_long_curves_keep_their_end(session: Session) -> None:
    from dataclasses import replace

    status = session.status()
    for length in (1, 239, 240, 241, 10_001):
        points = status_view(replace(status, curve=list(range(length))))["curve"]
        assert len(points) <= 241
        assert points[-1] == (length, length - 1)


def test_sessions_of_one_name_have_their_own_addresses(make_session: Callable[..., Session]) -> None:
    first, second = make_session(name="a/same"), make_session(name="b/same")
    client = Client(create_app(Served([first, second])))
    keys = [one["key"] for one in client.get("/api/about").json()["sessions"]]
    assert keys == ["same", "same-2"]
    client.sync(client.action("label", "p3", "relevant"), key="same-2")
    assert (first.status().labeled, second.status().labeled) == (0, 1)
    uids = {client.get(f"/api/sessions/{key}").json()["uid"] for key in keys}
    assert len(uids) == 2


# Rankings

KEY = "0123456789abcdef" * 2
FILES = f"/api/uploads/{KEY}/files?name=pasted.txt"


def rank(client: Client, article: str, source: str = "session:otters", **more: object) -> tuple[int, dict]:
    body = {"article": article, "source": source, "model": "bm25", **more}
    response = client.post("/api/rank", json=body)
    return response.status_code, response.json()


def test_a_pasted_article_is_ranked(client: Client) -> None:
    status, answer = rank(client, "Otters seen\n\nThe otters were at the weir.", top=5)
    assert status == 200
    assert answer["article"]["title"] == "Otters seen"
    assert answer["total"] == 30
    assert [post["rank"] for post in answer["posts"]] == [1, 2, 3, 4, 5]
    assert "weir" in "".join(text for text, _ in answer["posts"][0]["parts"])
    assert any(marked for _, marked in answer["posts"][0]["parts"])
    assert answer["meaning"].startswith("score: 0 to 100, ")
    assert answer["posts"][0]["decided_by"].endswith(f"= {answer['posts'][0]['score']:.1f}")
    assert all(0 <= post["score"] <= 100 for post in answer["posts"])


def test_the_default_model_ranks_and_only_listed_ones_do(client: Client, tmp_path: Path) -> None:
    assert client.get("/api/about").json()["models"] == ["best", "distilled", "bm25", "tfidf"]
    client.post(FILES, content=b"The otters are back at the weir.\nThe bus is late again today.")
    status, answer = rank(client, "Otters seen\n\nOtters were at the weir.", "files", files=KEY, model="")
    assert (status, answer["model"], answer["total"]) == (200, "best", 2)
    assert "is not served here" in rank(client, "Otters", model=str(tmp_path))[1]["error"]


def test_files_of_posts_are_ranked_without_a_session() -> None:
    client = Client(create_app(Served(posts=[Post("a", "served otters")])))
    sources = [one["key"] for one in client.get("/api/about").json()["sources"]]
    assert sources == ["posts", "files"]
    assert rank(client, "Otters", "files", files=KEY)[1]["error"] == "no posts; drop a file of posts first"
    client.post(FILES, content=b"late bus\n\n  otters!  \n")
    client.post(FILES.replace("pasted.txt", "b.csv"), content=b"id,text\n7,otters at the weir\n")
    status, answer = rank(client, "Otters at the weir", "files", files=KEY)
    assert (status, answer["total"], answer["posts"][0]["id"]) == (200, 3, "7")
    assert rank(client, "Otters", "posts")[1]["total"] == 1
    assert rank(client, "Otters", "session:gone")[0] == 400
    assert rank(client, "  ", "posts")[0] == 400


def test_no_file_is_read_for_a_stranger(client: Client, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("otters otters otters")
    for given in (str(secret), f"{secret}\n"):
        status, answer = rank(client, given)
        assert (status, answer["article"]["text"]) == (200, str(secret))
    assert "cannot be fetched" in rank(client, f"file://{secret}")[1]["error"]
