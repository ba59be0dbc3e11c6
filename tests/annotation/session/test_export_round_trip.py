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
        assert other.import_labels(found.labels) == 3
        assert other.import_labels(found.labels) == 0
        resolved = {record.post.id: record.value for record in other.labeled(resolved=True) if record.value}
        assert resolved == {first: "not"}


@pytest.mark.parametrize("name", ["csv", "jsonl", "xlsx", "label_studio", "argilla", "prodigy", "doccano"])
def test_exports_say_where_posts_are_from(name: str, tmp_path: Path) -> None:
    with Session.create(tmp_path / "one", [ARTICLE], POSTS, model="bm25") as session:
        session.label("kim", "1", "relevant")
        write(tmp_path / "labels", name, session.labeled(machines=True))
    (label,) = read(tmp_path / "labels").labels
    assert (label.post_id, label.platform, label.author, label.article_ids) == ("1", "x", "hash", ("a",))
