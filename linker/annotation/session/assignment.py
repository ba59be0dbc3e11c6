"""Assignment of posts to annotators, and what they see of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from linker.annotation.session.events import Event
from linker.annotation.session.state import SessionState
from linker.data.types import Post
from linker.models.features.content_words import Span, WordWeights


@dataclass(frozen=True)
class Suggestion:
    """A post to label; a blind session hides score, position, draw and words.

    Attributes:
        post: the representative of a group of near-duplicates.
        copies: number of near-duplicates that inherit its label.
        score: the model's score for the seed articles, 0 to 100; None: hidden.
        position: position in the queue, from 1; 0 if it did not come from the queue.
        at_random: whether it was sampled uniformly, for a stopping rule.
        marks: character spans of the words behind the score; empty if the model cannot explain it.
        article_words: the articles' words with the largest weights, and these weights.
        note: an earlier note of this annotator.
    """

    post: Post
    copies: int
    score: float | None
    position: int
    at_random: bool
    marks: list[Span]
    article_words: WordWeights
    note: str = ""


def assign(
    state: SessionState,
    posts: Sequence[Post],
    annotator: str,
    count: int,
    queue: np.ndarray,
    strategy: str,
    generator: np.random.Generator | None,
    time: datetime,
) -> list[Event]:
    """Choose more posts for an annotator: first those that need another label, then unlabeled ones.

    A random sample is drawn from all posts without a label, also from posts that were skipped or are on an open page of
    another annotator: these are likelier to be relevant than the rest. Each post is drawn once. Posts that others drew
    and skipped, or left, come before further draws. Posts of the queue are on no open page and new to the annotator.

    Args:
        state: the session's state.
        posts: the posts of the pool.
        annotator: name of the annotator.
        count: largest number of posts.
        queue: int64, unlabeled posts, as ranked by the query strategy.
        strategy: name of the query strategy.
        generator: sample uniformly with this; None: take the first posts of the queue.
        time: timestamp of the assignments; leases of others count at this time.

    Returns:
        The assignments, at most `count`.
    """
    person, leased = state.annotator(annotator), state.leased_to_others(time, annotator)

    def event(index: int, position: int, frame: int | None, probability: float | None = None) -> Event:
        at_random = probability is not None
        return Event(
            "assign", annotator, posts[index].id, time=time, position=position,
            strategy="random" if at_random else strategy,
            at_random=at_random, frame=frame, probability=probability,
        )  # fmt: skip

    again = [index for index in state.waiting if index not in person.seen and index not in leased][:count]
    # A post that this annotator skipped before it was drawn is shown once more.
    skipped = (index for index, label in person.labels.items() if label.at_random)
    taken = {*skipped, *person.assigned, *(index for index, lease in leased.items() if lease.at_random)}
    left = [index for index in state.drawn if not state.labeled[index] and index not in taken]
    left = left[: count - len(again)]
    free = ~state.labeled
    free[[*state.drawn, *(() if generator else (*person.seen, *leased))]] = False
    order = queue[free[queue]]
    if len(order) < np.count_nonzero(free):
        # Labels were undone since the queue was computed; these posts were ranked high before, so they go first.
        order = np.concatenate([np.setdiff1d(np.flatnonzero(free), order), order])
    frame, count = len(order), min(count - len(again) - len(left), len(order))
    picks = np.arange(count) if generator is None else generator.choice(frame, size=count, replace=False)
    probability = None if generator is None else count / frame if frame else None
    return [
        *(event(index, 0, None) for index in again),
        *(event(index, 0, state.drawn[index].frame, state.drawn[index].probability) for index in left),
        *(event(int(order[pick]), pick + 1, frame, probability) for pick in picks.tolist()),
    ]
