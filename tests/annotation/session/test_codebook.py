"""Further questions: what is recorded, taken back, refused and left out; sessions of earlier versions."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from linker.annotation.codebook import Codebook
from linker.annotation.formats import read
from linker.annotation.session.events import Event
from linker.annotation.session.session import Session
from linker.common.errors import LinkerError
from linker.config import build
from tests.helpers.label_histories import QUESTIONS
from tests.helpers.sessions import create

ASKED: list[dict[str, Any]] = [{"key": "irony", "text": "Ironic?", "kind": "yes_no", "required": True}]


def answers(session: Session, resolved: bool = False) -> dict[str | None, Any]:
    """Return answers to a post by annotator, as another process reads them."""
    with Session.open(session.folder) as other:
        return {one.annotator: one.answers for one in other.labeled(resolved) if one.post.id == "p1"}


def test_answers_are_recorded_changed_and_taken_back_with_their_label(tmp_path: Path) -> None:
    session = create(tmp_path / "job", questions=QUESTIONS, overlap=1.0)
    first = Event("label", "kim", "p1", "relevant", answers={"tone": 2, "why": " so "}, id="once-1234")
    for event in (first, first, Event("answers", "kim", "p1", answers={"tone": -1})):
        session.act(event)
    session.label("kim", "p1", "relevant")
    assert answers(session) == {"kim": {"tone": -1}}
    session.label("kim", "p1", "not")  # of which the tone is not asked
    assert answers(session) == {"kim": {}}
    seen = [(session.undo("kim"), answers(session)) for _ in range(4)]
    before: list[Any] = [{"kim": {"tone": -1}}] * 2 + [{"kim": {"tone": 2, "why": "so"}}]
    assert seen == [("p1", one) for one in [*before, {None: None}]]


@pytest.mark.parametrize(
    ("kind", "value", "given", "message"),
    [
        ("label", "relevant", {"irony": "maybe"}, "irony: unknown answer 'maybe'; use yes, no"),
        ("label", "relevant", {}, "irony: an answer is required; use yes, no"),
        ("label", "relevant", None, "irony: an answer is required; use yes, no"),
        ("label", "not", {"irony": "no"}, "irony: not asked of posts labeled not"),
        ("label", "relevant", {"tone": 1}, "tone: not asked .* the questions are irony"),
        ("answers", None, {"irony": "no"}, "'p1' has no label of yours"),
    ],
)
def test_what_no_question_allows_is_refused(
    kind: Any, value: Any, given: Any, message: str, tmp_path: Path
) -> None:
    with create(tmp_path / "job", questions=ASKED) as session:
        with pytest.raises(LinkerError, match=message):
            session.act(Event(kind, "kim", "p1", value, answers=given))
        assert session.number_of_events == 0
        session.act(Event("label", "kim", "p1", "relevant", answers={"irony": "no"}))
        session.label("kim", "p1", "relevant")  # the answer stays
        session.label("kim", "p1", "not")  # of which it is not asked
        with pytest.raises(LinkerError, match="irony: an answer is required"):
            session.label("kim", "p1", "relevant")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"key": "Tone"}, "the key is not"),
        ({"kind": "one_of", "choices": ["a"]}, "give 2 to 30 different choices"),
        ({"kind": "one_of", "choices": ["a", "A"]}, "give 2 to 30 different choices"),
        ({"kind": "scale", "low": 3, "high": 3}, "2 to 11 points, not 1"),
        ({"kind": "number"}, 'expected "yes_no"'),
        ({}, "'irony' is there twice"),
    ],
)
def test_codebooks_are_checked(change: dict[str, Any], message: str) -> None:
    with pytest.raises(LinkerError, match=message):
        build(Codebook, {"questions": [ASKED[0], ASKED[0] | change]})


def test_answers_of_a_post_are_the_decided_ones_else_the_most_frequent(tmp_path: Path) -> None:
    session = create(tmp_path / "job", questions=QUESTIONS, overlap=1.0)
    given: list[dict[str, Any]] = [
        {"tone": 2, "why": "a", "frame_code": "None"},
        {"tone": 2, "frame_code": "=a"},
    ]
    for name, one in zip(("kim", "lee"), given):
        session.act(Event("label", name, "p1", "relevant", answers=one))
    session.act(Event("label", "max", "p1", "not", answers={"frame_code": "=a"}))  # which does not count
    assert answers(session, resolved=True) == {"kim, lee, max": {"tone": 2, "why": "a"}}
    session.act(Event("resolve", "boss", "p1", "relevant", answers={"frame_code": "no, b"}))
    session.resolve("boss", "p1", "relevant")
    found = answers(session, resolved=True)["kim, lee, max"]
    assert found == {"tone": 2, "why": "a", "frame_code": "no, b"}


def test_imports_name_unknown_answers_and_count_those_to_other_questions(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(
        "post_id,label,annotator,answer_tone,answer_frame_code\np1,yes,kim,2,\np2,yes,kim,,none\n"
    )
    with (
        create(tmp_path / "one", questions=QUESTIONS) as one,
        create(tmp_path / "two", questions=ASKED) as two,
    ):
        one.import_labels(read(path).labels)
        assert answers(one) == {"kim": {"tone": 2}}
        left_out = two.import_labels(read(path).labels).left_out
        assert left_out == "2 answers to questions that are not asked of their posts"
        path.write_text(path.read_text().replace("2,", "3,"))
        with pytest.raises(
            LinkerError, match=r"line 2: tone: unknown answer '3'; use -1, 0, 1, 2; nothing was"
        ):
            one.import_labels(read(path).labels, source="labels.csv")


def test_sessions_of_the_first_format_stay_usable(tmp_path: Path) -> None:
    create(tmp_path / "job").close()
    with sqlite3.connect(tmp_path / "job" / "session.sqlite") as database:
        drop = "ALTER TABLE events DROP COLUMN"
        database.executescript(f"{drop} answers; {drop} blind; PRAGMA user_version = 1")
    with Session.open(tmp_path / "job") as session:
        session.label("kim", "p1", "relevant", "note")
        assert answers(session) == {"kim": None}
        with pytest.raises(LinkerError, match="written by an older linker, without blind labels"):
            session.change(True, "random")
        assert not session.settings.blind
