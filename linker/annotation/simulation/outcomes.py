"""Figures of simulated runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linker.annotation.simulation.simulate import Run, found, labels_to
from linker.annotation.simulation.task import Task
from linker.annotation.stopping_rules.stopping_rule import StoppingRule

#: Recalls for which the number of labels is reported.
RECALLS = (0.5, 0.8, 0.9, 0.95, 1.0)
#: Number of equal steps at which recall curves are stored.
STEPS = 100


@dataclass(frozen=True)
class Outcome:
    """Figures of a pool that was labeled completely.

    Recall counts all posts: near-duplicates are found when their representative is labeled relevant. Labels count
    distinct posts.

    Attributes:
        task: name of the task.
        strategy: name of the query strategy.
        seed: random seed.
        pool_size: number of distinct posts.
        labels_to: recall → labels needed; None if it is never reached, because a relevant near-duplicate has a
            representative that is not relevant.
        work_saved: WSS@95 (Cohen et al. 2006): the share of labels saved at 95 % recall, minus the 5 % that a random
            order saves; None if that is never reached.
        curve: recall after 0, 1, …, 100 percent of the pool.
    """

    task: str
    strategy: str
    seed: int
    pool_size: int
    labels_to: dict[float, int | None]
    work_saved: float | None
    curve: tuple[float, ...]

    @classmethod
    def of(cls, task: Task, strategy: str, seed: int, run: Run) -> Outcome:
        """Return the figures of a run without a stopping rule."""
        curve, size = found(task, run.labels), len(task.pool)
        steps = np.round(np.linspace(0, size, STEPS + 1)).astype(int)
        labels = {recall: labels_to(curve, recall * task.total) for recall in RECALLS}
        saved = None if (needed := labels[0.95]) is None else 0.95 - needed / size
        shares = tuple((curve[steps] / task.total).tolist())
        return cls(task.name, strategy, seed, size, labels, saved, shares)


@dataclass(frozen=True)
class Stop:
    """Figures of a run that a stopping rule ended.

    Attributes:
        task: name of the task.
        strategy: name of the query strategy.
        rule: name of the stopping rule.
        seed: random seed.
        pool_size: number of distinct posts.
        labels: number of labels.
        drawn: number of labels of randomly sampled posts.
        recall: share of all relevant posts found, near-duplicates included.
        failed: whether the recall over distinct posts is below the rule's target; None if it has none.
        stopped: whether the rule stopped before the pool was exhausted.
    """

    task: str
    strategy: str
    rule: str
    seed: int
    pool_size: int
    labels: int
    drawn: int
    recall: float
    failed: bool | None
    stopped: bool

    @classmethod
    def of(cls, task: Task, strategy: str, seed: int, run: Run, name: str, rule: StoppingRule) -> Stop:
        """Return the figures of a run with a stopping rule."""
        labels, target = run.labels, getattr(rule, "target", None)
        return cls(
            task=task.name, strategy=strategy, rule=name, seed=seed, pool_size=len(task.pool),
            labels=len(labels), drawn=int(labels.at_random.sum()),
            recall=float(task.gains[labels.posts].sum() / task.total),
            failed=None if target is None else bool(labels.found < target * task.relevant.sum() - 1e-9),
            stopped=run.decision is not None,
        )  # fmt: skip
