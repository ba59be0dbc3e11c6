"""Review of a session: agreement of people and machines, and the posts to adjudicate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from linker.annotation.pool import Pool
from linker.annotation.session.agreement import Disagreement
from linker.annotation.session.events import Event
from linker.annotation.session.label_set import LabelSet
from linker.annotation.session.machines import MachineAgreement, machine_agreements
from linker.annotation.session.state import SessionState
from linker.annotation.session.status import Agreement, agreement_of
from linker.data.types import Post


@dataclass(frozen=True)
class Dispute:
    """A post that people label differently.

    Attributes:
        post: the post.
        labels: annotator, label and note of each person who labeled it.
        adjudicated: the adjudicated label, if there is one.
        holds: whether the post counts as relevant now.
    """

    post: Post
    labels: list[tuple[str, Event, str]]
    adjudicated: Event | None
    holds: bool


@dataclass(frozen=True)
class Review:
    """What the owner of a session looks at.

    Attributes:
        agreement: agreement of people.
        machines: agreement of each machine with people.
        disputes: posts on whose relevance people disagree and for which everybody asked has given a label: reading
            these influences nobody who is still to label them.
        by_name: the same for posts whose labels have different names that count as the same.
    """

    agreement: Agreement
    machines: list[MachineAgreement]
    disputes: list[Dispute]
    by_name: list[Dispute]


def review_of(
    state: SessionState, pool: Pool, label_set: LabelSet, needs_labels: Callable[[int], bool]
) -> Review:
    """Compute the review.

    Args:
        state: the session's labels.
        pool: its posts.
        label_set: its label set.
        needs_labels: index of a labeled post → whether somebody else is to label it as well.
    """
    agreement = agreement_of(state, pool, label_set)

    def disputes(differing: Sequence[Disagreement[bool] | Disagreement[str]]) -> list[Dispute]:
        indices = [state.indices[disagreement.post_id] for disagreement in differing]
        return [
            Dispute(
                pool.posts[index],
                [
                    (name, label, state.notes.get((index, name), ""))
                    for name, label in state.labels_of(index).items()
                ],
                state.adjudicated[index] if state.is_adjudicated(index) else None,
                bool(state.value(index)),
            )
            for index in indices
            if not needs_labels(index)
        ]

    return Review(
        agreement,
        machine_agreements(state, pool, label_set),
        disputes(agreement.disagreements),
        disputes(agreement.by_name),
    )
