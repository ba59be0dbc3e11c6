"""Datasets for ASReview, and with labels from it."""

from __future__ import annotations

import csv
import zipfile
from datetime import datetime, timezone
from pathlib import Path

import pytest

from linker.annotation.formats import write
from linker.annotation.formats.label_format import LabeledPost
from linker.annotation.session.session import Session
from linker.common.errors import DataError
from linker.data.labels.reading import read_labels
from linker.data.labels.records import ImportedLabel
from linker.data.labels.values import LabelValue
from linker.data.types import Article, Post

NOON = datetime(2026, 3, 1, 12, 30, 15, tzinfo=timezone.utc)


def read(path: Path, format: str | None = None) -> list[ImportedLabel]:
    return list(read_labels(path, format).labels)


def facts(labels: list[ImportedLabel]) -> list[tuple[str, str | None, str, str]]:
    return [(one.post_id, one.annotator, one.value, one.note) for one in labels]


def test_one_label_per_post_is_written(tmp_path: Path) -> None:
    def labeled(number: int, *votes: LabelValue) -> list[LabeledPost]:
        post = Post(str(number), f"=text {number}", created_at=NOON)
        names = zip(votes, ("anna", "ben", "cy"))
        made = [LabeledPost(post, "a1", 9.5, vote, name, "why", NOON) for vote, name in names]
        return made or [LabeledPost(post, "a1", 9.5)]

    made = [
        *labeled(1, "relevant"),
        *labeled(2, "not", "not", "relevant"),
        *labeled(3, "relevant", "not"),
        *labeled(4, "skip"),
        *labeled(5),
        *labeled(6, "skip", "relevant"),
    ]
    path = tmp_path / "posts.csv"
    assert write(path, "asreview", made) == [path]
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["included"] for row in rows] == ["1", "0", "", "", "", "1"]
    assert rows[0]["abstract"] == "'=text 1"
    assert "label" not in rows[0]  # ASReview would take it for `included`
    assert facts(read(path, "asreview")) == [
        ("1", "anna", "relevant", "why"),
        ("2", None, "not", ""),
        ("6", "ben", "relevant", "why"),
    ]


def test_an_exported_dataset_is_read(tmp_path: Path) -> None:
    # As the web app of ASReview 3.0.8 writes it: an index, `included` as a float, its own columns last.
    (tmp_path / "export.csv").write_text(
        ",post_id,abstract,included,annotator,note,asreview_label,asreview_time,asreview_note,asreview_user_name\n"
        "0,p0,'=otters,1.0,kim,why,1,2026-03-01 12:30:15,,\n"
        "1,p1,bus,1.0,kim,,0,2026-03-01 12:30:15,changed,Ada\n"
        "2,p2,soup,,,,,,,\n"
        "3,p3,otter,1.0,kim,,,,,\n"
    )
    labels = read(tmp_path / "export.csv", "asreview")
    assert facts(labels) == [("p0", "kim", "relevant", "why"), ("p1", "Ada", "not", "changed")]
    assert labels[1].time == NOON


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_datasets_that_linker_did_not_write_are_read(tmp_path: Path, separator: str) -> None:
    lines = [("id", "title", "included"), ("7", "otters", "1"), ("8", "bus", "no"), ("9", "soup", "")]
    (tmp_path / "data.csv").write_text("\n".join(map(separator.join, lines)))
    assert facts(read(tmp_path / "data.csv", "asreview")) == [
        ("7", None, "relevant", ""),
        ("8", None, "not", ""),
    ]


def test_a_project_file_is_refused_with_a_way(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "mine.asreview", "w") as archive:
        archive.writestr("project.json", "{}")
    with pytest.raises(DataError, match=r"a project of ASReview; export its dataset there, as CSV"):
        read(tmp_path / "mine.asreview")
    (tmp_path / "table.csv").write_text("post_id,abstract\n1,x\n")
    with pytest.raises(DataError, match="no labels in this file: it has 1 records"):
        read(tmp_path / "table.csv", "asreview")


def test_a_session_goes_to_asreview_and_back(tmp_path: Path) -> None:
    posts = [Post(f"p{n}", text) for n, text in enumerate(["otters at the weir", "the bus is late", "soup"])]
    articles = [Article("a", "Two otters were filmed below the weir.", "Otters return")]
    with Session.create(tmp_path / "job", articles, posts, model="bm25") as session:
        session.label("kim", "p0", "relevant")
        write(tmp_path / "posts.csv", "asreview", session.labeled())
        with (tmp_path / "posts.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        # Someone gives the others labels in ASReview, which keeps the one that it was given.
        with (tmp_path / "back.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, [*rows[0], "asreview_label"])
            writer.writeheader()
            writer.writerows({**row, "asreview_label": int(row["post_id"] == "p0")} for row in rows)
        path = tmp_path / "back.csv"
        labels = read(path, "asreview")
        assert session.import_labels(labels, "ada", str(path)) == 2  # p0 is Kim's, and known
        assert {(one.post.id, one.annotator, one.value) for one in session.labeled()} == {
            ("p0", "kim", "relevant"),
            ("p1", "ada", "not"),
            ("p2", "ada", "not"),
        }
