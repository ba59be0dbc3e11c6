"""An export that is read back says the same of the same posts: in another session, and as labels of a ranking."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, cast

import pytest

from linker.annotation.formats import write
from linker.annotation.formats.label_format import LabelFormat, summary_of
from linker.annotation.session.events import Event
from linker.annotation.session.session import Session
from linker.common.errors import DataError
from linker.data.io.records import read_posts
from linker.data.labels.reading import read_labels
from linker.data.labels.records import ImportedLabel
from linker.data.labels.values import LabelValue
from linker.data.types import Post
from tests.helpers.label_histories import History

FORMATS = sorted(LabelFormat.available())
ENDINGS = {"asreview": ".asreview", "csv": ".csv", "jsonl": ".jsonl", "xlsx": ".xlsx"}
ARTICLE = "The ferry sank off the island. A helicopter rescued the captain."
POSTS = [
    Post(
        "1294030000000000001",
        "ferry, says the captain",
        created_at=datetime(2024, 1, 2, 3, 4, tzinfo=timezone.utc),
        extra={"platform": "mastodon", "author": "ann", "lang": "en"},
    ),
    Post("007", "ferry\nin two lines\r\n\r\nand \u2028 more", extra={"url": "https://a.example/7"}),
    Post("=1+1", "=HYPERLINK(1) helicopter"),
    Post("-5", "'quoted' captain, \"twice\"; semicolon\ttab"),
    Post("+49", "@anna the island 🛟 👩‍🚒"),
    Post("1e5", "مروحية أنقذت القبطان"),
    Post("true", "フェリーが沈没した"),
    Post("at://did:plc:x/app.bsky.feed.post/3k", "cafe\u0301 at the ferry"),
    Post("ü/ß", "Fähre <b>vor</b> der Insel &amp; weg"),
    Post("null", "null"),
]
NAMED = [
    {"name": "about it", "value": "relevant"},
    {"name": "mentions it", "value": "relevant"},
    {"name": "something else", "value": "not"},
    {"name": "skip", "value": "skip"},
]


def _session(folder: Path, labels: list[dict[str, str]]) -> Session:
    return Session.create(folder, ARTICLE, POSTS, "bm25", overlap=1.0, labels=labels, seed=1)


def _label(session: Session, annotator: str, number: int, labels: list[dict[str, str]]) -> None:
    value = ("relevant", "not", "relevant", "skip")[number % 4 if annotator == "ann" else number % 3]
    choice = next(label["name"] for label in labels if label["value"] == value) if labels else None
    note = ("", "=1+1", "sure?\nno", "„ja“")[number % 4] or None
    session.act(Event("label", annotator, POSTS[number].id, cast(LabelValue, value), note, choice=choice))


@pytest.fixture(scope="module", params=[[], NAMED], ids=["usual labels", "label set"])
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Session:
    labels: list[dict[str, str]] = request.param
    made = _session(tmp_path_factory.mktemp("session") / "job", labels)
    for number in range(len(POSTS) - 1):  # the last post has no label
        made.change(blind=number > 4, strategy="active_learning")
        _label(made, "ann", number, labels)
        if number % 2:
            _label(made, "bo", number, labels)
    made.resolve("chi", POSTS[1].id, "not")
    choice = labels[0]["name"] if labels else None
    made.import_labels(
        [ImportedLabel(post.id, "a model", "relevant", choice=choice) for post in POSTS[:3]], machine=True
    )
    return made


def _path(folder: Path, name: str) -> Path:
    return folder / f"labels{ENDINGS.get(name, '.json')}"


def _facts(session: Session, all_of_it: bool) -> list[tuple[Any, ...]]:
    """Labels as a format holds them: tools have no names of label sets and no machines."""
    return sorted(
        (
            one.post.id,
            one.annotator,
            one.value,
            one.note or "",
            one.blind,
            *((one.choice, one.machine) * all_of_it),
        )
        for one in session.labeled(machines=all_of_it)
        if one.value is not None
    )


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "asreview"])
def test_every_label_of_every_annotator_comes_back(session: Session, name: str, tmp_path: Path) -> None:
    path = _path(tmp_path, name)
    all_of_it = LabelFormat.by_name(name).marks_machines
    write(path, name, session.labeled(machines=all_of_it))
    other = _session(tmp_path / "other", session.settings.labels)
    names = session.label_set.meanings
    labels = read_labels(path, names=names or None).labels
    other.import_labels(labels, source=str(path))
    assert other.import_labels(labels, source=str(path)).new == 0
    assert _facts(other, all_of_it) == _facts(session, all_of_it)
    assert {one.blind for one in other.labeled() if one.value} == {False, True}


@pytest.mark.parametrize("seed", range(3))
def test_of_labels_and_notes_the_newest_counts_whatever_is_imported(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    assert History(tmp_path, [post.id for post in POSTS[:6]], chance).run(60) == ""


@pytest.mark.parametrize("resolved", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_a_ranking_takes_an_export_as_labels(
    session: Session, name: str, resolved: bool, tmp_path: Path
) -> None:
    path = _path(tmp_path, name)
    write(path, name, session.labeled(resolved or LabelFormat.by_name(name).one_per_post))
    adjudicated = {one.post.id: one.value == "relevant" for one in session.labeled(True) if one.value}
    names = session.label_set.meanings
    found = read_labels(path, names=names or None).among(POSTS)
    if not resolved and name != "asreview":  # votes, of which who adjudicates writes none
        adjudicated[POSTS[1].id] = found[POSTS[1].id]
    assert found == adjudicated


def test_an_export_counts_what_the_file_says(session: Session, tmp_path: Path) -> None:
    for name in FORMATS:
        kind = LabelFormat.by_name(name)
        for resolved in (False, True):
            records = session.labeled(resolved or kind.one_per_post, kind.marks_machines)
            write(_path(tmp_path, name), name, records)
            names = session.label_set.meanings
            said = summary_of(records).partition(")")[0]
            assert said in read_labels(_path(tmp_path, name), names=names or None).summary, name
    assert "9 labels of 9 posts (7 relevant, 2 not)" in summary_of(session.labeled(True))


def test_a_copy_of_the_session_exports_the_same(session: Session, tmp_path: Path) -> None:
    shutil.copytree(session.folder, tmp_path / "copy")
    with Session.open(tmp_path / "copy") as copy:
        for name, folder in (("a.csv", session), ("b.csv", copy)):
            write(tmp_path / name, "csv", folder.labeled())
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


@pytest.mark.parametrize("name", ["asreview", "csv", "doccano", "jsonl", "prodigy", "xlsx"])
def test_the_posts_of_an_export_are_those_that_were_labeled(
    session: Session, name: str, tmp_path: Path
) -> None:
    path = _path(tmp_path, name)
    write(path, name, session.labeled(True))
    posts = POSTS[:-1]  # `null` is an empty cell
    read = {post.id: post for post in read_posts(str(path), on_error="skip")}
    assert set(read) == {post.id for post in posts}
    for post in posts:
        again = read[post.id]
        text = post.text.replace("\r\n", "\n")
        assert (again.text.replace("\r\n", "\n"), again.created_at) == (text, post.created_at)
        assert again.language == post.language


def test_tasks_of_prodigy_without_answers_are_no_labels(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    write(path, "prodigy", [replace(one, value=None, annotator=None) for one in session.labeled(True)])
    with pytest.raises(DataError, match="none has a label under the key"):
        read_labels(path)
