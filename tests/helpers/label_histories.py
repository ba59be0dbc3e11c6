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
from linker.annotation.session.session import Session
from linker.data.labels.values import LabelValue
from linker.data.types import Article, Post

#: ASReview has one label per post.
_FORMATS = [name for name in sorted(LabelFormat.available()) if name != "asreview"]
_STEPS = ("label", "label", "label", "undo", "note", "resolve", "export", "import", "import")


class Truth:
    """What a session must have. Labels are by annotator and post, adjudicated ones without an annotator."""

    def __init__(self) -> None:
        self.labels: dict[tuple[str, str], tuple[str, datetime]] = {}
        self.notes: dict[tuple[str, str], tuple[str, datetime]] = {}
        self.changed: dict[tuple[str, str], datetime] = {}
        self.steps: dict[str, list[tuple[str, Any]]] = {}

    def label(self, who: str, post: str, value: str, time: datetime, imported: bool = False) -> None:
        steps = self.steps.setdefault(who, [])
        if imported:  # it is no step that undo takes back
            steps[:] = [step for step in steps if step[0] != post]
        else:
            steps.append((post, self.labels.get((who, post))))
        self.labels[who, post], self.changed[who, post] = (value, time), time

    def undo(self, who: str, time: datetime) -> str | None:
        if not self.steps.get(who):
            return None
        post, before = self.steps[who].pop()
        del self.labels[who, post]
        self.labels |= {(who, post): before} if before else {}
        self.changed[who, post] = time
        return post

    def take(self, records: Sequence[LabeledPost], now: datetime) -> None:
        """Import an export; records without a time are no news where there was a label or note."""
        for record in records:
            key = "" if record.adjudicated else str(record.annotator), record.post.id
            last, noted = self.changed.get(key), record.note_time or record.time
            if last is None or (record.time and record.time > last):
                self.label(*key, str(record.value), record.time or now, imported=True)
            last = self.notes[key][1] if key in self.notes else None
            if (record.note or record.note_time) and (last is None or (noted and noted > last)):
                self.notes[key] = record.note or "", noted or now


class History:
    """Two copies of a session, the truth of each, and all exports so far."""

    def __init__(self, folder: Path, ids: Sequence[str], chance: random.Random) -> None:
        posts = [Post(id_, f"ferry w{n} y{n * 7919}") for n, id_ in enumerate(ids)]
        Session.create(folder / "0", [Article("a", "The ferry sank.")], posts, "bm25", overlap=1.0).close()
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
                    back[key] = (record.value, record.time), record.note or ""
            expected = {key: (label, truth.notes.get(key, ("",))[0]) for key, label in truth.labels.items()}
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
            session.label(who, post, value, note)
            truth.label(who, post, value, time)
        elif step == "undo":
            undone, expected = session.undo(who), truth.undo(who, time)
            assert undone == expected, f"{undone} was undone, not {expected}"
        elif step == "note":
            session.note(who, post, note)
        elif step == "resolve":
            session.resolve("chief", post, value)
            truth.label("", post, value, time)
            if value == "skip":  # it withdraws the label
                del truth.labels["", post]
        elif step == "export":
            name = self._chance.choice(_FORMATS)
            records = [
                one for one in session.labeled(machines=LabelFormat.by_name(name).marks_machines) if one.value
            ]
            write(path, name, records)
            if name == "argilla":
                records = [replace(record, time=None, note_time=None) for record in records]
            self._exports += [(path, records)] * bool(records)
        elif self._exports:
            path, records = self._chance.choice(self._exports)
            session.import_labels(read(path).labels, source=path.name)
            truth.take(records, time)
        if (step == "label" and note) or step == "note":
            truth.notes[who, post] = note, time
        return f"{step} of {who}, {post}, {path.name}"
