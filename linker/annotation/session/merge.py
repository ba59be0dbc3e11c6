"""Import of labels into a session: of two labels of a post by one annotator, the later one counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import Literal, NamedTuple

from linker.annotation.codebook import Codebook
from linker.annotation.pool import Pool
from linker.annotation.session.events import Event, name_key, now
from linker.annotation.session.label_set import LabelSet
from linker.annotation.session.state import SessionState
from linker.common.errors import DataError, LinkerError
from linker.data.io.fields import is_missing
from linker.data.labels.matching import match_labels
from linker.data.labels.post_labels import LabelFile
from linker.data.labels.records import ImportedLabel
from linker.data.types import Post

_TAKEN = ("new", "corrected", "again")


class Imported(NamedTuple):
    """Numbers of labels of a file by what became of them; the others were there already.

    Attributes:
        new: labels, changes, notes, answers and adjudications that were recorded.
        older: labels, notes or answers left out, since the session has a later one, or took it back later.
        undated: labels, notes or answers left out, since they differ from the session's without a time.
        unmatched: labels left out, since they belong to no post.
        unasked: answers left out, since their question is not asked of the post.
    """

    new: int = 0
    older: int = 0
    undated: int = 0
    unmatched: int = 0
    unasked: int = 0

    @property
    def left_out(self) -> str:
        """What was left out, as clauses; empty if nothing was."""
        parts = (
            (self.older, "older than what is known of their posts"),
            (self.undated, "without a time that differ from what is known of their posts"),
            (self.unmatched, "of no post"),
            (self.unasked, "answers to questions that are not asked of their posts"),
        )
        return ", ".join(f"{count:,} {what}" for count, what in parts if count)


def events_of(
    labels: Sequence[ImportedLabel],
    state: SessionState,
    annotator: str | None,
    source: str,
    label_set: LabelSet,
    codebook: Codebook,
    pool: Pool,
    posts: Sequence[Post],
    machine: bool = False,
) -> tuple[list[Event], Imported]:
    """Return the events that import labels, and their numbers; labels that the session already has are left out.

    Labels belong to posts by id, else by text; those that match none, or are of other articles, are left out and
    counted on standard error. Of two labels of a post by one annotator, the later one counts, also if it was undone;
    so does the later of two notes. A label with the time of the session's is a correction of it.

    Args:
        labels: labels read from a file.
        state: state of the session.
        annotator: annotator of labels without a name in the file.
        source: name of the file in messages.
        label_set: the labels of the session.
        codebook: its further questions.
        pool: its distinct posts.
        posts: all posts.
        machine: whether programs gave the labels, whatever the file says.

    Raises:
        DataError: if no label is of a post and article of the session, a label has no annotator, a label or answer is
            unknown, or a name is that of a person and a machine.
    """
    if not labels:
        return [], Imported()
    kept = LabelFile(source, labels).of_articles(pool.articles).labels
    matches = match_labels(posts, kept)
    matches.report(source)
    merge = _Merge(state, codebook)
    for label, post_id in zip(kept, matches.post_ids):
        if post_id is None:
            continue
        unit = "record" if source.endswith(".json") else "line"
        where = f"{source}, {unit} {label.line}" if label.line else source
        author = label.annotator or annotator
        if author is None:
            raise DataError(f"{where}: a label without an annotator; name one with --annotator")
        by_machine = machine or label.machine
        name = merge.name(author, by_machine, where)
        try:
            label_set.check(label.value, label.choice)
            answers = codebook.kept(label.answers or {}, label.value)
        except LinkerError as error:
            raise DataError(f"{where}: {error}; nothing was imported") from error
        # Events name a label only where several have its value.
        merge.numbers["unasked"] -= len(answers) - sum(
            not is_missing(one) for one in (label.answers or {}).values()
        )
        label = replace(
            label, post_id=post_id, choice=label.choice if label_set.named else None,
            answers=answers if answers or label.answers_time else None,
        )  # fmt: skip
        merge.add("machine" if by_machine else "resolve" if label.adjudicated else "label", name, label)
    numbers = {name: merge.numbers[name] for name in ("new", "older", "undated", "unasked")}
    return merge.events, Imported(**numbers, unmatched=len(matches.unmatched))


class _Merge:
    """Takes labels of a file into what a session has.

    Attributes:
        events: the events that record them.
        numbers: labels by what became of them, as in `Imported`.
    """

    def __init__(self, state: SessionState, codebook: Codebook) -> None:
        self.events: list[Event] = []
        self.numbers: Counter[str] = Counter()
        self._state, self._codebook, self._spelled = state, codebook, dict[str, str]()
        people = {name: person.labels for name, person in state.annotators.items() if person.labels}
        self._is_machine = dict.fromkeys(people, False) | dict.fromkeys(state.machines, True)
        # By post and annotator, adjudicated ones without a name; these grow with the events.
        self._labels = {
            (index, name): label
            for name, labels in (people | state.machines | {"": state.adjudicated}).items()
            for index, label in labels.items()
        }
        # Of labels without a time, the last in the file counts.
        self._undated = set[tuple[int, str]]()
        self._changed, self._notes, self._noted = dict(state.changed), dict(state.notes), dict(state.noted)
        self._answered = dict(state.answered)

    def name(self, author: str, is_machine: bool, where: str) -> str:
        """Return the name of an annotator as the session spells it.

        Raises:
            DataError: if it is the name of a person and a machine.
        """
        name = self._spelled.setdefault(name_key(author), self._state.spelling(author))
        if self._is_machine.setdefault(name, is_machine) != is_machine:
            this, other = ("person", "machine") if is_machine else ("machine", "person")
            raise DataError(
                f"{where}: {name!r} is a {this}, and cannot be a {other} as well; use another name; "
                "nothing was imported"
            )
        return name

    def add(self, kind: Literal["label", "machine", "resolve"], name: str, label: ImportedLabel) -> None:
        """Take a label, its note and its answers."""
        index, time = self._state.indices[label.post_id], _aware(label.time)
        key = index, "" if kind == "resolve" else name
        before, last = self._labels.get(key), self._changed.get(key)
        same = before is not None and (before.value, before.choice) == (label.value, label.choice)
        earlier = (before and before.answers) or {}
        # Of machines and adjudicated labels, answers are a part.
        part = earlier if kind == "label" else label.answers or earlier
        in_order = kind == "machine" or key in self._undated  # programs label again without times
        fate = _fate(in_order, same and part == earlier, time, last, before.time if before else None)
        note, note_fate, note_time = None, "", _aware(label.note_time) or time
        if kind != "resolve" and (label.note or label.note_time):
            same, noted = label.note == self._notes.get(key, ""), self._noted.get(key)
            note_fate = _fate(in_order, same, note_time, noted, noted)
        if note_fate in _TAKEN:
            note, note_time = label.note, _moment(note_fate, note_time)
            self._notes[key], self._noted[key] = note, note_time
        if fate in _TAKEN or (kind == "machine" and note is not None):
            event = (
                Event(kind, name, label.post_id, strategy=label.sample)
                if before is None
                else replace(before, id=None, annotator=name)
            )
            at, kept = _moment(fate, time), self._codebook.kept(part, label.value)
            event = replace(
                event, value=label.value, choice=label.choice, note=None, time=at, imported=True,
                answers=kept if kept != earlier else None, blind=label.blind,
            )  # fmt: skip
            if note is not None and (note_time == at or kind == "machine"):
                event, note = replace(event, note=note), None
            self.events.append(event)
            self._labels[key], self._changed[key] = replace(event, answers=kept), max(at, last or at)
        if note is not None:
            self.events.append(
                Event("note", name, label.post_id, note=note, time=note_time or now(), imported=True)
            )
        fates = [fate, note_fate, self._answers(key, name, label, in_order) if kind == "label" else ""]
        if fate in _TAKEN and kept != earlier:  # as the state does
            self._answered[key] = max(at, self._answered.get(key, at))
        self._undated |= {key} if time is None and "new" in fates else set()
        self.numbers.update({"new" if each == "corrected" else each for each in fates})

    def _answers(self, key: tuple[int, str], name: str, label: ImportedLabel, in_order: bool) -> str:
        """Take the answers of a person's label that the session has by now; return what became of them."""
        current, time = self._labels.get(key), _aware(label.answers_time or label.time)
        if label.answers is None or current is None:
            return ""
        kept, answered = self._codebook.kept(label.answers, current.value), self._answered.get(key)
        fate = _fate(in_order, kept == (current.answers or {}), time, answered, answered)
        if fate in _TAKEN:
            at = self._answered[key] = _moment(fate, time)
            self.events.append(Event("answers", name, label.post_id, time=at, imported=True, answers=kept))
            self._labels[key] = replace(current, answers=kept)
        return fate


def _fate(
    in_order: bool, same: bool, time: datetime | None, last: datetime | None, current: datetime | None
) -> str:
    """Return what becomes of a label, note or answers; empty: nothing, as the session has it.

    Args:
        in_order: whether it counts without a time.
        same: whether the session has the same.
        time: its time.
        last: time of the last change in the session; None: there was none.
        current: time of the session's; None: there is none.
    """
    if same:  # given or taken back later, it counts against those between
        return "again" if time and (last is None or time > last) else ""
    if last is None or (time is None and in_order):
        return "new"
    if time is None:
        return "undated"
    if time == current:
        return "corrected"
    return "new" if time > last else "older"


def _moment(fate: str, time: datetime | None) -> datetime:
    """Return the time of an event: a correction is as late as its import, so that the file before it is older."""
    return now() if time is None or fate == "corrected" else time


def _aware(time: datetime | None) -> datetime | None:
    return time.replace(tzinfo=timezone.utc) if time is not None and time.tzinfo is None else time
