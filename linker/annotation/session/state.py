"""The state of a session, replayed from its events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from typing import TypeVar

import numpy as np

from linker.annotation.codebook import Answers, Codebook
from linker.annotation.pool import Labels
from linker.annotation.session.events import Event, annotator_name, name_key
from linker.annotation.session.label_set import LabelSet
from linker.data.labels.values import LabelValue

#: An assignment expires after this much inactivity of its annotator.
LEASE = timedelta(minutes=30)
Value = TypeVar("Value", bound=Hashable)


@dataclass
class Annotator:
    """Labels and assignments of one annotator. Posts are indices into the pool.

    Attributes:
        labels: post → event of the current label, with the current answers.
        independent: post → event of the label when the labels of others were shown; a skip if there was none.
        assigned: post → event of the assignment, for posts not labeled yet, in display order.
        seen: posts ever assigned or labeled.
        undo_stack: labeled posts with the labels before, newest last.
        last: time of the last event, in the order of the events: a clock may have been set back.
    """

    labels: dict[int, Event] = field(default_factory=dict)
    independent: dict[int, Event] = field(default_factory=dict)
    assigned: dict[int, Event] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    undo_stack: list[tuple[int, Event | None]] = field(default_factory=list)
    last: datetime = datetime(1, 1, 1, tzinfo=timezone.utc)


class SessionState:
    """State replayed from events; the same events give the same state.

    Args:
        indices: post id → index in the pool; near-duplicates share one.
        shared: bool, one per post of the pool: whether several annotators label it.
        labels_per_post: number of annotators who label a shared post, from 2.

    Attributes:
        annotators: people, by name, in order of appearance.
        machines: programs, by name → post → label. They are compared with people and count for nothing else.
        notes: (post, annotator) → note.
        noted: (post, annotator) → time of the note.
        changed: (post, annotator) → latest time at which the label was given or taken back; of adjudicated labels
            (post, empty name).
        answered: (post, annotator) → latest time at which answers were given or taken back; as in `changed`.
        adjudicated: post → event of the adjudicated label.
        drawn: post → the first assignment with which it was sampled at random, in the order of drawing.
        labeled: bool, one per post: whether it has a label other than skip, or an adjudicated label.
        waiting: shared posts with labels of some annotators, but fewer than `labels_per_post` (skips do not count), and
            no adjudicated label, in the order of labeling.
        disputed: posts with as many labels `relevant` as `not`, and no adjudicated label.
        revision: number of labels, undos and adjudications so far.
    """

    def __init__(self, indices: Mapping[str, int], shared: np.ndarray, labels_per_post: int = 2) -> None:
        self.indices, self._shared, self._labels_per_post = indices, shared, labels_per_post
        self.annotators: dict[str, Annotator] = {}
        self.machines: dict[str, dict[int, Event]] = {}
        self.notes: dict[tuple[int, str], str] = {}
        self.noted: dict[tuple[int, str], datetime] = {}
        self.changed: dict[tuple[int, str], datetime] = {}
        self.answered: dict[tuple[int, str], datetime] = {}
        self.adjudicated: dict[int, Event] = {}
        self.drawn: dict[int, Event] = {}
        self.labeled = np.zeros(len(shared), dtype=bool)
        self.waiting: dict[int, None] = {}
        self.disputed: dict[int, None] = {}
        self.revision = 0
        self._names: dict[str, str] = {}
        # Post → whether it is relevant, in the order of labeling; number of labels before each random draw.
        self._labeled: dict[int, bool] = {}
        self._drawn_after: list[int] = []

    def annotator(self, name: str) -> Annotator:
        """Return the labels and assignments of an annotator, empty for a new one."""
        return self.annotators.get(name) or Annotator()

    def spelling(self, name: str) -> str:
        """Return an annotator's name as it was spelled first, so that `ann ` and `Ann` are one person.

        Raises:
            RefusedError: if it is not a valid name.
        """
        name = annotator_name(name)
        return self._names.get(name_key(name), name)

    def waiting_for(self, people: Iterable[str]) -> dict[str, int]:
        """Return name → number of `waiting` posts that a person has neither labeled nor skipped, if there are any."""
        left = {name: self.waiting.keys() - self.annotator(self.spelling(name)).labels for name in people}
        return {name: len(posts) for name, posts in left.items() if posts}

    def labels_of(self, index: int) -> dict[str, Event]:
        """Return annotator → label for a post."""
        return {
            name: person.labels[index] for name, person in self.annotators.items() if index in person.labels
        }

    def apply(self, event: Event) -> None:
        """Apply an event.

        Raises:
            KeyError: if the post is unknown.
            IndexError: if nothing can be taken back.
        """
        if not event.post:
            return
        index = self.indices[event.post]
        self._names.setdefault(name_key(event.annotator), event.annotator)
        if event.note is not None:
            self.notes[index, event.annotator] = event.note
            self.noted[index, event.annotator] = event.time
        key = index, "" if event.kind == "resolve" else event.annotator
        if event.kind in ("label", "machine", "undo", "resolve"):
            self.changed[key] = max(event.time, self.changed.get(key, event.time))
        if event.answers is not None or event.kind == "undo":
            self.answered[key] = max(event.time, self.answered.get(key, event.time))
        if event.kind == "machine":
            labels = self.machines.setdefault(event.annotator, {})
            labels[index] = _with_answers(event, labels.get(index))
            return
        person = self.annotators.setdefault(event.annotator, Annotator())
        if not event.imported:
            person.last = event.time
        if event.kind == "assign":
            person.assigned[index] = event
            person.seen.add(index)
            if event.at_random and index not in self.drawn:
                self.drawn[index] = event
                self._drawn_after.append(len(self._labeled))
        elif event.kind == "label":
            self._label(person, index, _with_answers(event, person.labels.get(index)), event.imported)
        elif event.kind == "answers":
            label = replace(person.labels[index], answers=event.answers)
            self._label(person, index, label, event.imported)
        elif event.kind == "undo":
            self._undo(person, index, event)
        if event.kind in ("reveal", "resolve"):  # who adjudicates has read the labels
            person.independent.setdefault(
                index, person.labels.get(index, replace(event, value="skip", answers=None))
            )
        if event.kind == "resolve":
            before = self.adjudicated.pop(index, None)
            if event.value != "skip":
                self.adjudicated[index] = _with_answers(event, before)
        if event.kind in ("label", "undo", "resolve"):
            self._settle(index)

    def _label(self, person: Annotator, index: int, event: Event, imported: bool) -> None:
        if imported:
            # Undo takes back what was labeled here, not the correction of it that was imported.
            person.undo_stack = [entry for entry in person.undo_stack if entry[0] != index]
        else:
            person.undo_stack.append((index, person.labels.get(index)))
        person.labels[index] = event
        person.assigned.pop(index, None)
        person.seen.add(index)

    def _undo(self, person: Annotator, index: int, event: Event) -> None:
        _, before = person.undo_stack.pop()
        undone = person.labels.pop(index)
        if before is not None:
            person.labels[index] = before
            return
        for other in self.annotators.values():
            # The post goes back to this annotator only, not to others who had it assigned when it was labeled.
            if other.assigned.pop(index, None):
                other.seen.discard(index)
        again = replace(undone, kind="assign", time=event.time, position=0)
        person.assigned = {index: again, **person.assigned}
        person.seen.add(index)

    def _settle(self, index: int) -> None:
        self.revision += 1
        votes, open_ = self._votes(index), index not in self.adjudicated
        needs_more = bool(self._shared[index]) and 0 < len(votes) < self._labels_per_post
        is_tie = bool(votes) and 2 * sum(votes) == len(votes)
        for posts, belongs in ((self.waiting, needs_more), (self.disputed, is_tie)):
            if belongs and open_:
                posts.setdefault(index)
            else:
                posts.pop(index, None)
        relevant = self.value(index)
        if relevant is None:
            self._labeled.pop(index, None)
        else:
            self._labeled[index] = relevant
        self.labeled[index] = relevant is not None

    def _votes(self, index: int) -> list[bool]:
        """Return whether each annotator who did not skip a post calls it relevant."""
        return [
            label.value == "relevant" for label in self.labels_of(index).values() if label.value != "skip"
        ]

    def value(self, index: int) -> bool | None:
        """Return whether a post is relevant: the adjudicated label, else the majority; a tie counts as relevant.

        None: the post has no label.
        """
        if index in self.adjudicated:
            return self.adjudicated[index].value == "relevant"
        votes = self._votes(index)
        return 2 * sum(votes) >= len(votes) if votes else None

    def name(self, index: int, label_set: LabelSet) -> str | None:
        """Return the name of a post's label: of the adjudicated one, else the most frequent that counts like the post.

        None: the post has no label with a name, or several names are equally frequent.
        """
        if index in self.adjudicated:
            return label_set.name(self.adjudicated[index])
        value = "relevant" if self.value(index) else "not"
        labels = [label for label in self.labels_of(index).values() if label.value == value]
        return _most_frequent(name for label in labels if (name := label_set.name(label)) is not None)

    def answers(self, index: int, codebook: Codebook) -> Answers:
        """Return the answers that count for a post: the decided ones, else the most frequent of its labels' answers.

        Only labels that count like the post have a say; a question with several most frequent answers has none.
        """
        relevant = self.value(index)
        value: LabelValue = "skip" if relevant is None else "relevant" if relevant else "not"
        decided = (index in self.adjudicated and self.adjudicated[index].answers) or {}
        given = [label.answers or {} for label in self.labels_of(index).values() if label.value == value]
        keys = [question.key for question in codebook.asked(value)]
        most = {key: _most_frequent(answers[key] for answers in given if key in answers) for key in keys}
        return {key: answer for key, answer in {**most, **decided}.items() if answer is not None}

    def labels(self) -> Labels:
        """Return all labels of the pool, one per labeled post, by any annotator and also imported ones."""
        posts, size = np.fromiter(self._labeled, dtype=np.int64), len(self._labeled)
        places = np.full(len(self.labeled), -1)
        places[posts] = np.arange(size)
        drawn = places[np.fromiter(self.drawn, dtype=np.int64)]
        relevant, at_random = np.fromiter(self._labeled.values(), dtype=bool), np.zeros(size, dtype=bool)
        at_random[drawn[drawn >= 0]] = True
        after = np.array(self._drawn_after, dtype=np.int64)
        return Labels(posts, relevant, at_random, np.column_stack([drawn, np.minimum(after, size)]))

    def pending(self, annotator: str) -> dict[int, Event]:
        """Return post → assignment for the posts that an annotator is still to label, in display order."""
        assigned = self.annotator(annotator).assigned
        return {
            index: event
            for index, event in assigned.items()
            if not self.labeled[index] or index in self.waiting
        }

    def leased_to_others(self, time: datetime, annotator: str) -> dict[int, Event]:
        """Return post → assignment for the posts of other annotators whose leases have not expired at `time`.

        A lease from the future, under a clock that was set ahead, does not count if it begins after this lease's end.
        """
        return {
            index: event
            for name, person in self.annotators.items()
            if name != annotator and abs(time - person.last) < LEASE
            for index, event in person.assigned.items()
        }


def _with_answers(label: Event, before: Event | None) -> Event:
    """Return a label with its answers, or with those of the label before."""
    return replace(label, answers=before.answers) if before and label.answers is None else label


def _most_frequent(values: Iterable[Value]) -> Value | None:
    first = Counter(values).most_common(2)
    return first[0][0] if first and (len(first) == 1 or first[0][1] > first[1][1]) else None
