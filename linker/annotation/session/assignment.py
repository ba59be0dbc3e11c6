"""Who gets which post next."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import numpy as np

from linker.annotation.session.queue import Queue
from linker.annotation.session.state import Assignment, SessionState


class Assigner:
    """Hands posts to annotators: each post to one, some to two, and to nobody twice.

    Args:
        state: what has happened.
        size: places in the pool.
        overlap: the share of posts that two annotators label.
        seed: of all that is drawn.
    """

    def __init__(self, state: SessionState, size: int, overlap: float, seed: int) -> None:
        self._state, self._seed = state, seed
        self._twice = np.random.default_rng([seed, size]).random(size) < overlap
        self._any_twice = bool(self._twice.any())

    def waiting(self, annotator: str) -> Mapping[int, Assignment]:
        """What lies before an annotator and still needs a label of theirs, the first to show first."""
        handed = self._state.annotator(annotator).handed
        return {place: one for place, one in handed.items() if self._wanted(place)}

    def more(
        self, annotator: str, count: int, order: Queue, at_random: bool, time: datetime, line: int
    ) -> dict[int, Assignment]:
        """Posts for an annotator beyond those that lie before them.

        First what somebody else labelled and two are to label, then what nobody has labelled.

        Args:
            annotator: whose.
            count: how many, at most.
            order: the order of what nobody has labelled.
            at_random: draw from these with equal chances instead.
            time: what is handed bears it; what lies before others who are at work then is left to them.
            line: of the journal; with seed and revision it decides what is drawn.
        """
        state = self._state
        others = state.annotator(annotator).seen | state.held(time, annotator)
        chosen: dict[int, Assignment] = {}
        for place in state.single if self._any_twice else ():
            if len(chosen) == count:
                return chosen
            if self._twice[place] and place not in others and not state.is_resolved(place):
                chosen[place] = Assignment(time, False, 0)
        free = ~state.taken
        free[list(others)] = False
        in_order = order.places[free[order.places]]
        if len(in_order) < np.count_nonzero(free):
            # Labels were taken back since. Whoever took one back had the post before them again, so it was likely.
            in_order = np.concatenate([np.setdiff1d(np.flatnonzero(free), in_order), in_order])
        count = min(count - len(chosen), len(in_order))
        if at_random:
            generator = np.random.default_rng([self._seed, state.revision, line])
            picks = generator.choice(len(in_order), size=count, replace=False)
        else:
            picks = np.arange(count)
        for pick in picks.tolist():
            chosen[int(in_order[pick])] = Assignment(time, at_random, pick + 1)
        return chosen

    def _wanted(self, place: int) -> bool:
        state = self._state
        if not state.taken[place]:
            return True
        return bool(self._twice[place]) and place in state.single and not state.is_resolved(place)
