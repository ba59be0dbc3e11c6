"""How far a session is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from linker.annotation.pool import Pool
from linker.annotation.session.agreement import (
    Disagreement,
    disagreements,
    krippendorff_alpha,
    pairwise_kappas,
)
from linker.annotation.session.state import SessionState
from linker.annotation.stopping_rules.estimate import Estimate
from linker.annotation.stopping_rules.stopping_rule import Decision


@dataclass(frozen=True)
class Status:
    """How far a session is.

    Attributes:
        posts: distinct posts; near-duplicates count once, here and below.
        labelled: posts that somebody called relevant or not.
        relevant: of these, those that are.
        skipped: posts that were skipped and have no label.
        copies_labelled: near-duplicates that took over a label.
        estimate: how many relevant posts are left.
        decision: what the stopping rule says.
        curve: relevant posts found after each label.
        annotators: how many posts each has labelled.
        per_hour: labels of one annotator in an hour of work; None before there are two.
        disputed: posts that as many annotators call relevant as not, and nobody has resolved; they count as relevant.
        problem: why the order is older than it should be; None where it is not.
    """

    posts: int
    labelled: int
    relevant: int
    skipped: int
    copies_labelled: int
    estimate: Estimate
    decision: Decision
    curve: list[int]
    annotators: dict[str, int]
    per_hour: float | None
    disputed: int
    problem: str | None = None


@dataclass(frozen=True)
class Agreement:
    """How far the annotators of a session agree; skips are no labels here.

    Attributes:
        posts: how many posts have the labels of two or more.
        alpha: Krippendorff's α over these; NaN where it is not defined.
        kappas: Cohen's κ of every two annotators; NaN where it is not defined.
        disagreements: the posts with different labels.
        holds: of these posts, by id, what holds now: what was resolved, else what most say, a tie being relevant.
    """

    posts: int
    alpha: float
    kappas: dict[tuple[str, str], float]
    disagreements: list[Disagreement]
    holds: dict[str, bool]


def agreement_of(state: SessionState, pool: Pool) -> Agreement:
    """How far the annotators agree."""
    votes = {
        name: {
            pool.posts[place].id: given.value == "relevant"
            for place, given in one.given.items()
            if given.value != "skip"
        }
        for name, one in state.annotators.items()
    }
    votes = {name: given for name, given in votes.items() if given}
    times = Counter(post for given in votes.values() for post in given)
    differing = disagreements(votes)
    return Agreement(
        sum(number > 1 for number in times.values()),
        krippendorff_alpha(votes.values()),
        pairwise_kappas(votes),
        differing,
        {one.post_id: bool(state.value(state.places[one.post_id])) for one in differing},
    )


def status_of(
    state: SessionState, pool: Pool, estimate: Estimate, decision: Decision, problem: str | None
) -> Status:
    """What a state comes to."""
    labels, annotators = state.labels(), state.annotators
    skipped = {
        place
        for one in annotators.values()
        for place, given in one.given.items()
        if given.value == "skip" and not state.taken[place]
    }
    seconds = sum(one.work.total_seconds() for one in annotators.values())
    worked = sum(one.worked for one in annotators.values())
    return Status(
        posts=len(pool),
        labelled=len(labels),
        relevant=labels.found,
        skipped=len(skipped),
        copies_labelled=sum(len(pool.copies[place]) for place in labels.posts),
        estimate=estimate,
        decision=decision,
        curve=np.cumsum(labels.relevant).tolist(),
        annotators={name: len(one.given) for name, one in annotators.items() if one.given},
        per_hour=round(3600 * worked / seconds, 1) if seconds else None,
        disputed=len(state.disputed()),
        problem=problem,
    )
