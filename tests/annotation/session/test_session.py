"""Sessions as annotators meet them."""

from __future__ import annotations

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import linker.annotation.session.session as session_module
from linker.annotation.session.session import Session
from linker.common.errors import DataError, LinkerError, ModelError
from linker.data.labels.records import ImportedLabel
from linker.data.types import Article, Post
from tests.helpers.sessions import ARTICLE, POSTS, fresh


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session.open(fresh(tmp_path / "job"))


def next_id(session: Session, annotator: str = "kim") -> str:
    return session.next(annotator)[0].post.id


def change(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "session.sqlite")) as database, database:
        database.execute(statement)


def test_what_was_started_comes_back(tmp_path: Path) -> None:
    posts = [
        Post(
            "1",
            "a bridge\u2028🦦 \ud83e",
            ("x",),
            datetime(2031, 5, 14, tzinfo=timezone.utc),
            "test",
            {"likes": [1, None]},
        ),
        Post("2", "closed"),
    ]
    made = Session.create(
        tmp_path / "job", [ARTICLE], posts, "bm25", seed=7, guidelines="Be *kind*.",
        strategy="seed_similarity",
    )  # fmt: skip
    session = Session.open(tmp_path / "job")
    assert session.posts == made.posts == posts
    assert session.posts[0].extra == {"likes": [1, None]}
    assert session.articles == [ARTICLE]
    assert (session.name, session.guidelines, session.settings.seed) == ("job", "Be *kind*.", 7)
    ours, theirs = made.pool, session.pool
    np.testing.assert_array_equal(ours.scores, theirs.scores)
    np.testing.assert_array_equal(ours.words.toarray(), theirs.words.toarray())
    np.testing.assert_array_equal(ours.article_words.toarray(), theirs.article_words.toarray())
    assert not list((tmp_path / "job").rglob("*.pkl"))


def test_a_suggestion_shows_what_counts(session: Session) -> None:
    shown = session.next("kim")[0]
    assert shown.score == pytest.approx(float(session.pool.scale(session.pool.scores.max())))
    assert (shown.position, shown.at_random, shown.note) == (1, False, "")
    words = {shown.post.text[start:end].lower() for start, end in shown.marks}
    assert words & {"cracks", "bridge", "council", "pier"}
    assert {word for word, _ in shown.article_words} >= words


def test_the_next_post_stays_until_it_is_labeled(session: Session) -> None:
    first = session.next("kim")
    assert session.next("kim") == first
    assert Session.open(session.folder).next("kim") == first
    assert session.next("kim", 3)[0] == first[0]
    session.label("kim", first[0].post.id, "not")
    assert next_id(session) != first[0].post.id


def test_all_posts_come_once_and_then_none(session: Session) -> None:
    seen = []
    while suggestions := session.next("kim"):
        seen.append(suggestions[0].post.id)
        session.label("kim", seen[-1], "relevant" if "bridge" in suggestions[0].post.text else "not")
    assert sorted(seen) == sorted(post.id for post in session.pool.posts)
    status = session.status()
    assert status.labeled == status.posts == 40
    assert status.copies_labeled == 1
    assert status.relevant == 10
    assert status.curve[-1] == 10
    assert status.decision.stop
    assert (status.estimate.low, status.estimate.high) == (0, 0)
    assert session.next("lee") == []


def test_overlap_is_a_share_of_the_posts(tmp_path: Path) -> None:
    session = Session.open(fresh(tmp_path / "job", overlap=0.3))
    for name in ("kim", "lee"):
        while one := session.next(name):
            session.label(name, one[0].post.id, "relevant")
    counts = session.status().annotators
    assert counts["kim"] == 40
    assert 4 <= counts["lee"] <= 20


