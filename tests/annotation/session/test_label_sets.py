"""Label sets, several labels per post, labels of machines, and sessions of earlier versions."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import pytest

from linker.annotation.session.create import rescore
from linker.annotation.session.events import Event
from linker.annotation.session.label_set import LabelSet, label_set_problem
from linker.annotation.session.session import Session
from linker.common.errors import DataError, LinkerError
from linker.data.labels.records import ImportedLabel
from tests.helpers.sessions import ARTICLE, POSTS

SCALE = [{"name": str(n), "value": "relevant" if n > 1 else "not"} for n in range(4)]


def create(folder: Path, **options: Any) -> Session:
    return Session.create(folder, [ARTICLE], POSTS, "bm25", **options)


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


def test_only_whole_numbers_are_a_scale() -> None:
    assert LabelSet(SCALE[::-1]).scale == ["0", "1", "2", "3"]
    assert LabelSet([*SCALE, {"name": "Unsure", "value": "skip"}]).scale == ["0", "1", "2", "3"]
    assert LabelSet([{"name": "much", "value": "relevant"}, {"name": "0", "value": "not"}]).scale == []
    assert LabelSet().scale == []


def test_agreement_by_name_tells_near_labels_from_far_ones(tmp_path: Path) -> None:
    session = create(tmp_path / "job", labels=SCALE, overlap=1.0)
    ids = [post.id for post in session.pool.posts[:4]]
    # Both find the same posts relevant; by name they differ by one step on two posts.
    for who, names in (("kim", "0123"), ("lee", "1023")):
        for post, name in zip(ids, names):
            value = "relevant" if int(name) > 1 else "not"
            session.act(Event("label", who, post, value, choice=name))  # type: ignore[arg-type]
    found = session.review()
    assert (found.alpha, found.level) == (1.0, "ordinal")
    # Two of each value, n = 8. Observed: two posts with a pair one step apart. Expected: six pairs of values.
    assert found.alpha_of_names == pytest.approx(1 - 7 * (2 * 4) / (4 * (3 * 4 + 2 * 16 + 36)))


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


def test_names_that_count_as_the_same_are_no_disagreement_on_relevance(tmp_path: Path) -> None:
    session = create(tmp_path / "job", labels=GRADES, overlap=1.0)
    ids = [post.id for post in session.pool.posts[:5]]
    graded(session, "kim", "RPNR")
    graded(session, "lee", "RRNN")
    review = session.review()
    assert [one.post.id for one in review.disputes] == [ids[3]]
    assert [(one.post.id, one.holds) for one in review.by_name] == [(ids[1], True)]
    assert [label.choice for _, label, _ in review.by_name[0].labels] == ["Partly", "Relevant"]
    graded(session, "kim", "RPNRR")  # lee has not labeled the fifth post yet
    session.act(Event("label", "max", ids[4], "relevant", choice="Partly"))
    assert {one.post.id for one in session.review().by_name} == {ids[1], ids[4]}
    session.act(Event("resolve", "boss", ids[1], "relevant", choice="Relevant"))
    decided = next(one for one in session.review().by_name if one.post.id == ids[1])
    assert decided.adjudicated is not None
    assert decided.adjudicated.choice == "Relevant"


def test_a_dispute_is_marked_while_somebody_is_to_label_the_post(tmp_path: Path) -> None:
    session = create(tmp_path / "job", labels=GRADES, overlap=1.0, labels_per_post=3)
    graded(session, "kim", "P")
    graded(session, "lee", "R")
    assert [one.waiting for one in session.review().by_name] == [True]
    graded(session, "max", "R")
    assert [one.waiting for one in session.review().by_name] == [False]


def test_a_label_given_by_key_has_the_only_name_of_its_value(tmp_path: Path) -> None:
    session = create(tmp_path / "job", labels=GRADES, overlap=1.0)
    ids = [post.id for post in session.pool.posts[:2]]
    graded(session, "kim", "NP")
    for post, value in zip(ids, ("not", "relevant")):  # as in the terminal, where labels have no names
        session.label("lee", post, value)  # type: ignore[arg-type]
    assert session.review().by_name == []  # nobody knows which of two names lee meant
    # One post with two known names, both `Not`, and one with one.
    assert math.isnan(session.review().alpha_of_names)
    graded(session, "max", "RP")
    assert not math.isnan(session.review().alpha_of_names)


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


def test_a_machine_is_compared_with_people_by_name(tmp_path: Path) -> None:
    session = create(tmp_path / "job", labels=SCALE, overlap=1.0)
    ids = [post.id for post in session.pool.posts[:5]]
    people = {"kim": "01233", "lee": "01232"}  # on the fifth post two names are as frequent: it is left out
    for who, names in people.items():
        for post, name in zip(ids, names):
            value = "relevant" if int(name) > 1 else "not"
            session.act(Event("label", who, post, value, choice=name))  # type: ignore[arg-type]
    machine = [
        ImportedLabel(post, "llm", "relevant" if int(name) > 1 else "not", choice=name)
        for post, name in zip(ids, "10230")
    ]
    session.import_labels(machine, machine=True)
    (found,) = session.review().machines
    # The same labels as in the test of two people above: two of each name, two posts one step apart.
    assert found.alpha_of_names == pytest.approx(1 - 7 * (2 * 4) / (4 * (3 * 4 + 2 * 16 + 36)))
    assert found.posts == 5
    session.act(Event("resolve", "boss", ids[0], "not", choice="1"))
    session.act(Event("resolve", "boss", ids[1], "not", choice="0"))
    session.act(Event("resolve", "boss", ids[4], "not", choice="0"))
    assert session.review().machines[0].alpha_of_names == 1


def test_the_usual_labels_have_no_agreement_by_name(tmp_path: Path) -> None:
    session = create(tmp_path / "job", overlap=1.0)
    for who in ("kim", "lee"):
        session.label(who, session.pool.posts[0].id, "relevant")
    session.import_labels([ImportedLabel(session.pool.posts[0].id, "llm", "relevant")], machine=True)
    assert math.isnan(session.review().alpha_of_names)
    assert math.isnan(session.review().machines[0].alpha_of_names)
    assert session.review().by_name == []


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
    assert session.review().posts == size


def test_labels_of_machines_change_nothing_but_their_own_agreement(tmp_path: Path) -> None:
    session = create(tmp_path / "job")
    ids = [post.id for post in session.pool.posts]
    session.label("kim", ids[0], "relevant")
    session.label("kim", ids[1], "not")
    before, queue = session.status(), [one.post.id for one in session.next("kim", 5)]
    labels = [ImportedLabel(post, "llm", "relevant", line=n) for n, post in enumerate(ids, 1)]
    assert session.import_labels(labels, machine=True) == len(ids)
    assert session.import_labels(labels, machine=True) == 0
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


def test_scores_are_replaced_and_labels_stay(tmp_path: Path) -> None:
    with create(tmp_path / "job") as session:
        post = session.next("kim")[0].post.id
        session.label("kim", post, "relevant")
        shutil.copytree(tmp_path / "job", tmp_path / "copy")
    rescore(tmp_path / "job", "tfidf")
    with Session.open(tmp_path / "job") as session:
        assert session.settings.model == "tfidf"
        assert session.status().relevant == 1
        assert [one.id for one in session.pool.posts] == [
            one.id for one in Session.open(tmp_path / "copy").pool.posts
        ]
        assert session.next("kim", 3)
