"""Simulation experiments: tasks × query strategies × seeds, and stopping rules."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from itertools import product
from pathlib import Path

from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.annotation.simulation.outcomes import STEPS, Outcome, Stop
from linker.annotation.simulation.simulate import simulate
from linker.annotation.simulation.task import Task
from linker.annotation.stopping_rules.stopping_rule import StoppingRule
from linker.common.concurrency import in_processes
from linker.common.console import info
from linker.common.files import atomic_write
from linker.data.files.formats.delimited import guarded

#: Files of a study.
RUNS, CURVES, STOPS, PLOT = "runs.csv", "curves.csv", "stops.csv", "recall.svg"


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
        shares = {f"{step / STEPS:.2f}": share for step, share in enumerate(run.pop("curve"))}
        curves.append({name: run[name] for name in ("task", "strategy", "seed")} | shares)
        labels = run.pop("labels_to")
        runs.append(run | {f"labels_to_{recall:.0%}": count for recall, count in labels.items()})
    for name, rows in ((RUNS, runs), (CURVES, curves), (STOPS, [asdict(stop) for stop in stops])):
        if rows:
            with atomic_write(folder / name) as file:
                writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
                writer.writeheader()
                for row in rows:
                    writer.writerow(row | {"task": guarded(str(row["task"]))})
    if find_spec("matplotlib") is None:
        info(f"no {PLOT}: plots need matplotlib: pip install 'article-linker[plots]'")
        return
    from linker.annotation.simulation.recall_figure import recall_figure
    from linker.common.figures import save

    save(recall_figure(outcomes), folder / PLOT)
