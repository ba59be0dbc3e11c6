"""Labelling played through with posts whose labels are known: what a strategy would have cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from linker.annotation.pool import Labels, Pool
from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.annotation.stopping_rules.stopping_rule import Decision, StoppingRule


@dataclass(frozen=True)
class Task:
    """A pool whose labels are known.

    Attributes:
        name: of the topic or event.
        pool: what is labelled.
        relevant: bool, one per place of the pool: the label that its post gets.
        gains: int64, one per place: the relevant posts that are found when it is labelled: none if its label is not
            relevant, else itself and those of its copies that are relevant, too.
        total: the relevant posts, copies included.
        posts: all posts, copies included.
        disagreeing: the copies whose own label is not that of the post that stands for them.
    """

    name: str
    pool: Pool
    relevant: np.ndarray
    gains: np.ndarray
    total: int
    posts: int
    disagreeing: int

    @classmethod
    def of(cls, name: str, pool: Pool, relevant_ids: set[str]) -> Task:
        """The task in which exactly these posts are relevant."""
        relevant = np.array([post.id in relevant_ids for post in pool.posts], dtype=bool)
        own = [[copy.id in relevant_ids for copy in copies] for copies in pool.copies]
        copies = np.array([sum(flags) for flags in own], dtype=np.int64)
        disagreeing = sum(flag != mine for flags, mine in zip(own, relevant.tolist()) for flag in flags)
        return cls(
            name,
            pool,
            relevant,
            np.where(relevant, 1 + copies, 0),
            int(relevant.sum() + copies.sum()),
            len(pool) + sum(map(len, pool.copies)),
            disagreeing,
        )


@dataclass(frozen=True)
class Run:
    """The labels of one simulation, in order.

    Attributes:
        labels: what was labelled.
        decision: the rule's last word; None where there was no rule, or it never stopped before the end.
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
    """Label the whole pool, or until a rule stops.

    Args:
        task: what is labelled.
        strategy: in which order.
        seed: for everything random: samples, and the order of posts with equal scores.
        growth: a new order is asked for when the labels have grown by this share, and by one at least: 0 for a new
            order after each label.
        rule: is asked before the first label and after each one.
        start: a run of the same strategy and seed without a rule. Up to the first post that the rule wants drawn at
            random this one must be the same, and is taken from there.
    """
    pool = replace(task.pool, tie_seed=seed)
    places, at_random = np.empty(len(pool), dtype=np.int64), np.zeros(len(pool), dtype=bool)
    order = np.zeros(0, dtype=np.int64)
    ready, renewed = 0, 0  # how much of the order is used up, and when it was made
    strayed = start is None
    draws = np.random.default_rng([seed, 1])
    for count in range(len(pool) + 1):
        labels = Labels(places[:count], task.relevant[places[:count]], at_random[:count])
        decision = rule.decide(labels, len(pool)) if rule is not None else None
        if decision is not None and decision.stop:
            return Run(_kept(labels), decision)
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
    return Run(_kept(labels))


def _kept(labels: Labels) -> Labels:
    return Labels(labels.posts.copy(), labels.relevant.copy(), labels.at_random.copy())


def found(task: Task, labels: Labels) -> np.ndarray:
    """int64, labels + 1: the relevant posts found after each label, from 0 labels on."""
    return np.concatenate([[0], np.cumsum(task.gains[labels.posts])])


def labels_to(curve: Sequence[int] | np.ndarray, wanted: float) -> int | None:
    """How many labels it took to find so many; None: they were never found."""
    curve = np.asarray(curve)
    place = int(np.searchsorted(curve, wanted - 1e-9))
    return place if place < len(curve) else None


def work_saved(curve: np.ndarray, pool_size: int, total: int, recall: float = 0.95) -> float | None:
    """WSS@recall of Cohen et al. (2006): the share of labels saved, less 1 − recall, which random order saves.

    None where so many are never found.
    """
    labels = labels_to(curve, recall * total)
    return None if labels is None else 1 - labels / pool_size - (1 - recall)
