"""How far a session is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linker.annotation.estimate import Estimate
from linker.annotation.history import History
from linker.annotation.pool import Pool
from linker.annotation.stopping import Decision


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


def status_of(
    history: History, pool: Pool, estimate: Estimate, decision: Decision, problem: str | None
) -> Status:
    """What a history comes to."""
    labels, annotators = history.labels(), history.annotators
    skipped = {
        place
        for one in annotators.values()
        for place, given in one.given.items()
        if given.value == "skip" and not history.taken[place]
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
        disputed=len(history.disputed()),
        problem=problem,
    )
