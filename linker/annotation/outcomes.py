"""What a simulated job cost and found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from linker.annotation.simulation import Run, Task, found, labels_to, work_saved
from linker.annotation.stopping import StoppingRule

#: Of these recalls the labels are told.
RECALLS = (0.5, 0.8, 0.9, 0.95, 1.0)
#: A curve is kept at so many even steps of the pool, and at its beginning.
STEPS = 100


@dataclass(frozen=True)
class Outcome:
    """A pool labelled to the end.

    Recall is counted over all posts: copies count as found when the post that stands for them is labelled relevant.
    Labels are given to distinct posts.

    Attributes:
        task: whose.
        strategy: what ordered.
        seed: of what was drawn.
        pool_size: distinct posts.
        labels_to: recall → labels; None where so much is never found: copies of a post labelled otherwise are missed.
        labels_to_first: labels to the first so many relevant posts; None if there are not so many.
        precision_of_first: the share of relevant posts among the first so many labels.
        work_saved: WSS@95.
        curve: recall after 0, 1, …, 100 hundredths of the pool.
    """

    task: str
    strategy: str
    seed: int
    pool_size: int
    labels_to: dict[float, int | None]
    labels_to_first: int | None
    precision_of_first: float
    work_saved: float | None
    curve: tuple[float, ...]

    @classmethod
    def of(cls, task: Task, strategy: str, seed: int, run: Run, first: int) -> Outcome:
        """The outcome of a run without a rule; `first` is how many relevant posts, and labels, are the first."""
        curve, size = found(task, run.labels), len(task.pool)
        steps = np.round(np.linspace(0, size, STEPS + 1)).astype(int)
        return cls(
            task.name,
            strategy,
            seed,
            size,
            {recall: labels_to(curve, recall * task.total) for recall in RECALLS},
            labels_to(curve, first),
            float(run.labels.relevant[:first].mean()),
            work_saved(curve, size, task.total),
            tuple(float(share) for share in curve[steps] / task.total),
        )

    def record(self) -> dict[str, Any]:
        """All but the curve, for a table."""
        values = asdict(self)
        values.pop("curve")
        reached = values.pop("labels_to")
        return {**values, **{f"labels_to_{recall:.0%}": labels for recall, labels in reached.items()}}


@dataclass(frozen=True)
class Stop:
    """Where a rule ended a job.

    Attributes:
        task: whose.
        strategy: what ordered.
        rule: what stopped.
        seed: of what was drawn.
        pool_size: distinct posts.
        labels: how many were given.
        drawn: how many of them to posts drawn at random.
        recall: over all posts, copies included.
        failed: the distinct posts that are relevant were found to a smaller share than the rule, or whoever asked,
            wants.
        stopped: whether the rule ever said so.
    """

    task: str
    strategy: str
    rule: str
    seed: int
    pool_size: int
    labels: int
    drawn: int
    recall: float
    failed: bool
    stopped: bool

    @classmethod
    def of(
        cls, task: Task, strategy: str, seed: int, run: Run, name: str, rule: StoppingRule, recall: float
    ) -> Stop:
        """The outcome of a run with a rule; `recall` is what is wanted where the rule has no `target` of its own."""
        labels = run.labels
        wanted = getattr(rule, "target", recall)
        return cls(
            task.name,
            strategy,
            name,
            seed,
            len(task.pool),
            len(labels),
            int(labels.at_random.sum()),
            float(task.gains[labels.posts].sum() / task.total),
            bool(labels.found < wanted * task.relevant.sum() - 1e-9),
            run.decision is not None,
        )
