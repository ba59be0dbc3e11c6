"""Labels of machines, such as language models, compared with the labels of people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from linker.annotation.pool import Pool
from linker.annotation.session.agreement import cohen_kappa, krippendorff_alpha
from linker.annotation.session.label_set import LabelSet
from linker.annotation.session.state import Label, SessionState
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
    found = []
    for name, given in state.machines.items():
        machine = {place: one.value == "relevant" for place, one in given.items() if one.value != "skip"}
        both = [place for place in machine if place in people]
        agreed = sum(machine[place] and people[place] for place in both)
        found.append(
            MachineAgreement(
                name,
                len(machine),
                len(both),
                cohen_kappa(
                    {pool.posts[place].id: machine[place] for place in both},
                    {pool.posts[place].id: people[place] for place in both},
                ),
                Share.of(agreed, sum(machine[place] for place in both)),
                Share.of(agreed, sum(people[place] for place in both)),
                _alpha_of_names(state, given, both, label_set),
                sum(place in sampled for place in both),
            )
        )
    return found


def _alpha_of_names(
    state: SessionState, given: Mapping[int, Label], both: Sequence[int], label_set: LabelSet
) -> float:
    if not label_set.named:
        return math.nan
    names = [
        {str(place): label_set.known_name(given[place].value, given[place].choice) for place in both},
        {str(place): state.name(place, label_set) for place in both},
    ]
    known = [{place: name for place, name in one.items() if name is not None} for one in names]
    return krippendorff_alpha(known, label_set.scale)
