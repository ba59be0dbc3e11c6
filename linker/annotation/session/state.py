"""The state of a session, replayed from the events of its journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

import numpy as np

from linker.annotation.pool import Labels
from linker.annotation.session.journal import Event
from linker.annotation.session.label_set import LabelSet
from linker.data.labels.values import LabelValue

#: An assignment expires after this much inactivity of its annotator.
LEASE = timedelta(minutes=30)
#: Longer pauses between labels are breaks and do not count towards labeling speed.
BREAK = timedelta(minutes=5)
LONG_AGO = datetime(1, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True, slots=True)
class Label:
    """A label: value, time, whether the post came from a random sample, its name in the label set, if needed, and
    whether the post was suggested to the annotator, not labeled by its id or elsewhere."""

    value: LabelValue
    time: datetime
    at_random: bool = False
    choice: str | None = None
    drawn: bool = False


@dataclass(frozen=True, slots=True)
class Assignment:
    """A post assigned to an annotator: when, whether sampled at random, and its position in the queue."""

    time: datetime
    at_random: bool
    position: int


@dataclass
class Annotator:
    """Labels and assignments of one annotator. Posts are indices into the pool.

    Attributes:
        given: post → current label.
        assigned: post → assignment, for posts not labeled yet, in display order.
        seen: posts ever assigned or labeled.
        undo_stack: labeled posts with their previous labels, newest last.
        last: time of the last event, in the order of the journal: a clock may have been set back.
        work: time between labels, without breaks.
        worked: number of labels given in that time.
    """

    given: dict[int, Label] = field(default_factory=dict)
    assigned: dict[int, Assignment] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    undo_stack: list[tuple[int, Label | None]] = field(default_factory=list)
    last: datetime = LONG_AGO
    last_label: datetime | None = None
    work: timedelta = timedelta()
    worked: int = 0


class SessionState:
    """State replayed from events; the same events give the same state.

    Args:
        places: post id → index in the pool; near-duplicates share one.
        size: number of posts in the pool.
        labels_per_post: number of annotators who label a post of the overlap, from 2.

    Attributes:
        annotators: people, by name, in order of appearance.
        machines: programs, by name → post → label. They are compared with people and count for nothing else.
        notes: (post, annotator) → note.
        resolved: post → adjudicated label.
        resolvers: post → who gave it.
        labeled: bool, one per post: whether it has a label other than skip, or an adjudicated label.
        short_of_labels: posts with labels of some annotators, but fewer than `labels_per_post` (skips do not count),
            in the order of labeling.
        revision: number of labels, undos and adjudications so far.
        requests: idempotency key of an action → the id of its post.
    """

    def __init__(self, places: Mapping[str, int], size: int, labels_per_post: int = 2) -> None:
        self.places = places
        self.labels_per_post = labels_per_post
        self.annotators: dict[str, Annotator] = {}
        self.machines: dict[str, dict[int, Label]] = {}
        self.notes: dict[tuple[int, str], str] = {}
        self.resolved: dict[int, Label] = {}
        self.resolvers: dict[int, str] = {}
        self.labeled = np.zeros(size, dtype=bool)
        self.short_of_labels: dict[int, None] = {}
        self.revision = 0
        self.requests: dict[str, str | None] = {}
        self._several: dict[int, None] = {}
        self._unreached: set[int] = set()
        # In the order of labeling: relevant, and whether the first annotator got the post from a random sample.
        self._labeled: dict[int, tuple[bool, bool]] = {}
        self._labels: Labels | None = None

    def annotator(self, name: str) -> Annotator:
        """Return the labels and assignments of an annotator, empty for a new one."""
        return self.annotators.get(name) or Annotator()

    def by(self, place: int) -> dict[str, Label]:
        """Return annotator → label for a post."""
        return {name: one.given[place] for name, one in self.annotators.items() if place in one.given}

    def apply(self, event: Event) -> None:
        """Apply an event, unless an event with the same idempotency key was applied before.

        Raises:
            KeyError: if the post is unknown.
        """
        if event.id is not None:
            if event.id in self.requests:
                return
            self.requests[event.id] = event.post
        place = self.places[event.post]
        if event.kind == "machine":
            self._by_machine(place, event)
            return
        who = self.annotators.setdefault(event.annotator, Annotator())
        if not event.imported:
            who.last = event.time
        if event.kind == "hand":
            who.assigned[place] = Assignment(event.time, event.at_random, event.position)
            who.seen.add(place)
            if event.at_random and (missed := self._held_by_others(event.time, event.annotator)):
                self._unreached |= missed
                self._labels = None
        elif event.kind == "label":
            self._label(who, place, event)
        elif event.kind == "undo":
            self._undo(who, place, event)
        elif event.kind == "resolve" and event.value is not None:
            self.resolvers[place] = event.annotator
            self.resolved[place] = Label(event.value, event.time, choice=event.choice)
        if event.note is not None:
            self.notes[place, event.annotator] = event.note
        if event.kind in ("label", "undo", "resolve"):
            self._settle(place, event.at_random)

    def _by_machine(self, place: int, event: Event) -> None:
        assert event.value is not None
        labels = self.machines.setdefault(event.annotator, {})
        labels[place] = Label(event.value, event.time, choice=event.choice)
        if event.note is not None:
            self.notes[place, event.annotator] = event.note

    def _label(self, who: Annotator, place: int, event: Event) -> None:
        assert event.value is not None
        if not event.imported:
            who.undo_stack.append((place, who.given.get(place)))
            if who.last_label is not None and timedelta() <= event.time - who.last_label <= BREAK:
                who.work += event.time - who.last_label
                who.worked += 1
            who.last_label = event.time
        before = who.given.get(place)
        drawn = not event.imported and (place in who.assigned or (before is not None and before.drawn))
        who.given[place] = Label(event.value, event.time, event.at_random, event.choice, drawn)
        who.assigned.pop(place, None)
        who.seen.add(place)

    def _undo(self, who: Annotator, place: int, event: Event) -> None:
        _, before = who.undo_stack.pop()
        given = who.given.pop(place)
        if before is not None:
            who.given[place] = before
        else:
            for other in self.annotators.values():
                # The post goes back to this annotator only, not to others who had it assigned when it was labeled.
                if other.assigned.pop(place, None):
                    other.seen.discard(place)
            who.assigned = {place: Assignment(event.time, given.at_random, 0), **who.assigned}
            who.seen.add(place)

    def _settle(self, place: int, at_random: bool) -> None:
        self._labels = None
        self.revision += 1
        givers = sum(given.value != "skip" for given in self.by(place).values())
        short = 0 < givers < self.labels_per_post
        for places, belongs in ((self.short_of_labels, short), (self._several, givers > 1)):
            if belongs:
                places.setdefault(place)
            else:
                places.pop(place, None)
        relevant = self.value(place)
        if relevant is None:
            self._labeled.pop(place, None)
        else:
            self._labeled[place] = (
                relevant,
                self._labeled[place][1] if place in self._labeled else at_random,
            )
        self.labeled[place] = relevant is not None

    def value(self, place: int) -> bool | None:
        """Return whether a post is relevant: the adjudicated label, else the majority; a tie counts as relevant.

        None: the post has no label.
        """
        if self.is_resolved(place):
            return self.resolved[place].value == "relevant"
        votes = [given.value == "relevant" for given in self.by(place).values() if given.value != "skip"]
        return 2 * sum(votes) >= len(votes) if votes else None

    def is_resolved(self, place: int) -> bool:
        """Return whether a post has an adjudicated label."""
        return place in self.resolved and self.resolved[place].value != "skip"

    def name(self, place: int, label_set: LabelSet) -> str | None:
        """Return the name of a post's label: of the adjudicated one, else the most frequent that counts like the post.

        None: the post has no label with a name, or several names are equally frequent.
        """
        if self.is_resolved(place):
            return label_set.known_name(self.resolved[place].value, self.resolved[place].choice)
        value = "relevant" if self.value(place) else "not"
        names = [
            label_set.known_name(one.value, one.choice)
            for one in self.by(place).values()
            if one.value == value
        ]
        first = Counter(name for name in names if name is not None).most_common(2)
        return first[0][0] if first and (len(first) == 1 or first[0][1] > first[1][1]) else None

    def disputed(self) -> list[int]:
        """Return the posts with as many labels `relevant` as `not`, and no adjudicated label."""
        places = []
        for place in self._several:
            votes = [given.value == "relevant" for given in self.by(place).values() if given.value != "skip"]
            if 2 * sum(votes) == len(votes) and not self.is_resolved(place):
                places.append(place)
        return places

    def labels(self) -> Labels:
        """Return all labels of the pool, one per labeled post."""
        if self._labels is None:
            flags = np.array(list(self._labeled.values()), dtype=bool).reshape(-1, 2)
            places = np.array(list(self._labeled), dtype=np.int64)
            self._labels = Labels(places, flags[:, 0], flags[:, 1], len(self.unreached))
        return self._labels

    @property
    def unreached(self) -> set[int]:
        """Unlabeled posts that a random sample could not contain, because other pages held them at that time."""
        return {place for place in self._unreached if not self.labeled[place]}

    def held(self, time: datetime) -> int:
        """Return how many posts that samples could not contain are open on pages other than the one used last."""
        latest = max(self.annotators, key=lambda name: self.annotators[name].last, default="")
        return len(self.unreached & self._held_by_others(time, latest))

    def _held_by_others(self, time: datetime, but: str) -> set[int]:
        """Return the unlabeled posts that others hold; not those of a random sample, of which they are a part."""
        return {
            place
            for place in self.leased_by_others(time, but)
            if not self.labeled[place]
            and any(
                place in one.assigned and not one.assigned[place].at_random
                for one in self.annotators.values()
            )
        }

    def leased_by_others(self, time: datetime, but: str) -> set[int]:
        """Return the posts assigned to annotators other than `but` whose leases have not expired at `time`.

        A lease from the future, under a clock that was set ahead, does not count if it begins after this lease's end.
        """
        return {
            place
            for name, one in self.annotators.items()
            if name != but
            if abs(time - one.last) < LEASE
            for place in one.assigned
        }
