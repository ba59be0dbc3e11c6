"""Random histories of labels in two copies of a session: of labels and notes, the newest by time counts."""

import random
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, cast, get_args
from unittest import mock

from linker.annotation.formats import read, write
from linker.annotation.formats.label_format import LabeledPost, LabelFormat
from linker.annotation.session import merge
from linker.annotation.session import session as session_module
from linker.annotation.session.events import Event
from linker.annotation.session.session import Session
from linker.data.labels.values import LabelValue
from linker.data.types import Article, Post

#: ASReview has one label per post.
_FORMATS = [name for name in sorted(LabelFormat.available()) if name != "asreview"]
_STEPS = ("label", "label", "label", "answers", "undo", "note", "resolve", "export", "import", "import")
#: The first is asked of relevant posts only.
QUESTIONS: list[dict[str, Any]] = [
    {"key": "tone", "text": "How critical?", "kind": "scale", "low": -1, "high": 2},
    {
        "key": "frame_code",
        "text": "Which frame?",
        "kind": "one_of",
        "choices": ["=a", "None", "no, b"],
        "relevant_only": False,
    },
    {"key": "why", "text": "Why?", "kind": "text", "relevant_only": False},
]
_ANSWERS: dict[str, tuple[Any, ...]] = {
    "tone": (-1, 0, 2),
    "frame_code": ("=a", "None", "no, b"),
    "why": ("-3\nNA", "„ja“", "007"),
}


def asked(answers: dict[str, Any], value: str) -> dict[str, Any]:
    """Return the answers to questions that are asked of a post with a label."""
    return (
        {}
        if value == "skip"
        else {key: one for key, one in answers.items() if value == "relevant" or key != "tone"}
    )


def some_answers(value: str, chance: random.Random) -> dict[str, Any]:
    """Return answers to some of the questions that are asked of a post with a label."""
    given = {key: chance.choice(some) for key, some in _ANSWERS.items() if chance.random() < 0.6}
    return asked(given, value)


class Truth:
    """What a session must have. Labels are by annotator and post, adjudicated ones without an annotator."""

    def __init__(self) -> None:
        self.labels: dict[tuple[str, str], tuple[str, datetime]] = {}
        self.notes: dict[tuple[str, str], tuple[str, datetime]] = {}
        self.changed: dict[tuple[str, str], datetime] = {}
        self.answers: dict[tuple[str, str], dict[str, Any]] = {}
        self.answered: dict[tuple[str, str], datetime] = {}
        self.steps: dict[str, list[tuple[str, Any, Any]]] = {}

    def label(self, who: str, post: str, value: str, time: datetime, imported: bool = False) -> None:
        self.step(who, post, imported)
        self.labels[who, post], self.changed[who, post] = (value, time), time
        before = self.answers.get((who, post), {})
        if (kept := asked(before, value)) != before:
            self.answers[who, post] = kept
            self.answered[who, post] = max(time, self.answered.get((who, post), time))

    def answer(self, who: str, post: str, answers: dict[str, Any], time: datetime) -> None:
        if answers or self.answers.get((who, post)):
            self.answers[who, post], self.answered[who, post] = answers, time

    def step(self, who: str, post: str, imported: bool = False) -> None:
        steps = self.steps.setdefault(who, [])
        if imported:  # it is no step that undo takes back
            steps[:] = [step for step in steps if step[0] != post]
        else:
            steps.append((post, self.labels.get((who, post)), self.answers.get((who, post))))

    def undo(self, who: str, time: datetime) -> str | None:
        if not self.steps.get(who):
            return None
        post, before, answers = self.steps[who].pop()
        del self.labels[who, post]
        self.labels |= {(who, post): before} if before else {}
        self.answers[who, post] = answers or {}
        self.changed[who, post] = self.answered[who, post] = time
        return post

    def take(self, records: Sequence[LabeledPost], now: datetime) -> None:
        """Import an export; records without a time are no news where there was a label or note."""
        for record in records:
            key = "" if record.adjudicated else str(record.annotator), record.post.id
            last, noted = self.changed.get(key), record.note_time or record.time
            before, answered = self.answered.get(key), record.answers_time or record.time
            if is_new := last is None or bool(record.time and record.time > last):
                self.label(*key, str(record.value), record.time or now, imported=True)
            news = bool(record.answers or record.answers_time) and key in self.labels
            # The answers of an adjudicated label are part of it.
            if news and (
                is_new if record.adjudicated else before is None or (answered and answered > before)
            ):
                kept = asked(dict(record.answers or {}), self.labels[key][0])
                if answered or kept != self.answers.get(key, {}):
                    self.step(*key, imported=True)
                    self.answers[key] = kept
                    self.answered[key] = max(answered or now, self.answered.get(key, answered or now))
            last = self.notes[key][1] if key in self.notes else None
            if (record.note or record.note_time) and (last is None or (noted and noted > last)):
                self.notes[key] = record.note or "", noted or now


