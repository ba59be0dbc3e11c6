"""The state of a session, replayed from its events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone

import numpy as np

from linker.annotation.pool import Labels
from linker.annotation.session.events import Event
from linker.annotation.session.label_set import LabelSet

#: An assignment expires after this much inactivity of its annotator.
LEASE = timedelta(minutes=30)
#: Longer pauses between labels are breaks and do not count towards labeling speed.
BREAK = timedelta(minutes=5)
LONG_AGO = datetime(1, 1, 1, tzinfo=timezone.utc)


@dataclass
class Annotator:
    """Labels and assignments of one annotator. Posts are indices into the pool.

    Attributes:
        labels: post → event of the current label.
        assigned: post → event of the assignment, for posts not labeled yet, in display order.
        seen: posts ever assigned or labeled.
        undo_stack: labeled posts with the labels before, newest last.
        last: time of the last event, in the order of the events: a clock may have been set back.
        work: time between labels, without breaks.
        worked: number of labels given in that time.
    """

    labels: dict[int, Event] = field(default_factory=dict)
    assigned: dict[int, Event] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    undo_stack: list[tuple[int, Event | None]] = field(default_factory=list)
    last: datetime = LONG_AGO
    last_label: datetime | None = None
    work: timedelta = timedelta()
    worked: int = 0


class SessionState:
    """State replayed from events; the same events give the same state.

    Args:
        indices: post id → index in the pool; near-duplicates share one.
        size: number of posts in the pool.
        labels_per_post: number of annotators who label a post of the overlap, from 2.

    Attributes:
        annotators: people, by name, in order of appearance.
        machines: programs, by name → post → label. They are compared with people and count for nothing else.
        notes: (post, annotator) → note.
        adjudicated: post → event of the adjudicated label, which may be `skip`: it was withdrawn.
        labeled: bool, one per post: whether it has a label other than skip, or an adjudicated label.
        short_of_labels: posts with labels of some annotators, but fewer than `labels_per_post` (skips do not count),
            in the order of labeling.
        revision: number of labels, undos and adjudications so far.
    """

    def __init__(self, indices: Mapping[str, int], size: int, labels_per_post: int = 2) -> None:
        self.indices = indices
        self.labels_per_post = labels_per_post
        self.annotators: dict[str, Annotator] = {}
        self.machines: dict[str, dict[int, Event]] = {}
        self.notes: dict[tuple[int, str], str] = {}
        self.adjudicated: dict[int, Event] = {}
        self.labeled = np.zeros(size, dtype=bool)
        self.short_of_labels: dict[int, None] = {}
        self.revision = 0
        self._several: dict[int, None] = {}
        self._unreached: set[int] = set()
        # In the order of labeling: relevant, and whether the first annotator got the post from a random sample.
        self._labeled: dict[int, tuple[bool, bool]] = {}
        self._labels: Labels | None = None

    def annotator(self, name: str) -> Annotator:
        """Return the labels and assignments of an annotator, empty for a new one."""
        return self.annotators.get(name) or Annotator()

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
        if event.note is not None:
            self.notes[index, event.annotator] = event.note
        if event.kind == "machine":
            self.machines.setdefault(event.annotator, {})[index] = event
            return
        person = self.annotators.setdefault(event.annotator, Annotator())
        if not event.imported:
            person.last = event.time
        if event.kind == "assign":
            person.assigned[index] = event
            person.seen.add(index)
            if event.at_random and (missed := self._held_by_others(event.time, event.annotator)):
                self._unreached |= missed
                self._labels = None
        elif event.kind == "label":
            self._label(person, index, event)
        elif event.kind == "undo":
            self._undo(person, index, event)
        elif event.kind == "resolve":
            self.adjudicated[index] = event
        if event.kind in ("label", "undo", "resolve"):
            self._settle(index, event.at_random)

    def _label(self, person: Annotator, index: int, event: Event) -> None:
        if not event.imported:
            person.undo_stack.append((index, person.labels.get(index)))
            if person.last_label is not None and timedelta() <= event.time - person.last_label <= BREAK:
                person.work += event.time - person.last_label
                person.worked += 1
            person.last_label = event.time
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

    def _settle(self, index: int, at_random: bool) -> None:
        self._labels = None
        self.revision += 1
        count = len(self._votes(index))
        short = 0 < count < self.labels_per_post
        for posts, belongs in ((self.short_of_labels, short), (self._several, count > 1)):
            if belongs:
                posts.setdefault(index)
            else:
                posts.pop(index, None)
        relevant = self.value(index)
        if relevant is None:
            self._labeled.pop(index, None)
        else:
            _, first_at_random = self._labeled.get(index, (None, at_random))
            self._labeled[index] = relevant, first_at_random
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
        if self.is_adjudicated(index):
            return self.adjudicated[index].value == "relevant"
        votes = self._votes(index)
        return 2 * sum(votes) >= len(votes) if votes else None

    def is_adjudicated(self, index: int) -> bool:
        """Return whether a post has an adjudicated label."""
        return index in self.adjudicated and self.adjudicated[index].value != "skip"

    def name(self, index: int, label_set: LabelSet) -> str | None:
        """Return the name of a post's label: of the adjudicated one, else the most frequent that counts like the post.

        None: the post has no label with a name, or several names are equally frequent.
        """
        if self.is_adjudicated(index):
            return label_set.name(self.adjudicated[index])
        value = "relevant" if self.value(index) else "not"
        labels = [label for label in self.labels_of(index).values() if label.value == value]
        names = [name for label in labels if (name := label_set.name(label)) is not None]
        first = Counter(names).most_common(2)
        return first[0][0] if first and (len(first) == 1 or first[0][1] > first[1][1]) else None

    def disputed(self) -> list[int]:
        """Return the posts with as many labels `relevant` as `not`, and no adjudicated label."""
        return [
            index
            for index in self._several
            if 2 * sum(votes := self._votes(index)) == len(votes) and not self.is_adjudicated(index)
        ]

    def labels(self) -> Labels:
        """Return all labels of the pool, one per labeled post."""
        if self._labels is None:
            flags = np.array(list(self._labeled.values()), dtype=bool).reshape(-1, 2)
            posts = np.array(list(self._labeled), dtype=np.int64)
            self._labels = Labels(posts, flags[:, 0], flags[:, 1], len(self.unreached))
        return self._labels

    @property
    def unreached(self) -> set[int]:
        """Unlabeled posts that a random sample could not contain, because other pages held them at that time."""
        return {index for index in self._unreached if not self.labeled[index]}

    def held(self, time: datetime) -> int:
        """Return how many posts that samples could not contain are open on pages other than the one used last."""
        latest = max(self.annotators, key=lambda name: self.annotators[name].last, default="")
        return len(self.unreached & self._held_by_others(time, latest))

    def _held_by_others(self, time: datetime, but: str) -> set[int]:
        """Return the unlabeled posts that others hold; not those of a random sample, of which they are a part."""
        drawn_otherwise = {
            index
            for person in self.annotators.values()
            for index, assignment in person.assigned.items()
            if not assignment.at_random
        }
        return {
            index for index in self.leased_by_others(time, but) & drawn_otherwise if not self.labeled[index]
        }

    def leased_by_others(self, time: datetime, but: str) -> set[int]:
        """Return the posts assigned to annotators other than `but` whose leases have not expired at `time`.

        A lease from the future, under a clock that was set ahead, does not count if it begins after this lease's end.
        """
        return {
            index
            for name, person in self.annotators.items()
            if name != but and abs(time - person.last) < LEASE
            for index in person.assigned
        }
