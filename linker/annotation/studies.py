"""Simulations of many jobs: tasks × strategies × seeds, and stopping rules."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from linker.annotation.ordering import OrderingStrategy
from linker.annotation.outcomes import Outcome, Stop
from linker.annotation.simulation import Task, simulate
from linker.annotation.stopping import StoppingRule


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

    strategies: Mapping[str, OrderingStrategy]
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
    results: dict[tuple[int, str, int], tuple[Outcome, list[Stop]]] = {}
    for run, result in _results(tasks, plan, runs, workers):
        results[run] = result
        done()
    ordered = [results[run] for run in runs]
    return Study([outcome for outcome, _ in ordered], [stop for _, stops in ordered for stop in stops])


def _results(
    tasks: Sequence[Task], plan: Plan, runs: Sequence[tuple[int, str, int]], workers: int
) -> Iterator[tuple[tuple[int, str, int], tuple[Outcome, list[Stop]]]]:
    if workers == 1 or len(runs) == 1:
        for run in runs:
            yield run, _one(tasks, plan, *run)
        return
    # Processes that begin anew: a fork of one that has used several threads may hang.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(runs)), context, _begin, (tasks, plan)) as pool:
        futures = {pool.submit(_one_of_all, *run): run for run in runs}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


# What every run of a process works on.
_everything: tuple[Sequence[Task], Plan]


def _begin(*everything: Any) -> None:
    global _everything
    _everything = everything
    threadpool_limits(1)  # each process has one core


def _one_of_all(number: int, name: str, seed: int) -> tuple[Outcome, list[Stop]]:
    return _one(*_everything, number, name, seed)


def _one(tasks: Sequence[Task], plan: Plan, number: int, name: str, seed: int) -> tuple[Outcome, list[Stop]]:
    task, strategy = tasks[number], plan.strategies[name]
    run = simulate(task, strategy, seed, plan.growth)
    stops = []
    for rule_name, rule in plan.rules.items():
        stopped = simulate(task, strategy, seed, plan.growth, rule, run)
        stops.append(Stop.of(task, name, seed, stopped, rule_name, rule, plan.recall))
    return Outcome.of(task, name, seed, run, plan.first), stops
