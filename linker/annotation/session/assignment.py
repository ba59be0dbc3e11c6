"""Assignment of posts to annotators."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import numpy as np

from linker.annotation.session.queue import Queue
from linker.annotation.session.state import Assignment, SessionState


class Assigner:
    """Assigns each post to one annotator, some to several, and none twice to the same.

    Args:
        state: the session's state.
        size: number of posts in the pool.
        overlap: share of posts, 0 to 1, that several annotators label: as many as `state.labels_per_post`.
        seed: random seed.
    """

    def __init__(self, state: SessionState, size: int, overlap: float, seed: int) -> None:
        self._state, self._seed = state, seed
        self._shared = np.random.default_rng([seed, size]).random(size) < overlap
        self._any_shared = bool(self._shared.any())

    def pending(self, annotator: str) -> Mapping[int, Assignment]:
        """Return the posts assigned to an annotator that still need their label, in display order."""
        assigned = self._state.annotator(annotator).assigned
        return {place: one for place, one in assigned.items() if self._wanted(place)}

    def assign(
        self, annotator: str, count: int, order: Queue, at_random: bool, time: datetime, line: int
    ) -> dict[int, Assignment]:
        """Choose more posts for an annotator: first those that need another label, then unlabeled ones.

        Args:
            annotator: name of the annotator.
            count: largest number of posts.
            order: the queue of unlabeled posts.
            at_random: sample uniformly from the queue instead, after the posts that earlier samples could not contain.
            time: timestamp of the assignments; posts leased to active annotators at this time are skipped.
            line: length of the journal; with seed and revision it determines the sample.
        """
        state = self._state
        others = state.annotator(annotator).seen | state.leased_by_others(time, annotator)
        chosen: dict[int, Assignment] = {}
        for place in state.short_of_labels if self._any_shared else ():
            if len(chosen) == count:
                return chosen
            if self._shared[place] and place not in others and not state.is_resolved(place):
                chosen[place] = Assignment(time, False, 0)
        free = ~state.labeled
        free[list(others)] = False
        in_order = order.places[free[order.places]]
        if len(in_order) < np.count_nonzero(free):
            # Labels were undone since the queue was computed; these posts were ranked high before, so they go first.
            in_order = np.concatenate([np.setdiff1d(np.flatnonzero(free), in_order), in_order])
        if at_random and (unreached := state.unreached):
            for place in in_order[np.isin(in_order, list(unreached))][: count - len(chosen)].tolist():
                chosen[place] = Assignment(time, False, 1)
            in_order = in_order[~np.isin(in_order, list(chosen))]
        count = min(count - len(chosen), len(in_order))
        if at_random:
            generator = np.random.default_rng([self._seed, state.revision, line])
            picks = generator.choice(len(in_order), size=count, replace=False)
        else:
            picks = np.arange(count)
        for pick in picks.tolist():
            chosen[int(in_order[pick])] = Assignment(time, at_random, pick + 1)
        return chosen

    def needs_labels(self, place: int) -> bool:
        """Return whether a labeled post is to be labeled by somebody else as well."""
        state = self._state
        return bool(self._shared[place]) and place in state.short_of_labels and not state.is_resolved(place)

    def _wanted(self, place: int) -> bool:
        state = self._state
        if not state.labeled[place]:
            return True
        return self.needs_labels(place)
