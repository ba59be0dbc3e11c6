"""Progress of a session and agreement of its annotators."""

from __future__ import annotations

import math
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
from linker.annotation.session.label_set import LabelSet
from linker.annotation.session.state import SessionState
from linker.annotation.stopping_rules.estimate import Estimate
from linker.annotation.stopping_rules.stopping_rule import Decision


@dataclass(frozen=True)
class Status:
    """Progress of a session.

    Attributes:
        posts: distinct posts; near-duplicates count once, here and below.
        labeled: posts with a label other than skip.
        relevant: those that are relevant.
        skipped: posts that were skipped and have no other label.
        copies_labeled: near-duplicates that inherited a label.
        estimate: number of relevant posts left.
        decision: decision of the stopping rule.
        curve: relevant posts found after each label.
        annotators: name → number of labels.
        per_hour: labels per annotator and hour, without breaks; None with fewer than two labels.
        disputed: posts with a tie and no adjudicated label; they count as relevant.
        waiting: labeled posts that somebody else is to label as well.
        problem: why the queue is out of date; None if it is not.
    """

    posts: int
    labeled: int
    relevant: int
    skipped: int
    copies_labeled: int
    estimate: Estimate
    decision: Decision
    curve: list[int]
    annotators: dict[str, int]
    per_hour: float | None
    disputed: int
    problem: str | None = None
    waiting: int = 0


@dataclass(frozen=True)
class Agreement:
    """Agreement of the annotators of a session; skips do not count.

    Attributes:
        posts: number of posts labeled by two or more annotators.
        alpha: Krippendorff's α over these, of relevant or not; NaN if undefined.
        kappas: pair of annotators → Cohen's κ; NaN if undefined.
        disagreements: the posts on whose relevance people disagree.
        holds: post id → whether a disputed post counts as relevant: adjudicated label, else majority, ties relevant.
        alpha_of_names: Krippendorff's α of the names of the labels; NaN if undefined, or if no two names of the label
            set count as the same.
        level: level of measurement of `alpha_of_names`: `ordinal` if all names are whole numbers, else `nominal`.
        by_name: the posts whose labels have different names that count as the same: no disagreement on relevance.
    """

    posts: int
    alpha: float
    kappas: dict[tuple[str, str], float]
    disagreements: list[Disagreement[bool]]
    holds: dict[str, bool]
    alpha_of_names: float
    level: str
    by_name: list[Disagreement[str]]


def agreement_of(state: SessionState, pool: Pool, label_set: LabelSet) -> Agreement:
    """Compute the agreement of the annotators."""
    names: dict[str, dict[str, str]] = {}
    votes: dict[str, dict[str, bool]] = {}
    for annotator, person in state.annotators.items():
        for index, label in person.labels.items():
            if label.value != "skip":
                votes.setdefault(annotator, {})[pool.posts[index].id] = label.value == "relevant"
                if (name := label_set.name(label)) is not None:
                    names.setdefault(annotator, {})[pool.posts[index].id] = name
    times = Counter(post for given in votes.values() for post in given)
    differing = disagreements(votes)
    holds = {one.post_id: bool(state.value(state.indices[one.post_id])) for one in differing}
    return Agreement(
        sum(number > 1 for number in times.values()),
        krippendorff_alpha(votes.values()),
        pairwise_kappas(votes),
        differing,
        holds,
        krippendorff_alpha(names.values(), label_set.scale) if label_set.named else math.nan,
        "ordinal" if label_set.scale else "nominal",
        [one for one in disagreements(names) if one.post_id not in holds],
    )


def status_of(
    state: SessionState,
    pool: Pool,
    estimate: Estimate,
    decision: Decision,
    problem: str | None,
    waiting: int = 0,
) -> Status:
    """Summarize the state of a session."""
    labels, annotators = state.labels(), state.annotators
    skipped = {
        index
        for annotator in annotators.values()
        for index, label in annotator.labels.items()
        if label.value == "skip" and not state.labeled[index]
    }
    seconds = sum(annotator.work.total_seconds() for annotator in annotators.values())
    worked = sum(annotator.worked for annotator in annotators.values())
    return Status(
        posts=len(pool),
        labeled=len(labels),
        relevant=labels.found,
        skipped=len(skipped),
        copies_labeled=sum(len(pool.copies[index]) for index in labels.posts),
        estimate=estimate,
        decision=decision,
        curve=np.cumsum(labels.relevant).tolist(),
        annotators={name: len(person.labels) for name, person in annotators.items() if person.labels},
        per_hour=round(3600 * worked / seconds, 1) if seconds else None,
        disputed=len(state.disputed()),
        problem=problem,
        waiting=waiting,
    )
