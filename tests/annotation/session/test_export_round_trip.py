"""What a session exports, another one imports: labels, adjudicated ones, and where posts are from."""

from __future__ import annotations

from pathlib import Path

import pytest

from linker.annotation.formats import read, write
from linker.annotation.session.session import Session
from linker.data.types import Article, Post

ARTICLE = Article("a", "Ferry crews vote to strike over night shifts.", "Strike")
POSTS = [
    Post(
        "1", "the ferry crews strike", extra={"platform": "x", "author": "hash", "url": "https://x.example/1"}
    ),
    Post("2", "pancakes for breakfast", source="posts.csv:3"),
    Post("3", "no boats until Monday"),
]


@pytest.mark.parametrize(
    "name", ["csv", "jsonl", "xlsx", "label_studio", "argilla", "prodigy", "doccano", "asreview"]
)
def test_exports_say_where_posts_are_from_and_how_they_were_drawn(name: str, tmp_path: Path) -> None:
    with Session.create(
        tmp_path / "one", [ARTICLE], POSTS, model="bm25", strategy={"type": "random"}
    ) as session:
        session.next("kim", 3)
        session.label("kim", "1", "relevant")
        write(tmp_path / "labels", name, session.labeled(machines=True))
    (label,) = read(tmp_path / "labels").labels
    assert (label.post_id, label.platform, label.author, label.article_ids) == ("1", "x", "hash", ("a",))
    assert label.sample == "random"
    with Session.create(tmp_path / "two", [ARTICLE], POSTS, model="bm25") as other:
        other.import_labels([label], "kim")
        assert [one.sample for one in other.labeled()] == ["random", None, None]


def test_what_an_import_leaves_out_is_counted(tmp_path: Path) -> None:
    with Session.create(tmp_path / "one", [ARTICLE], POSTS, model="bm25") as session:
        session.label("kim", "1", "relevant", "first thought")
        session.label("ben", "3", "not")
        session.resolve("lee", "3", "relevant")
        for name in ("csv", "argilla"):  # of which the second has no times
            write(tmp_path / name, name, session.labeled(machines=name == "csv"))
        session.label("kim", "1", "not", "off topic, see guideline 2")
        session.undo("ben")
        session.resolve("lee", "3", "skip")
        imported = [session.import_labels(read(tmp_path / name).labels) for name in ("csv", "argilla")]
        assert imported == [(0, 3, 0, 0, 0), (0, 0, 2, 0, 0)]
        assert imported[0].left_out == "3 older than what is known of their posts"
        assert imported[1].left_out == "2 without a time that differ from what is known of their posts"
        assert [(one.post.id, one.value) for one in session.labeled(machines=True) if one.value] == [
            ("1", "not")
        ]


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
