"""Simulate labeling posts whose labels are known."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from linker.annotation.pool import Labels
from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.annotation.simulation.task import Task
from linker.annotation.stopping_rules.stopping_rule import Decision, StoppingRule


@dataclass(frozen=True)
class Run:
    """The labels of one simulation, in order.

    Attributes:
        labels: the labels.
        decision: the decision to stop; None without a rule, or if the rule did not stop before the end.
    """

    labels: Labels
    decision: Decision | None = None


def simulate(
    task: Task,
    strategy: QueryStrategy,
    seed: int,
    growth: float = 0.05,
    rule: StoppingRule | None = None,
    start: Run | None = None,
) -> Run:
    """Label the whole pool, or until the stopping rule stops.

    Args:
        task: the pool and its labels.
        strategy: the query strategy.
        seed: random seed of samples and of the order of posts with equal scores.
        growth: rank again when the number of labels has grown by this share, and by at least one; 0: after each label.
        rule: the stopping rule, consulted before the first label and after each one.
        start: a run of the same strategy and seed without a rule. It is reused up to the first randomly sampled post,
            because until then both runs are equal.
    """
    pool = replace(task.pool, tie_seed=seed)
    places, at_random = np.empty(len(pool), dtype=np.int64), np.zeros(len(pool), dtype=bool)
    order = np.zeros(0, dtype=np.int64)
    ready, renewed = 0, 0  # posts taken from the order, and number of labels when it was computed
    strayed = start is None
    draws = np.random.default_rng([seed, 1])
    for count in range(len(pool) + 1):
        labels = Labels(places[:count], task.relevant[places[:count]], at_random[:count])
        decision = rule.decide(labels, len(pool)) if rule is not None else None
        if decision is not None and decision.stop:
            return Run(labels, decision)
        if count == len(pool):
            break
        if decision is not None and decision.draw_at_random:
            free = np.ones(len(pool), dtype=bool)
            free[places[:count]] = False
            places[count], at_random[count], strayed = draws.choice(np.flatnonzero(free)), True, True
            order, ready = order[:0], 0
        elif not strayed and start is not None:
            places[count] = start.labels.posts[count]
        else:
            due = strategy.learns and count - renewed >= max(1, int(growth * renewed))
            if ready == len(order) or due:
                order = strategy.order(pool, labels, np.random.default_rng([seed, 0, count]))
                ready, renewed = 0, count
            places[count] = order[ready]
            ready += 1
    return Run(labels)


def found(task: Task, labels: Labels) -> np.ndarray:
    """Return the number of relevant posts found after 0, 1, … labels: int64, labels + 1."""
    return np.concatenate([[0], np.cumsum(task.gains[labels.posts])])


def labels_to(curve: Sequence[int] | np.ndarray, wanted: float) -> int | None:
    """Return the number of labels needed to find `wanted` relevant posts; None if they were never found."""
    curve = np.asarray(curve)
    place = int(np.searchsorted(curve, wanted - 1e-9))
    return place if place < len(curve) else None
