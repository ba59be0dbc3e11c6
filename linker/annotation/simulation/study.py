"""Simulations of many jobs: tasks × strategies × seeds, and stopping rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any

import numpy as np

from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.annotation.simulation.simulate import Run, Task, found, labels_to, simulate, work_saved
from linker.annotation.stopping_rules.stopping_rule import StoppingRule
from linker.common.concurrency import in_processes

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


def summary(study: Study) -> dict[str, Any]:
    """Means over seeds, then over tasks, of each strategy, and of each rule with each strategy."""
    strategies = dict.fromkeys(outcome.strategy for outcome in study.outcomes)
    pairs = dict.fromkeys((stop.strategy, stop.rule) for stop in study.stops)
    return {
        "strategies": {
            name: _of_outcomes([one for one in study.outcomes if one.strategy == name]) for name in strategies
        },
        "rules": [
            {
                "strategy": strategy,
                "rule": rule,
                **_of_stops([one for one in study.stops if (one.strategy, one.rule) == (strategy, rule)]),
            }
            for strategy, rule in pairs
        ],
    }


def share_of_labels(outcomes: Iterable[Outcome], recall: float) -> float | None:
    """Labels to this recall as a share of the distinct posts, the mean; None if one run never gets there."""
    return _mean(
        None if (labels := one.labels_to[recall]) is None else labels / one.pool_size for one in outcomes
    )


def _of_outcomes(outcomes: list[Outcome]) -> dict[str, Any]:
    return {
        "labels_share": {f"{recall:.0%}": share_of_labels(outcomes, recall) for recall in RECALLS},
        "never_95%": sum(one.labels_to[0.95] is None for one in outcomes),
        "work_saved_95%": _mean(one.work_saved for one in outcomes),
        "labels_to_first": _mean(one.labels_to_first for one in outcomes),
        "precision_of_first": fmean(one.precision_of_first for one in outcomes),
    }


def _of_stops(stops: list[Stop]) -> dict[str, Any]:
    recalls = sorted(stop.recall for stop in stops)
    return {
        "runs": len(stops),
        "labels_share": fmean(stop.labels / stop.pool_size for stop in stops),
        "drawn_share": fmean(stop.drawn / stop.pool_size for stop in stops),
        "recall": fmean(recalls),
        "lowest_recall": recalls[0],
        "failure_rate": fmean(stop.failed for stop in stops),
        "never_stopped": sum(not stop.stopped for stop in stops),
    }


def _mean(values: Iterable[float | int | None]) -> float | None:
    """The mean; None if a value is missing, as a mean of the others would flatter."""
    known = list(values)
    return None if None in known else fmean(value for value in known if value is not None)


@dataclass(frozen=True)
class Plan:
    """What is simulated.

    Attributes:
        strategies: name → strategy.
        rules: name → rule; each is tried with every strategy.
        seeds: how many runs of each.
        first: labels to so many relevant posts, and precision of so many labels, are told.
        recall: what counts as enough for rules that have no target of their own.
        growth: as of `simulate`.
    """

    strategies: Mapping[str, QueryStrategy]
    rules: Mapping[str, StoppingRule] = field(default_factory=dict)
    seeds: int = 5
    first: int = 100
    recall: float = 0.95
    growth: float = 0.05


@dataclass(frozen=True)
class Study:
    """What came out, in the order of tasks, strategies and seeds."""

    outcomes: list[Outcome]
    stops: list[Stop]


def study(
    tasks: Sequence[Task], plan: Plan, workers: int = 1, done: Callable[[], None] = lambda: None
) -> Study:
    """Simulate everything in a plan.

    Args:
        tasks: what is labelled.
        plan: how.
        workers: processes; the results do not depend on it.
        done: called after each run.
    """
    runs = [
        (number, name, seed)
        for number in range(len(tasks))
        for name in plan.strategies
        for seed in range(plan.seeds)
    ]
    results: list[tuple[Outcome, list[Stop]] | None] = [None] * len(runs)
    for number, result in in_processes(_run, (tasks, plan), runs, workers):
        results[number] = result
        done()
    ordered = [result for result in results if result is not None]
    return Study([outcome for outcome, _ in ordered], [stop for _, stops in ordered for stop in stops])


def _run(
    context: tuple[Sequence[Task], Plan], number: int, name: str, seed: int
) -> tuple[Outcome, list[Stop]]:
    tasks, plan = context
    task, strategy = tasks[number], plan.strategies[name]
    run = simulate(task, strategy, seed, plan.growth)
    stops = []
    for rule_name, rule in plan.rules.items():
        stopped = simulate(task, strategy, seed, plan.growth, rule, run)
        stops.append(Stop.of(task, name, seed, stopped, rule_name, rule, plan.recall))
    return Outcome.of(task, name, seed, run, plan.first), stops
