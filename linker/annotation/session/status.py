"""Progress of a session."""

from dataclasses import dataclass

import numpy as np

from linker.annotation.pool import Labels, Pool
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
        disputed: posts with a tie and no adjudicated label; they count as relevant.
        waiting: labeled posts that somebody else is to label as well.
        waiting_for: name → number of these that a person is to label, see `SessionState.waiting_for`; None: anybody is.
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
    disputed: int
    waiting: int
    waiting_for: dict[str, int] | None = None

    @property
    def advice(self) -> Decision:
        """The decision, which waits for labels of second people as long as somebody can give them."""
        if not self.decision.stop or not self.waiting or self.waiting_for == {}:
            return self.decision
        names = ", ".join(f"{name} {count:,}" for name, count in (self.waiting_for or {}).items())
        posts = "1 post waits" if self.waiting == 1 else f"{self.waiting:,} posts wait"
        missing = f"{posts} for the label of a second person{f' ({names})' * bool(names)}"
        return Decision(False, f"{missing}; after that you may stop: {self.decision.reason}")


def status_of(
    state: SessionState, pool: Pool, labels: Labels, decision: Decision, estimate: Estimate
) -> Status:
    """Summarize the state of a session."""
    skipped = {
        index
        for person in state.annotators.values()
        for index, label in person.labels.items()
        if label.value == "skip" and not state.labeled[index]
    }
    return Status(
        posts=len(pool),
        labeled=len(labels),
        relevant=labels.found,
        skipped=len(skipped),
        copies_labeled=sum(len(pool.copies[index]) for index in labels.posts),
        estimate=estimate,
        decision=decision,
        curve=np.cumsum(labels.relevant).tolist(),
        annotators={name: len(person.labels) for name, person in state.annotators.items() if person.labels},
        disputed=len(state.disputed),
        waiting=len(state.waiting),
    )
