"""Datasets for ASReview and labels from its project files."""

import csv
import json
import re
import sqlite3
import zipfile
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from linker.annotation.formats import write
from linker.annotation.formats.label_format import LabeledPost
from linker.common.errors import DataError
from linker.data.labels.records import ImportedLabel
from linker.data.labels.values import LabelValue
from linker.data.types import Post
from tests.annotation.formats.test_label_formats import GOLDEN, read

NOON = datetime(2026, 3, 1, 12, 30, 15, tzinfo=timezone.utc)
DATASET = "post_id,abstract,included\np0,otters,\np1,the bus,\np2,otters again,\n"


def facts(labels: list[ImportedLabel]) -> list[tuple[str, str | None, str, str]]:
    return [(one.post_id, one.annotator, one.value, one.note) for one in labels]


def project(
    path: Path,
    labels: list[tuple[Any, ...]],
    dataset: str = DATASET,
    version: int = 3,
    name: str = "posts.csv",
    **config: Any,
) -> Path:
    """A project file with labels as (record, label, time, note, user); record n is row n - 1."""
    folder = path.parent / f"{path.stem}-parts"
    folder.mkdir(exist_ok=True)
    results, store = folder / "results.db", folder / ("results.db" if version == 3 else "data_store.db")
    for file in (results, store):
        file.unlink(missing_ok=True)
    with closing(sqlite3.connect(results)) as database, database:
        database.execute("CREATE TABLE results (record_id, label, time, note, user_id)")
        database.executemany("INSERT INTO results VALUES (?, ?, ?, ?, ?)", labels)
    with closing(sqlite3.connect(store)) as database, database:
        database.execute("CREATE TABLE record (record_id, dataset_row)")
        database.executemany("INSERT INTO record VALUES (?, ?)", [(row + 1, row) for row in range(9)])
    settings: dict[str, Any] = {"version": "3.0.8", "datasets": [{"id": "x", "name": name}]}
    if version == 2:
        settings["reviews"] = [{"id": "r1"}]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("project.json", json.dumps({**settings, **config}))
        archive.writestr(f"data/{name}", dataset)
        archive.write(results, "results.db" if version == 3 else "reviews/r1/results.db")
        if version == 2:
            archive.write(store, "data_store.db")
    return path


def test_a_project_of_asreview_itself_is_read() -> None:
    # Written by ASReview 3.0.8: scripts/check_label_formats.py.
    labels = read(GOLDEN / "asreview-own.asreview", "asreview")
    assert facts(labels) == [
        ("1", None, "relevant", "sure"),
        ("2", "5", "not", ""),
        ("4", "ben", "not", "why"),
    ]
    assert labels[2].time == NOON  # of the dataset, where the label was known
    assert all(one.time is not None and one.time > NOON for one in labels[:2])


@pytest.mark.parametrize("version", [2, 3])
def test_labels_of_a_project_are_those_of_its_rows(tmp_path: Path, version: int) -> None:
    labels = [(3, 1, NOON.timestamp(), "a note", None), (1, 0, None, None, 7), (2, None, None, None, None)]
    found = read(project(tmp_path / "mine.asreview", labels, version=version), "asreview")
    assert facts(found) == [("p0", "7", "not", ""), ("p2", None, "relevant", "a note")]
    assert (found[1].time, found[1].line) == (NOON, 4)


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


@pytest.mark.parametrize(
    ("labels", "more", "told"),
    [
        ([(9, 1, None, None, None)], {}, "a label of row 9, but data/posts.csv has 3 rows"),
        ([(1, 5, None, None, None)], {}, "a label 5 of row 0; ASReview writes 1 and 0"),
        ([(1, 1, None, None, None)], {"dataset": "year\n1999\n"}, "no column names the posts"),
        ([], {"name": "posts.ris"}, "its dataset is data/posts.ris; projects with datasets in CSV or TSV"),
        ([], {"datasets": None, "dataset_path": "x.csv"}, "of ASReview 1; open it in ASReview 3"),
        ([], {"datasets": None}, "a project without a dataset"),
        ([], {"datasets": [{"name": "other.csv"}]}, "data/other.csv missing; export the project again"),
    ],
)
def test_faults_of_projects_are_named(
    tmp_path: Path, labels: list[tuple[Any, ...]], more: dict[str, Any], told: str
) -> None:
    path = project(tmp_path / "mine.asreview", labels, **more)
    with pytest.raises(DataError, match=re.escape(told)) as caught:
        read(path, "asreview")
    assert str(caught.value).startswith(str(path))


def test_other_archives_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(DataError, match=r"not a project of ASReview, it has no project\.json"):
        read(tmp_path / "other.zip", "asreview")
    whole = project(tmp_path / "mine.asreview", [(1, 1, None, None, None)]).read_bytes()
    (tmp_path / "half.asreview").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="damaged archive"):
        read(tmp_path / "half.asreview", "asreview")
    with zipfile.ZipFile(tmp_path / "bad.asreview", "w") as archive:
        archive.writestr("project.json", json.dumps({"datasets": [{"name": "d.csv"}]}))
        archive.writestr("data/d.csv", DATASET)
        archive.writestr("results.db", b"not a database" * 100)
    with pytest.raises(DataError, match="damaged labels"):
        read(tmp_path / "bad.asreview", "asreview")
    (tmp_path / "table.csv").write_text("post_id,abstract\n1,x\n")
    with pytest.raises(DataError, match="no labels in this file: it has 1 records"):
        read(tmp_path / "table.csv", "asreview")
