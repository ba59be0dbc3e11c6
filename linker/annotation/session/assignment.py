"""Assignment of posts to annotators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np

from linker.annotation.session.events import Event
from linker.annotation.session.queue import Queue
from linker.annotation.session.state import SessionState
from linker.data.types import Post


class Assigner:
    """Assigns each post to one annotator, some to several, and none twice to the same.

    Args:
        state: the session's state.
        posts: the posts of the pool.
        strategy: name of the query strategy.
        overlap: share of posts, 0 to 1, that several annotators label: as many as `state.labels_per_post`.
        seed: random seed.
    """

    def __init__(
        self, state: SessionState, posts: Sequence[Post], strategy: str, overlap: float, seed: int
    ) -> None:
        self._state, self._posts, self._strategy, self._seed = state, posts, strategy, seed
        self._shared = np.random.default_rng([seed, len(posts)]).random(len(posts)) < overlap
        self._any_shared = bool(self._shared.any())

    def pending(self, annotator: str) -> Mapping[int, Event]:
        """Return the posts assigned to an annotator that still need their label, in display order."""
        state = self._state
        assigned = state.annotator(annotator).assigned
        return {
            index: event
            for index, event in assigned.items()
            if not state.labeled[index] or self.needs_labels(index)
        }

    def assign(
        self, annotator: str, count: int, queue: Queue, at_random: bool, time: datetime, number: int
    ) -> list[Event]:
        """Choose more posts for an annotator: first those that need another label, then unlabeled ones.

        Args:
            annotator: name of the annotator.
            count: largest number of posts.
            queue: the queue of unlabeled posts.
            at_random: sample uniformly from the queue instead, after the posts that earlier samples could not contain.
            time: timestamp of the assignments; posts leased to active annotators at this time are skipped.
            number: number of events so far; with seed and revision it determines the sample.
        """
        state = self._state
        taken = state.annotator(annotator).seen | state.leased_by_others(time, annotator)
        chosen: dict[int, Event] = {}

        def choose(index: int, position: int, frame: int | None, probability: float | None = None) -> None:
            chosen[index] = Event(
                "assign", annotator, self._posts[index].id, time=time, position=position,
                strategy=self._strategy if probability is None else "random",
                at_random=probability is not None, frame=frame, probability=probability,
            )  # fmt: skip

        for index in state.short_of_labels if self._any_shared else ():
            if len(chosen) == count:
                return list(chosen.values())
            if self._shared[index] and index not in taken and not state.is_adjudicated(index):
                choose(index, 0, None)
        free = ~state.labeled
        free[list(taken)] = False
        order = queue.posts[free[queue.posts]]
        frame = int(np.count_nonzero(free))
        if len(order) < frame:
            # Labels were undone since the queue was computed; these posts were ranked high before, so they go first.
            order = np.concatenate([np.setdiff1d(np.flatnonzero(free), order), order])
        if at_random and (unreached := state.unreached):
            for index in order[np.isin(order, list(unreached))][: count - len(chosen)].tolist():
                choose(index, 1, frame)
            order = order[~np.isin(order, list(chosen))]
        count = min(count - len(chosen), len(order))
        if at_random:
            generator = np.random.default_rng([self._seed, state.revision, number])
            picks = generator.choice(len(order), size=count, replace=False)
        else:
            picks = np.arange(count)
        for pick in picks.tolist():
            choose(int(order[pick]), pick + 1, len(order), count / len(order) if at_random else None)
        return list(chosen.values())

    def needs_labels(self, index: int) -> bool:
        """Return whether a labeled post is to be labeled by somebody else as well."""
        state = self._state
        return (
            bool(self._shared[index]) and index in state.short_of_labels and not state.is_adjudicated(index)
        )