def test_a_post_that_is_assigned_to_somebody_who_left_goes_to_others(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = next_id(session, "kim")
    assert next_id(session, "lee") != first
    later = datetime.now(timezone.utc) + timedelta(minutes=31)
    monkeypatch.setattr(session_module, "now", lambda: later)
    assert next_id(session, "max") == first
    # Whoever comes back after it was labeled gets another.
    session.label("max", first, "relevant")
    assert next_id(session, "kim") != first


def test_skipped_posts_go_to_others_and_count_as_no_label(session: Session) -> None:
    first = next_id(session)
    session.label("kim", first, "skip", "cannot tell")
    assert next_id(session) != first
    assert next_id(session, "lee") == first
    status = session.status()
    assert (status.labeled, status.skipped, status.curve) == (0, 1, [])
    session.label("lee", first, "relevant")
    assert (session.status().labeled, session.status().skipped) == (1, 0)


def test_undone_posts_are_not_lost_when_the_order_did_not_have_them(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = next_id(session)
    session.label("kim", first, "relevant")
    session.label("lee", next_id(session, "lee"), "not")
    next_id(session, "max")  # the newest order has the first no more
    session.undo("kim")
    later = datetime.now(timezone.utc) + timedelta(hours=1)
    monkeypatch.setattr(session_module, "now", lambda: later)
    assert next_id(session, "lee") == first


def test_an_undone_post_is_assigned_to_one_annotator_only(session: Session) -> None:
    first = next_id(session, "kim")
    session.label("lee", first, "relevant")  # from the list
    session.undo("lee")
    assert next_id(session, "kim") != first
    assert next_id(session, "lee") == first


def test_notes_are_kept(session: Session) -> None:
    first = next_id(session)
    session.note("kim", first, "ask Lee")
    assert Session.open(session.folder).next("kim")[0].note == "ask Lee"
    session.label("kim", first, "not", "no: another bridge")
    records = {record.post.id: record for record in session.labeled()}
    assert records[first].note == "no: another bridge"
    session.undo("kim")
    assert session.next("kim")[0].note == "no: another bridge"


def test_most_win_and_a_tie_is_listed_and_counts_as_relevant(session: Session) -> None:
    session.label("kim", "p0", "relevant")
    session.label("lee", "p0", "not")
    assert (session.status().relevant, session.status().disputed) == (1, 1)
    session.label("max", "p0", "not")
    assert (session.status().relevant, session.status().disputed) == (0, 0)
    session.resolve("boss", "p0", "relevant")
    assert session.status().relevant == 1
    assert session.status().annotators == {"kim": 1, "lee": 1, "max": 1}
    assert {r.value for r in session.labeled(resolved=True) if r.post.id == "p0"} == {"relevant"}
    session.resolve("boss", "p0", "skip")
    assert session.status().relevant == 0


def test_draws_that_a_rule_asks_for_are_marked_and_come_from_anywhere(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    from linker.annotation.stopping_rules.stopping_rule import Decision

    monkeypatch.setattr(
        session._rule, "decide", lambda labels, size: Decision(False, "draw", len(labels) >= 5)
    )
    for _ in range(5):
        one = session.next("kim")[0]
        assert (one.at_random, one.position) == (False, 1)
        session.label("kim", one.post.id, "not")
    positions = []
    for _ in range(10):
        one = session.next("kim")[0]
        assert one.at_random
        positions.append(one.position)
        session.label("kim", one.post.id, "not")
    assert max(positions) > 10
    labels = Session.open(session.folder)._state.labels()
    assert labels.at_random.tolist() == [False] * 5 + [True] * 10


def test_the_queue_is_computed_again_after_one_label_in_twenty(tmp_path: Path) -> None:
    session = Session.open(fresh(tmp_path / "job"))
    known = []
    for _ in range(40):
        session.label("kim", next_id(session), "not")
        assert session._queue is not None
        known.append(session._queue[0])
    assert known[:20] == list(range(20))
    assert 36 <= known[-1] <= 39
    assert len(set(known)) < 40


def test_labels_come_in_from_files_once(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    labels = [
        ImportedLabel("p0", "lee", "relevant", "sure", datetime(2031, 1, 1), 1),
        ImportedLabel("p1", None, "not", line=2),
        ImportedLabel("p0copy", "lee", "relevant", "sure", None, 3),
    ]
    with pytest.raises(DataError, match=r"file\.csv, line 2: a label without an annotator"):
        session.import_labels(labels, source="file.csv")
    assert session.status().labeled == 0
    assert session.import_labels(labels, "kim", "file.csv").new == 2
    assert session.import_labels(labels, "kim", "file.csv").new == 0
    assert session.status().annotators == {"lee": 1, "kim": 1}
    assert session.undo("kim") is None  # what came from a file is no step of hers
    with pytest.raises(DataError, match=r"file\.csv: none of 1 labels belongs to a post"):
        session.import_labels([ImportedLabel("p99", "kim", "not", line=9)], source="file.csv")
    imported = session.import_labels(
        [labels[0], ImportedLabel("p99", "kim", "not", line=9)], source="file.csv"
    )
    assert imported == (0, 0, 0, 1, 0)
    assert "1 of 2 labels match no post" in capsys.readouterr().err.replace("\n", " ")
    exported = [r for r in session.labeled() if r.value]
    assert [(r.post.id, r.annotator, r.value, r.note) for r in exported] == [
        ("p0", "lee", "relevant", "sure"),
        ("p1", "kim", "not", None),
        ("p0copy", "lee", "relevant", "sure"),
    ]
    assert exported[0].time == datetime(2031, 1, 1, tzinfo=timezone.utc)
    assert exported[0].article_id == "bridge"


def test_wrong_names_and_posts(session: Session) -> None:
    with pytest.raises(LinkerError, match="post 'p99' is not in"):
        session.label("kim", "p99", "not")
    for name in ("", "  ", "a\nb", "x" * 101):
        with pytest.raises(LinkerError, match="1 to 100 characters"):
            session.next(name)
    assert session.next(" kim ") == session.next("kim")
    assert session.status().labeled == 0


def test_a_session_begins_in_an_empty_folder_only(tmp_path: Path, session: Session) -> None:
    with pytest.raises(LinkerError, match="already holds a session"):
        Session.create(session.folder, [ARTICLE], POSTS, "bm25")
    (tmp_path / "else").mkdir()
    (tmp_path / "else/thesis.txt").write_text("years of work")
    with pytest.raises(LinkerError, match=r"is not empty \(thesis\.txt\)"):
        Session.create(tmp_path / "else", [ARTICLE], POSTS, "bm25")
    with pytest.raises(LinkerError, match="is a file"):
        Session.create(tmp_path / "else/thesis.txt", [ARTICLE], POSTS, "bm25")
    with pytest.raises(ModelError):
        Session.create(tmp_path / "new", [ARTICLE], POSTS, "no/such/model")
    assert not (tmp_path / "new").exists()


def test_posts_and_articles_are_read_as_rank_reads_them(tmp_path: Path) -> None:
    article = pd.DataFrame({"title": ["Otters return"], "text": ["Two otters were filmed."]})
    posts = pd.DataFrame({"id": ["x", "y"], "text": ["otters at the weir", None], "likes": [1, 2]})
    with Session.create(tmp_path / "job", article, posts[:1], model="bm25") as session:
        assert [(post.id, post.text, post.extra["likes"]) for post in session.posts] == [
            ("x", "otters at the weir", 1)
        ]
    with pytest.raises(LinkerError, match="row 1: empty text"):
        Session.create(tmp_path / "bad", article, posts, model="bm25")
    assert not (tmp_path / "bad").exists()


def test_a_start_that_was_killed_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / ".session.sqlite.new").write_bytes(b"half")
    with pytest.raises(DataError, match=r"not a session, it has no session\.sqlite"):
        Session.open(tmp_path / "job")
    assert Session.create(tmp_path / "job", [ARTICLE], POSTS, "bm25").next("kim")
    assert [path.name for path in (tmp_path / "job").iterdir() if path.name.startswith(".")] == []


def test_a_session_of_a_newer_version(session: Session) -> None:
    change(session.folder, "PRAGMA user_version = 3")
    with pytest.raises(DataError, match="written by a newer linker, in format 3"):
        Session.open(session.folder)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            "UPDATE contents SET data = CAST(replace(data, 'w4 ', 'w5 ') AS BLOB)",
            r"damaged \(posts, part 4\)",
        ),
        ("DELETE FROM contents WHERE name = 'posts' AND part = 40", "damaged"),
        ("DELETE FROM contents WHERE name = 'scores'", "damaged"),
        (
            "UPDATE contents SET data = x'00' WHERE name = 'words.data' AND part = 1",
            r"damaged \(words.data, part 1\)",
        ),
        ("DELETE FROM contents WHERE name = 'settings'", "damaged"),
        ("UPDATE events SET annotator = 'lee' WHERE kind = 'label'", r"damaged \(event 2\)"),
        (
            "DELETE FROM events WHERE number = 2",
            "the undo of post 'p0' by 'kim' does not fit the events before it",
        ),
        ("DROP TABLE events", r"damaged \(no such table"),
    ],
)
def test_damage_is_noticed(session: Session, damage: str, message: str) -> None:
    next_id(session)
    session.label("kim", "p0", "not")
    session.undo("kim")
    change(session.folder, damage)
    with pytest.raises(LinkerError, match=rf"session\.sqlite: .*{message}"):
        Session.open(session.folder)


