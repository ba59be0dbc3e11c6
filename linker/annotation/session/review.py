"""Review of a session: agreement of people and machines, and the posts to adjudicate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from linker.annotation.pool import Pool
from linker.annotation.session.agreement import cohen_kappa, krippendorff_alpha
from linker.annotation.session.events import Event
from linker.annotation.session.label_set import LabelSet
from linker.annotation.session.state import SessionState
from linker.calibration.probabilities import wilson_interval
from linker.data.types import Post


@dataclass(frozen=True)
class Dispute:
    """A post that people label differently.

    Attributes:
        post: the post.
        labels: annotator, label and note of each person who labeled it.
        adjudicated: the adjudicated label, if there is one.
        holds: whether the post counts as relevant now: the adjudicated label, else the majority; ties relevant.
        waiting: whether somebody else is still to label it, whom reading the labels would influence.
    """

    post: Post
    labels: list[tuple[str, Event, str]]
    adjudicated: Event | None
    holds: bool
    waiting: bool


@dataclass(frozen=True)
class Share:
    """A share of posts.

    Attributes:
        hits: number of posts that count.
        count: number of posts in all.
        low: lower bound of Wilson's 95 % interval, 0 to 1; 0 without posts.
        high: upper bound; 1 without posts.
    """

    hits: int
    count: int
    low: float
    high: float

    @classmethod
    def of(cls, hits: int, count: int) -> Share:
        """Return the share with its interval."""
        return cls(hits, count, *(wilson_interval(hits, count) if count else (0.0, 1.0)))


@dataclass(frozen=True)
class MachineAgreement:
    """Agreement of a machine with people, on the posts that both labeled; skips do not count.

    People's label of a post is the adjudicated one, else the majority's; a tie counts as relevant.

    Attributes:
        machine: its name.
        labels: number of posts that it labeled.
        posts: number of these that people labeled as well.
        kappa: Cohen's κ between it and people; NaN if undefined.
        precision: of the posts that it calls relevant, those that people call relevant.
        recall: of the posts that people call relevant, those that it calls relevant.
        alpha_of_names: Krippendorff's α of the names of its labels and people's, as among people; NaN if undefined. A
            post on which two names are equally frequent among people is left out.
        sampled: number of `posts` that were sampled at random. People label the likeliest posts first, so figures over
            all posts are about those, not about the whole pool.
    """

    machine: str
    labels: int
    posts: int
    kappa: float
    precision: Share
    recall: Share
    alpha_of_names: float
    sampled: int


@dataclass(frozen=True)
class Review:
    """What the owner of a session looks at. Skips do not count.

    Attributes:
        posts: number of posts labeled by two or more annotators.
        alpha: Krippendorff's α over these, of relevant or not; NaN if undefined.
        kappas: pair of annotators → Cohen's κ; NaN if undefined.
        alpha_of_names: Krippendorff's α of the names of the labels; NaN if undefined, or if no two names of the label
            set count as the same.
        level: level of measurement of `alpha_of_names`: `ordinal` if all names are whole numbers, else `nominal`.
        machines: agreement of each machine with people.
        disputes: posts on whose relevance people disagree.
        by_name: posts whose labels have different names that count as the same: no disagreement on relevance.
    """

    posts: int
    alpha: float
    kappas: dict[tuple[str, str], float]
    alpha_of_names: float
    level: str
    machines: list[MachineAgreement]
    disputes: list[Dispute]
    by_name: list[Dispute]


def review_of(state: SessionState, pool: Pool, label_set: LabelSet) -> Review:
    """Compute the review of a session from its state, posts and label set."""
    votes: dict[str, dict[int, bool]] = {}
    names: dict[str, dict[int, str]] = {}
    for annotator, person in state.annotators.items():
        for index, label in person.labels.items():
            if label.value != "skip":
                votes.setdefault(annotator, {})[index] = label.value == "relevant"
                if (name := label_set.name(label)) is not None:
                    names.setdefault(annotator, {})[index] = name
    votes_by_post, names_by_post = _by_post(votes), _by_post(names)

    def dispute(index: int) -> Dispute:
        return Dispute(
            pool.posts[index],
            [
                (name, label, state.notes.get((index, name), ""))
                for name, label in state.labels_of(index).items()
            ],
            state.adjudicated.get(index),
            bool(state.value(index)),
            index in state.waiting,
        )

    return Review(
        sum(1 for index in votes_by_post if len(votes_by_post[index]) > 1),
        krippendorff_alpha(votes.values()),
        {(a, b): cohen_kappa(votes[a], votes[b]) for a, b in combinations(votes, 2)},
        krippendorff_alpha(names.values(), label_set.scale) if label_set.named else math.nan,
        "ordinal" if label_set.scale else "nominal",
        [_machine_agreement(name, labels, state, label_set) for name, labels in state.machines.items()],
        [dispute(index) for index, values in votes_by_post.items() if len(set(values)) > 1],
        [
            dispute(index)
            for index, values in names_by_post.items()
            if len(set(values)) > 1 and len(set(votes_by_post[index])) == 1
        ],
    )


def _by_post(annotators: Mapping[str, Mapping[int, object]]) -> dict[int, list[object]]:
    """Return post → labels, in order of first appearance."""
    labels: dict[int, list[object]] = {}
    for by_post in annotators.values():
        for post, value in by_post.items():
            labels.setdefault(post, []).append(value)
    return labels


def _machine_agreement(
    name: str, events: Mapping[int, Event], state: SessionState, label_set: LabelSet
) -> MachineAgreement:
    machine = {index: label.value == "relevant" for index, label in events.items() if label.value != "skip"}
    labels = state.labels()
    people = dict(zip(labels.posts.tolist(), labels.relevant.tolist()))
    both = [index for index in machine if index in people]
    agreed = sum(machine[index] and people[index] for index in both)
    alpha = math.nan
    if label_set.named:
        pairs = {index: (label_set.name(events[index]), state.name(index, label_set)) for index in both}
        usable = [
            {index: names[side] for index, names in pairs.items() if names[side] is not None}
            for side in (0, 1)
        ]
        alpha = krippendorff_alpha(usable, label_set.scale)
    return MachineAgreement(
        name,
        len(machine),
        len(both),
        cohen_kappa({index: machine[index] for index in both}, people),
        Share.of(agreed, sum(machine[index] for index in both)),
        Share.of(agreed, sum(people[index] for index in both)),
        alpha,
        len(set(both) & set(labels.posts[labels.at_random].tolist())),
    )
