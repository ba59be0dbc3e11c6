"""Simulation experiments: tasks × query strategies × seeds, and stopping rules."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np

from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.annotation.simulation.simulate import Run, found, labels_to, simulate
from linker.annotation.simulation.task import Task
from linker.annotation.stopping_rules.stopping_rule import StoppingRule
from linker.common.concurrency import in_processes
from linker.common.console import info
from linker.common.files import atomic_write

#: Recalls for which the number of labels is reported.
RECALLS = (0.5, 0.8, 0.9, 0.95, 1.0)
#: Files of a study.
RUNS, CURVES, STOPS, PLOT = "runs.csv", "curves.csv", "stops.csv", "recall.svg"
# Number of equal steps at which recall curves are stored.
_STEPS = 100


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
        steps = np.round(np.linspace(0, size, _STEPS + 1)).astype(int)
        labels = {recall: labels_to(curve, recall * task.total) for recall in RECALLS}
        saved = None if (needed := labels[0.95]) is None else 0.95 - needed / size
        return cls(
            task.name, strategy, seed, size, labels, saved, tuple((curve[steps] / task.total).tolist())
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
            task=task.name,
            strategy=strategy,
            rule=name,
            seed=seed,
            pool_size=len(task.pool),
            labels=len(labels),
            drawn=int(labels.at_random.sum()),
            recall=float(task.gains[labels.posts].sum() / task.total),
            failed=None if target is None else bool(labels.found < target * task.relevant.sum() - 1e-9),
            stopped=run.decision is not None,
        )


def study(
    tasks: Sequence[Task],
    strategies: Mapping[str, QueryStrategy],
    rules: Mapping[str, StoppingRule] | None = None,
    seeds: int = 5,
    workers: int = 1,
    done: Callable[[], None] = lambda: None,
) -> tuple[list[Outcome], list[Stop]]:
    """Simulate each strategy on each task, completely and until each rule stops.

    Args:
        tasks: the tasks.
        strategies: name → query strategy.
        rules: name → stopping rule; each is combined with every strategy.
        seeds: number of runs per task and strategy.
        workers: number of processes; the results do not depend on it.
        done: called after each run.

    Returns:
        The figures, in the order of tasks, strategies and seeds.
    """
    runs = list(product(tasks, strategies.items(), range(seeds)))
    results: dict[int, tuple[Outcome, list[Stop]]] = {}
    for number, result in in_processes(_run, rules or {}, runs, workers):
        results[number] = result
        done()
    ordered = [results[number] for number in sorted(results)]
    return [outcome for outcome, _ in ordered], [stop for _, stops in ordered for stop in stops]


def _run(
    rules: Mapping[str, StoppingRule], task: Task, named: tuple[str, QueryStrategy], seed: int
) -> tuple[Outcome, list[Stop]]:
    name, strategy = named
    run = simulate(task, strategy, seed)
    stops = [
        Stop.of(task, name, seed, simulate(task, strategy, seed, rule=rule, start=run), rule_name, rule)
        for rule_name, rule in rules.items()
    ]
    return Outcome.of(task, name, seed, run), stops


def write_study(folder: Path, outcomes: Sequence[Outcome], stops: Sequence[Stop]) -> None:
    """Write tables, curves and, with matplotlib, a plot.

    Raises:
        LinkerError: if a file cannot be written.
    """
    runs, curves = [], []
    for outcome in outcomes:
        run = asdict(outcome)
        shares = {f"{step / _STEPS:.2f}": share for step, share in enumerate(run.pop("curve"))}
        curves.append({name: run[name] for name in ("task", "strategy", "seed")} | shares)
        labels = run.pop("labels_to")
        runs.append(run | {f"labels_to_{recall:.0%}": count for recall, count in labels.items()})
    for name, rows in ((RUNS, runs), (CURVES, curves), (STOPS, [asdict(stop) for stop in stops])):
        if rows:
            with atomic_write(folder / name) as file:
                writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
    if find_spec("matplotlib") is None:
        info(f"no {PLOT}: plots need matplotlib: pip install 'article-linker[plots]'")
        return
    from linker.plots.recall import recall_figure
    from linker.plots.style import save

    save(recall_figure(outcomes), folder / PLOT)