@pytest.mark.parametrize("damage", ["truncate", "overwrite", "empty"])
def test_a_damaged_file(session: Session, damage: str) -> None:
    session.label("kim", "p0", "not")
    session.close()
    path = session.folder / "session.sqlite"
    data = path.read_bytes()
    changed = {
        "truncate": data[: len(data) // 2], "overwrite": data[:4096] + b"\xff" * (len(data) - 4096), "empty": b""
    }  # fmt: skip
    path.write_bytes(changed[damage])
    with pytest.raises(LinkerError, match=r"session\.sqlite: "):
        Session.open(session.folder).next("kim")


def test_damaged_explanations_are_noticed(session: Session) -> None:
    change(session.folder, "UPDATE contents SET data = x'5b' WHERE name = 'explanations'")
    with pytest.raises(DataError, match=r"damaged \(explanations"):
        session.next("kim")


def test_a_file_that_was_moved_or_replaced_takes_no_more_labels(session: Session) -> None:
    path = session.folder / "session.sqlite"
    other = fresh(session.folder.parent / "other") / "session.sqlite"
    path.rename(path.with_name("elsewhere"))
    for _ in range(2):
        with pytest.raises(DataError, match="moved, deleted or replaced; open the session again"):
            session.label("kim", "p0", "not")
        shutil.copy(other, path)


def test_posts_assigned_under_a_clock_set_ahead_are_not_held_for_years(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = datetime.now(timezone.utc) + timedelta(days=3650)
    with monkeypatch.context() as patch:
        patch.setattr(session_module, "now", lambda: ahead)
        held = {one.post.id for one in session.next("kim", 40)}
    assert len(held) == 40
    assert {one.post.id for one in session.next("lee", 40)} == held
    # With the clock right again, posts that kim is working on are kept from others.
    monkeypatch.setattr(session_module, "now", lambda: datetime.now(timezone.utc))
    first = session.next("kim")[0].post.id
    session.label("kim", first, "not")
    assert session.next("mia", 40) == []


def test_several_articles_and_models_with_vectors(tmp_path: Path) -> None:
    second = Article("pier", "Engineers found cracks in the pier.")
    session = Session.create(tmp_path / "job", [ARTICLE, second], POSTS, "tfidf", strategy="seed_similarity")
    assert session.articles == [ARTICLE, second]
    assert {record.article_id for record in session.labeled()} == {"bridge+1"}


def test_threads_share_a_session(session: Session) -> None:
    def work(name: str) -> None:
        while one := session.next(name):
            session.label(name, one[0].post.id, "not")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, ["a0", "a1", "a2", "a3"]))
    # A thread ends when the rest is assigned to the others; together they label everything once.
    assert sum(session.status().annotators.values()) == session.status().labeled == 40
