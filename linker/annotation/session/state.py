"""What the events of a journal come to: who labelled what, who has which post before them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

import numpy as np

from linker.annotation.pool import Labels
from linker.annotation.session.journal import Event
from linker.data.io.labels import LabelValue

#: A post that lies before an annotator who does nothing for so long may be given to another.
LEASE = timedelta(minutes=30)
#: Between labels, a longer pause is no work and counts for no speed.
BREAK = timedelta(minutes=5)
LONG_AGO = datetime(1, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True, slots=True)
class Label:
    """A label that somebody gave: what, when, and whether the post had been drawn at random."""

    value: LabelValue
    time: datetime
    at_random: bool = False


@dataclass(frozen=True, slots=True)
class Assignment:
    """How a post came before an annotator."""

    time: datetime
    at_random: bool
    position: int


@dataclass
class Annotator:
    """What one annotator has done.

    Attributes:
        given: place → the label that holds now.
        handed: place → how it came, for posts shown and not labelled, the one to show first first.
        seen: places shown or labelled, ever.
        steps: what undo takes back, newest last: the place and what stood there before.
        last: the time of the last event.
        work: time spent from label to label, without breaks, and how many labels that were.
    """

    given: dict[int, Label] = field(default_factory=dict)
    handed: dict[int, Assignment] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    steps: list[tuple[int, Label | None]] = field(default_factory=list)
    last: datetime = LONG_AGO
    last_label: datetime | None = None
    work: timedelta = timedelta()
    worked: int = 0


class SessionState:
    """A function of the events alone: the same events give the same state.

    Args:
        places: every post's id → its place in the pool; copies share one.
        size: how many places there are.

    Attributes:
        annotators: by name, in order of appearance.
        notes: (place, annotator) → the note.
        resolved: place → the label that holds where annotators disagree.
        taken: bool, by place: does somebody's label, other than skip, or a resolution hold?
        single: the places that exactly one annotator labelled, skips not counted, in the order of labelling.
        revision: how often a label was given, taken back or resolved.
        requests: idempotency key of an action → the id of its post.
    """

    def __init__(self, places: Mapping[str, int], size: int) -> None:
        self.places = places
        self.annotators: dict[str, Annotator] = {}
        self.notes: dict[tuple[int, str], str] = {}
        self.resolved: dict[int, Label] = {}
        self.taken = np.zeros(size, dtype=bool)
        self.single: dict[int, None] = {}
        self.revision = 0
        self.requests: dict[str, str | None] = {}
        self._several: dict[int, None] = {}
        # In the order of labelling: relevant, and was the post drawn at random for the first who labelled it?
        self._labelled: dict[int, tuple[bool, bool]] = {}
        self._labels: Labels | None = None

    def annotator(self, name: str) -> Annotator:
        """What an annotator has done; nothing, for a new one."""
        return self.annotators.get(name) or Annotator()

    def by(self, place: int) -> dict[str, Label]:
        """Everybody's label of a post."""
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
        who = self.annotators.setdefault(event.annotator, Annotator())
        if not event.imported:
            who.last = max(who.last, event.time)
        if event.kind == "hand":
            who.handed[place] = Assignment(event.time, event.at_random, event.position)
            who.seen.add(place)
        elif event.kind == "label":
            self._label(who, place, event)
        elif event.kind == "undo":
            self._undo(who, place, event)
        elif event.kind == "resolve" and event.value is not None:
            self.resolved[place] = Label(event.value, event.time)
        if event.note is not None:
            self.notes[place, event.annotator] = event.note
        if event.kind in ("label", "undo", "resolve"):
            self._settle(place, event.at_random)

    def _label(self, who: Annotator, place: int, event: Event) -> None:
        assert event.value is not None
        if not event.imported:
            who.steps.append((place, who.given.get(place)))
            if who.last_label is not None and timedelta() <= event.time - who.last_label <= BREAK:
                who.work += event.time - who.last_label
                who.worked += 1
            who.last_label = event.time
        who.given[place] = Label(event.value, event.time, event.at_random)
        who.handed.pop(place, None)
        who.seen.add(place)

    def _undo(self, who: Annotator, place: int, event: Event) -> None:
        _, before = who.steps.pop()
        given = who.given.pop(place)
        if before is not None:
            who.given[place] = before
        else:
            for other in self.annotators.values():
                # Whoever had it before them when it was labelled does not get it back as well.
                if other.handed.pop(place, None):
                    other.seen.discard(place)
            who.handed = {place: Assignment(event.time, given.at_random, 0), **who.handed}
            who.seen.add(place)

    def _settle(self, place: int, at_random: bool) -> None:
        self._labels = None
        self.revision += 1
        givers = sum(given.value != "skip" for given in self.by(place).values())
        for places, belongs in ((self.single, givers == 1), (self._several, givers > 1)):
            if belongs:
                places.setdefault(place)
            else:
                places.pop(place, None)
        said = self.value(place)
        if said is None:
            self._labelled.pop(place, None)
        else:
            self._labelled[place] = (said, self._labelled[place][1] if place in self._labelled else at_random)
        self.taken[place] = said is not None

    def value(self, place: int) -> bool | None:
        """Is a post relevant? What was resolved, else what most say; a tie counts as relevant, so that nothing is lost.

        None: nobody says.
        """
        if self.is_resolved(place):
            return self.resolved[place].value == "relevant"
        said = [given.value == "relevant" for given in self.by(place).values() if given.value != "skip"]
        return 2 * sum(said) >= len(said) if said else None

    def is_resolved(self, place: int) -> bool:
        """Did somebody decide what holds?"""
        return place in self.resolved and self.resolved[place].value != "skip"

    def disputed(self) -> list[int]:
        """The places on which as many say yes as no, and nobody has resolved it."""
        places = []
        for place in self._several:
            said = [given.value == "relevant" for given in self.by(place).values() if given.value != "skip"]
            if 2 * sum(said) == len(said) and not self.is_resolved(place):
                places.append(place)
        return places

    def labels(self) -> Labels:
        """What is known of the pool."""
        if self._labels is None:
            flags = np.array(list(self._labelled.values()), dtype=bool).reshape(-1, 2)
            self._labels = Labels(np.array(list(self._labelled), dtype=np.int64), flags[:, 0], flags[:, 1])
        return self._labels

    def held(self, time: datetime, but: str) -> set[int]:
        """The places that lie before others than `but` who are still at work."""
        return {
            place
            for name, one in self.annotators.items()
            if name != but
            for place, handed in one.handed.items()
            if max(one.last, handed.time) + LEASE > time
        }
