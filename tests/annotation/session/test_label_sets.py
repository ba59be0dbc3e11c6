"""Label sets, several labels per post, labels of machines, and sessions of earlier versions."""

from pathlib import Path
from typing import Any

import pytest

from linker.annotation.session.events import Event
from linker.annotation.session.label_set import LabelSet, label_set_problem
from linker.annotation.session.session import Session
from linker.common.errors import DataError, LinkerError
from linker.data.labels.records import ImportedLabel
from tests.helpers.sessions import create

SCALE = [{"name": str(n), "value": "relevant" if n > 1 else "not"} for n in range(4)]


def test_a_scale_counts_by_its_threshold_and_is_undone_like_any_label(tmp_path: Path) -> None:
    session = create(tmp_path / "job", labels=SCALE, question="How much?")
    ids = [post.id for post in session.pool.posts[:3]]
    for post, value, choice in zip(ids, ("relevant", "relevant", "not"), ("3", "2", "0")):
        session.act(Event("label", "kim", post, value, choice=choice))  # type: ignore[arg-type]
    assert (session.status().relevant, session.status().labeled) == (2, 3)
    with pytest.raises(LinkerError, match=r"unknown label '3' \(not\); this session has 0, 1, 2, 3"):
        session.act(Event("label", "kim", ids[0], "not", choice="3"))
    session.undo("kim")
    again = Session.open(tmp_path / "job")
    assert {one.post.id: one.choice for one in again.labeled() if one.value and one.post.id in ids} == {
        ids[0]: "3",
        ids[1]: "2",
    }
    assert {one.choice for one in again.labeled(resolved=True) if one.value} == {"3", "2"}
    assert again.settings.question == "How much?"


@pytest.mark.parametrize(
    ("choices", "problem"),
    [
        (SCALE, None),
        ([], None),
        ([{"name": "a", "value": "relevant"}], "no label counts as not"),
        ([*SCALE, {"name": "3", "value": "skip"}], "'3' is there twice"),
        ([{"name": "", "value": "not"}], "label 1 needs a name"),
        ([{"name": "a", "value": "maybe"}], "counts as 'maybe'"),
        ([{"name": str(n), "value": "not"} for n in range(10)], "10 labels; at most 9"),
        (["a"], "label 1 needs a name"),
    ],
)
def test_label_sets_are_checked(choices: list[Any], problem: str | None) -> None:
    found = label_set_problem(choices)
    assert found == problem if problem is None else problem in str(found)


def test_labels_have_names_whether_or_not_an_event_names_them() -> None:
    assert LabelSet().name_of("not", None) == "Not relevant"
    assert LabelSet(SCALE).name_of("relevant", "3") == "3"
    assert LabelSet(SCALE).name_of("relevant", None) == "Relevant"
    assert (LabelSet().named, LabelSet(SCALE).named) == (False, True)


GRADES = [
    {"name": "Relevant", "value": "relevant"},
    {"name": "Partly", "value": "relevant"},
    {"name": "Not", "value": "not"},
]


def graded(session: Session, who: str, names: str, kind: str = "label") -> None:
    """Label the first posts of the pool by initials: R, P, N."""
    for post, initial in zip(session.pool.posts, names):
        one = next(grade for grade in GRADES if grade["name"].startswith(initial))
        session.act(Event(kind, who, post.id, one["value"], choice=one["name"]))  # type: ignore[arg-type]


def test_an_export_names_a_label_that_counts_as_the_post_does(tmp_path: Path) -> None:
    session = create(tmp_path / "job", labels=GRADES, overlap=1.0)
    for who, name in (("kim", "N"), ("lee", "N"), ("max", "R"), ("noa", "P")):
        graded(session, who, name)
    found = next(one for one in session.labeled(resolved=True) if one.value)
    assert (found.value, found.choice) == (
        "relevant",
        None,
    )  # a tie counts as relevant; two names are as frequent
    graded(session, "oz", "P")
    found = next(one for one in session.labeled(resolved=True) if one.value)
    assert (found.value, found.choice) == ("relevant", "Partly")


def test_three_people_label_each_post_and_a_fourth_none_of_these(tmp_path: Path) -> None:
    session = create(tmp_path / "job", overlap=1.0, labels_per_post=3)
    size = len(session.pool)
    for name in ("kim", "lee", "max"):
        number = 0
        while suggestions := session.next(name):
            session.label(name, suggestions[0].post.id, "not")
            number += 1
        assert number == size, name
        assert session.status().waiting == (0 if name == "max" else size)
    assert session.next("noa") == []
    assert session.review().agreement.units == size


def test_labels_of_machines_change_nothing_but_their_own_agreement(tmp_path: Path) -> None:
    session = create(tmp_path / "job")
    ids = [post.id for post in session.pool.posts]
    session.label("kim", ids[0], "relevant")
    session.label("kim", ids[1], "not")
    before, queue = session.status(), [one.post.id for one in session.next("kim", 5)]
    labels = [ImportedLabel(post, "llm", "relevant", line=n) for n, post in enumerate(ids, 1)]
    assert session.import_labels(labels, machine=True).new == len(ids)
    assert session.import_labels(labels, machine=True).new == 0
    assert session.status() == before
    assert [one.post.id for one in session.next("kim", 5)] == queue
    found = session.review().machines[0]
    assert (found.machine, found.labels, found.posts, found.sampled) == ("llm", len(ids), 2, 0)
    assert (found.precision.hits, found.precision.count, found.recall.hits, found.recall.count) == (
        1,
        2,
        1,
        1,
    )
    assert {one.annotator for one in session.labeled() if one.value} == {"kim"}
    assert sum(one.machine for one in session.labeled(machines=True)) == len(session.posts)
    with pytest.raises(LinkerError, match="is the name of a machine in this session"):
        session.label("llm", ids[2], "not")
    with pytest.raises(DataError, match="'kim' is a person, and cannot be a machine"):
        session.import_labels([ImportedLabel(ids[2], "kim", "not")], machine=True)
    with pytest.raises(DataError, match="'llm' is a machine, and cannot be a person"):
        session.import_labels([ImportedLabel(ids[2], "llm", "not")])
    with Session.open(tmp_path / "job") as again:
        assert again.review().machines == [found]