class History:
    """Two copies of a session, the truth of each, and all exports so far."""

    def __init__(self, folder: Path, ids: Sequence[str], chance: random.Random) -> None:
        posts = [Post(id_, f"ferry w{n} y{n * 7919}") for n, id_ in enumerate(ids)]
        Session.create(
            folder / "0", [Article("a", "The ferry sank.")], posts, "bm25", overlap=1.0, questions=QUESTIONS
        ).close()
        shutil.copytree(folder / "0", folder / "1")
        self._pairs = [(Session.open(folder / name), Truth()) for name in "01"]
        self._folder, self._ids, self._chance = folder, ids, chance
        self._exports: list[tuple[Path, list[LabeledPost]]] = []

    def run(self, steps: int) -> str:
        """Label, note, undo, adjudicate, export, and import any earlier export; returns what went wrong, or nothing."""
        for step in range(steps):
            time = datetime(2026, 5, 1, tzinfo=timezone.utc) + timedelta(seconds=step)
            session, truth = self._chance.choice(self._pairs)
            with ExitStack() as clocks:
                for module in (session_module, merge):
                    clocks.enter_context(mock.patch.object(module, "now", lambda time=time: time))
                done = self._step(session, truth, self._folder / f"export-{step}", time)
            back: dict[tuple[str, str], Any] = {}
            for record in session.labeled(machines=True):
                if record.value:
                    key = "" if record.adjudicated else str(record.annotator), record.post.id
                    back[key] = (record.value, record.time), record.note or "", record.answers or {}
            expected = {
                key: (label, truth.notes.get(key, ("",))[0], truth.answers.get(key, {}))
                for key, label in truth.labels.items()
            }
            for key in back.keys() | expected.keys():
                if back.get(key) != expected.get(key):
                    return f"step {step}, {done}: {key} is {back.get(key)}, not {expected.get(key)}"
        for session, _ in self._pairs:
            session.close()
        return ""

    def _step(self, session: Session, truth: Truth, path: Path, time: datetime) -> str:
        who, post, step = (self._chance.choice(some) for some in (("ann", "bo"), self._ids, _STEPS))
        value = cast(LabelValue, self._chance.choice(get_args(LabelValue)))
        note = self._chance.choice(("", f"note of {path.name}"))
        if step == "label":
            answers = self._chance.choice((None, some_answers(value, self._chance)))
            session.act(Event("label", who, post, value, note, answers=answers))
            truth.label(who, post, value, time)
            if answers is not None:
                truth.answer(who, post, answers, time)
        elif step == "answers" and (label := truth.labels.get((who, post))):
            answers = some_answers(label[0], self._chance)
            session.act(Event("answers", who, post, answers=answers))
            truth.step(who, post)
            truth.answers[who, post], truth.answered[who, post] = answers, time
        elif step == "undo":
            undone, expected = session.undo(who), truth.undo(who, time)
            assert undone == expected, f"{undone} was undone, not {expected}"
        elif step == "note":
            session.note(who, post, note)
        elif step == "resolve":
            answers = self._chance.choice((None, some_answers(value, self._chance)))
            session.act(Event("resolve", "chief", post, value, answers=answers))
            truth.label("", post, value, time)
            if answers is not None:
                truth.answer("", post, answers, time)
            if value == "skip":  # it withdraws the label
                del truth.labels["", post]
        elif step == "export":
            name = self._chance.choice(_FORMATS)
            records = [
                one for one in session.labeled(machines=LabelFormat.by_name(name).marks_machines) if one.value
            ]
            write(path, name, records, questions=session.codebook.questions)
            if name == "argilla":
                no_times: dict[str, Any] = {"time": None, "note_time": None, "answers_time": None}
                records = [replace(record, **no_times) for record in records]
            self._exports += [(path, records)] * bool(records)
        elif self._exports:
            path, records = self._chance.choice(self._exports)
            session.import_labels(read(path).labels, source=path.name)
            truth.take(records, time)
        if (step == "label" and note) or step == "note":
            truth.notes[who, post] = note, time
        return f"{step} of {who}, {post}, {path.name}"
