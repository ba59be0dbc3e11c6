"""Simulation experiments: tasks × query strategies × seeds, and stopping rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
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
            task=task.name,
            strategy=strategy,
            seed=seed,
            pool_size=size,
            labels_to={recall: labels_to(curve, recall * task.total) for recall in RECALLS},
            labels_to_first=labels_to(curve, first),
            precision_of_first=float(run.labels.relevant[:first].mean()),
            work_saved=work_saved(curve, size, task.total),
            curve=tuple((curve[steps] / task.total).tolist()),
        )


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
        labels, wanted = run.labels, getattr(rule, "target", recall)
        return cls(
            task=task.name,
            strategy=strategy,
            rule=name,
            seed=seed,
            pool_size=len(task.pool),
            labels=len(labels),
            drawn=int(labels.at_random.sum()),
            recall=float(task.gains[labels.posts].sum() / task.total),
            failed=bool(labels.found < wanted * task.relevant.sum() - 1e-9),
            stopped=run.decision is not None,
        )


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
    """
    runs = list(product(range(len(tasks)), plan.strategies, range(plan.seeds)))
    results: dict[int, tuple[Outcome, list[Stop]]] = {}
    for number, result in in_processes(_run, (tasks, plan), runs, workers):
        results[number] = result
        done()
    ordered = [results[number] for number in sorted(results)]
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


def summary(study: Study) -> dict[str, Any]:
    """Return means over all runs of each strategy, and of each rule with each strategy, as JSON values."""
    by_strategy: dict[str, list[Outcome]] = {}
    for outcome in study.outcomes:
        by_strategy.setdefault(outcome.strategy, []).append(outcome)
    by_rule: dict[tuple[str, str], list[Stop]] = {}
    for stop in study.stops:
        by_rule.setdefault((stop.strategy, stop.rule), []).append(stop)
    return {
        "strategies": {
            name: {
                "labels_share": {f"{recall:.0%}": share_of_labels(runs, recall) for recall in RECALLS},
                "never_95%": sum(run.labels_to[0.95] is None for run in runs),
                "work_saved_95%": _mean(run.work_saved for run in runs),
                "labels_to_first": _mean(run.labels_to_first for run in runs),
                "precision_of_first": fmean(run.precision_of_first for run in runs),
            }
            for name, runs in by_strategy.items()
        },
        "rules": [
            {
                "strategy": strategy,
                "rule": rule,
                "runs": len(stops),
                "labels_share": fmean(stop.labels / stop.pool_size for stop in stops),
                "drawn_share": fmean(stop.drawn / stop.pool_size for stop in stops),
                "recall": fmean(stop.recall for stop in stops),
                "lowest_recall": min(stop.recall for stop in stops),
                "failure_rate": fmean(stop.failed for stop in stops),
                "never_stopped": sum(not stop.stopped for stop in stops),
            }
            for (strategy, rule), stops in by_rule.items()
        ],
    }


def share_of_labels(outcomes: Iterable[Outcome], recall: float) -> float | None:
    """Return the mean share of the distinct posts labeled to reach a recall; None if one run never reaches it."""
    return _mean(
        None if (labels := run.labels_to[recall]) is None else labels / run.pool_size for run in outcomes
    )


def _mean(values: Iterable[float | int | None]) -> float | None:
    """Return the mean; None if a value is missing, because the mean of the others would be biased."""
    figures = list(values)
    return None if None in figures else fmean(value for value in figures if value is not None)
