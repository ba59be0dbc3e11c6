"""Simulation experiments: tasks × query strategies × seeds, and stopping rules."""

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
        labels_to_first: labels needed to find the first N relevant posts; None if there are fewer.
        precision_of_first: share of relevant posts among the first N labels.
        work_saved: WSS@95.
        curve: recall after 0, 1, …, 100 percent of the pool.
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
        """Return the figures of a run without a stopping rule; `first` is the N of the attributes."""
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
        """Return everything but the curve, as a table row."""
        values = asdict(self)
        values.pop("curve")
        reached = values.pop("labels_to")
        return {**values, **{f"labels_to_{recall:.0%}": labels for recall, labels in reached.items()}}


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
        failed: whether the recall over distinct posts is below the rule's target, or else the plan's `recall`.
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
    failed: bool
    stopped: bool

    @classmethod
    def of(
        cls, task: Task, strategy: str, seed: int, run: Run, name: str, rule: StoppingRule, recall: float
    ) -> Stop:
        """Return the figures of a run with a stopping rule; `recall` is the target of a rule without one."""
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
    """Return means over all runs of each strategy, and of each rule with each strategy, as JSON values."""
    strategies = dict.fromkeys(outcome.strategy for outcome in study.outcomes)
    pairs = dict.fromkeys((stop.strategy, stop.rule) for stop in study.stops)
    return {
        "strategies": {
            name: _of_outcomes([run for run in study.outcomes if run.strategy == name]) for name in strategies
        },
        "rules": [
            {
                "strategy": strategy,
                "rule": rule,
                **_of_stops([run for run in study.stops if (run.strategy, run.rule) == (strategy, rule)]),
            }
            for strategy, rule in pairs
        ],
    }


def share_of_labels(outcomes: Iterable[Outcome], recall: float) -> float | None:
    """Return the mean share of the distinct posts labeled to reach a recall; None if one run never reaches it."""
    return _mean(
        None if (labels := run.labels_to[recall]) is None else labels / run.pool_size for run in outcomes
    )


def _of_outcomes(outcomes: list[Outcome]) -> dict[str, Any]:
    return {
        "labels_share": {f"{recall:.0%}": share_of_labels(outcomes, recall) for recall in RECALLS},
        "never_95%": sum(run.labels_to[0.95] is None for run in outcomes),
        "work_saved_95%": _mean(run.work_saved for run in outcomes),
        "labels_to_first": _mean(run.labels_to_first for run in outcomes),
        "precision_of_first": fmean(run.precision_of_first for run in outcomes),
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
    """Return the mean; None if a value is missing, because the mean of the others would be biased."""
    known = list(values)
    return None if None in known else fmean(value for value in known if value is not None)


@dataclass(frozen=True)
class Plan:
    """Settings of an experiment.

    Attributes:
        strategies: name → query strategy.
        rules: name → stopping rule; each is combined with every strategy.
        seeds: number of runs per task and strategy.
        first: N of the labels to the first N relevant posts, and of the precision of the first N labels.
        recall: target of rules without one, 0 to 1.
        growth: see `simulate`.
    """

    strategies: Mapping[str, QueryStrategy]
    rules: Mapping[str, StoppingRule] = field(default_factory=dict)
    seeds: int = 5
    first: int = 100
    recall: float = 0.95
    growth: float = 0.05


@dataclass(frozen=True)
class Study:
    """Results, in the order of tasks, strategies and seeds."""

    outcomes: list[Outcome]
    stops: list[Stop]


def study(
    tasks: Sequence[Task], plan: Plan, workers: int = 1, done: Callable[[], None] = lambda: None
) -> Study:
    """Run all simulations of a plan.

    Args:
        tasks: the tasks.
        plan: the settings.
        workers: number of processes; the results do not depend on it.
        done: called after each run.

    Returns:
        The results.
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
