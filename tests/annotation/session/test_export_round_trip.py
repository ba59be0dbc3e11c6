"""What a session exports, another one imports: labels, adjudicated ones, and where posts are from."""

from __future__ import annotations

from pathlib import Path

import pytest

from linker.annotation.formats import read, write
from linker.annotation.session.session import Session
from linker.data.labels.post_labels import relevance_of
from linker.data.types import Article, Post

ARTICLE = Article("a", "Ferry crews vote to strike over night shifts.", "Strike")
POSTS = [
    Post(
        "1", "the ferry crews strike", extra={"platform": "x", "author": "hash", "url": "https://x.example/1"}
    ),
    Post("2", "pancakes for breakfast", source="posts.csv:3"),
    Post("3", "no boats until Monday"),
]


@pytest.mark.parametrize("name", ["csv", "jsonl", "xlsx"])
def test_adjudicated_labels_survive(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"labels.{name}"
    with Session.create(tmp_path / "one", [ARTICLE], POSTS, model="bm25") as session:
        first = session.next("kim")[0].post.id
        session.label("kim", first, "relevant")
        session.label("ben", first, "not")
        session.resolve("lee", first, "not")
        write(path, name, session.labeled(machines=True))
    found = read(path)
    assert relevance_of(found.labels) == {first: False}
    assert [label.adjudicated for label in found.labels] == [False, False, True]
    assert found.labels[0].sample == "active_learning"
    with Session.create(tmp_path / "two", [ARTICLE], POSTS, model="bm25") as other:
        assert other.import_labels(found.labels).new == 3
        assert other.import_labels(found.labels).new == 0
        resolved = {record.post.id: record.value for record in other.labeled(resolved=True) if record.value}
        assert resolved == {first: "not"}


@pytest.mark.parametrize("name", ["csv", "jsonl", "xlsx", "label_studio", "argilla", "prodigy", "doccano"])
def test_exports_say_where_posts_are_from(name: str, tmp_path: Path) -> None:
    with Session.create(tmp_path / "one", [ARTICLE], POSTS, model="bm25") as session:
        session.label("kim", "1", "relevant")
        write(tmp_path / "labels", name, session.labeled(machines=True))
    (label,) = read(tmp_path / "labels").labels
    assert (label.post_id, label.platform, label.author, label.article_ids) == ("1", "x", "hash", ("a",))


def test_the_latest_of_two_labels_counts_also_if_it_was_undone(tmp_path: Path) -> None:
    with Session.create(tmp_path / "one", [ARTICLE], POSTS, model="bm25") as session:
        session.label("kim", "1", "relevant", "first thought")
        session.label("kim", "2", "relevant")
        session.label("ben", "3", "not")
        session.resolve("lee", "3", "relevant")
        monday = tmp_path / "monday.csv"
        write(monday, "csv", session.labeled(machines=True))
        session.label("kim", "1", "not", "off topic, see guideline 2")
        session.undo("ben")
        session.resolve("lee", "3", "not")
        imported = session.import_labels(read(monday).labels, source="monday.csv")
        assert (imported.new, imported.older) == (0, 3)
        assert imported.left_out == "3 older than what is known of their posts"
        records = {record.post.id: record for record in session.labeled() if record.value}
        assert {name: record.value for name, record in records.items()} == {"1": "not", "2": "relevant"}
        assert records["1"].note == "off topic, see guideline 2"
        assert session.labeled(resolved=True)[2].value == "not"


def test_undo_leaves_an_imported_correction(tmp_path: Path) -> None:
    with Session.create(tmp_path / "one", [ARTICLE], POSTS, model="bm25") as session:
        session.label("kim", "2", "relevant")
        session.label("kim", "1", "relevant")
        path = tmp_path / "labels.csv"
        write(path, "csv", session.labeled())
        path.write_text(path.read_text().replace("1,a,relevant", "1,a,not").replace('"relevant"', '"not"'))
        assert "not" in path.read_text()
        session.import_labels([label for label in read(path).labels if label.post_id == "1"])
        assert session.undo("kim") == "2"
        assert [(r.post.id, r.value) for r in session.labeled() if r.value] == [("1", "not")]
