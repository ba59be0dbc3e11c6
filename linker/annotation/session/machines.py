"""Labels of machines, such as language models, compared with the labels of people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from linker.annotation.pool import Pool
from linker.annotation.session.agreement import cohen_kappa, krippendorff_alpha
from linker.annotation.session.events import Event
from linker.annotation.session.label_set import LabelSet
from linker.annotation.session.state import SessionState
from linker.calibration.probabilities import wilson_interval


@dataclass(frozen=True)
class Share:
    """A share of posts with its interval.

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


def machine_agreements(state: SessionState, pool: Pool, label_set: LabelSet) -> list[MachineAgreement]:
    """Return the agreement of each machine with people, in the order of their first labels."""
    labels = state.labels()
    people = dict(zip(labels.posts.tolist(), labels.relevant.tolist()))
    sampled = set(labels.posts[labels.at_random].tolist())
    agreements = []
    for name, events in state.machines.items():
        machine = {
            index: label.value == "relevant" for index, label in events.items() if label.value != "skip"
        }
        both = [index for index in machine if index in people]
        agreed = sum(machine[index] and people[index] for index in both)
        agreements.append(
            MachineAgreement(
                name,
                len(machine),
                len(both),
                cohen_kappa(
                    {pool.posts[index].id: machine[index] for index in both},
                    {pool.posts[index].id: people[index] for index in both},
                ),
                Share.of(agreed, sum(machine[index] for index in both)),
                Share.of(agreed, sum(people[index] for index in both)),
                _alpha_of_names(state, events, both, label_set),
                sum(index in sampled for index in both),
            )
        )
    return agreements


def _alpha_of_names(
    state: SessionState, machine: Mapping[int, Event], both: Sequence[int], label_set: LabelSet
) -> float:
    if not label_set.named:
        return math.nan
    names = [
        {str(index): label_set.name(machine[index]) for index in both},
        {str(index): state.name(index, label_set) for index in both},
    ]
    usable = [{index: name for index, name in some.items() if name is not None} for some in names]
    return krippendorff_alpha(usable, label_set.scale)
