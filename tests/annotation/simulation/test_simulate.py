"""Figures of simulations, counted by hand."""

import numpy as np
import pytest

from linker.annotation.build_pool import build_pool
from linker.annotation.pool import Labels
from linker.annotation.query_strategies.query_strategy import QueryStrategy
from linker.annotation.simulation.outcomes import Outcome, Stop
from linker.annotation.simulation.simulate import Run, found, labels_to, simulate
from linker.annotation.simulation.study import study
from linker.annotation.simulation.task import Task
from linker.annotation.stopping_rules.stopping_rule import Decision, StoppingRule
from linker.config import build
from linker.data.types import Article, Post
from linker.models.bm25 import BM25Model
from tests.helpers.pools import planted

TEXTS = (
    "ferry aground on the reef",  # relevant
    "RT @user: ferry aground on the reef",  # its copy, relevant
    "nice weather on the island today",
    "lifeboat crew saved everyone tonight",  # relevant
    "lifeboat crew saved everyone tonight!",  # its copy, labeled otherwise
    "my cat sleeps on my keyboard",
    "my cat sleeps on my keyboard :)",  # a copy that counts as relevant, of one that does not
    "passengers sing songs at the pier hall",  # relevant
)
RELEVANT = {"0", "1", "3", "6", "7"}


def small() -> Task:
    posts = [Post(str(i), text) for i, text in enumerate(TEXTS)]
    return Task.of("ferry", build_pool([Article("a", "ferry on the reef")], posts, BM25Model()), RELEVANT)


def run_of(task: Task, places: list[int]) -> Run:
    order = np.array(places, dtype=np.int64)
    return Run(Labels(order, task.relevant[order], np.zeros(len(order), dtype=bool)))


def test_copies_count_as_found_with_the_post_that_represents_them() -> None:
    task = small()
    assert [post.id for post in task.pool.posts] == ["0", "2", "3", "5", "7"]
    assert [[copy.id for copy in copies] for copies in task.pool.copies] == [["1"], [], ["4"], ["6"], []]
    assert task.relevant.tolist() == [True, False, True, False, True]
    assert task.gains.tolist() == [2, 0, 1, 0, 1]
    assert (task.total, task.posts, task.disagreeing) == (5, 8, 2)


def test_figures_of_a_run_by_hand() -> None:
    task = small()
    run = run_of(task, [2, 1, 0, 3, 4])
    curve = found(task, run.labels)
    assert curve.tolist() == [0, 1, 1, 3, 3, 4]
    assert [labels_to(curve, wanted) for wanted in (0, 1, 2, 3, 4, 5)] == [0, 1, 3, 3, 5, None]
    outcome = Outcome.of(task, "by hand", 0, run)
    # 80 % of five are four; the fifth is a copy of a post that is labeled otherwise.
    assert outcome.labels_to == {0.5: 3, 0.8: 5, 0.9: None, 0.95: None, 1.0: None}
    assert outcome.work_saved is None
    assert [outcome.curve[i] for i in (0, 20, 40, 60, 80, 100)] == pytest.approx([0, 0.2, 0.2, 0.6, 0.6, 0.8])


def test_work_saved_over_sampling() -> None:
    task = planted(1, 120)
    outcome = Outcome.of(task, "by hand", 0, run_of(task, list(range(120))))
    # Cohen et al.: WSS@95 = (TN + FN) / N − 0.05.
    needed = outcome.labels_to[0.95]
    assert needed is not None
    assert outcome.work_saved == pytest.approx((120 - needed) / 120 - 0.05)


def test_every_post_is_labeled_once_and_seeds_decide() -> None:
    task = planted(1, 120)
    for config in ("random", {"type": "active_learning", "pseudo_negatives": 10}):
        strategy = build(QueryStrategy, config)
        orders = [simulate(task, strategy, seed, growth=0.3).labels.posts.tolist() for seed in (1, 1, 2)]
        assert sorted(orders[0]) == list(range(len(task.pool)))
        assert orders[0] == orders[1] != orders[2]


class Counting(QueryStrategy):
    """The pool's order; notes after how many labels it was asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def order(self, pool, labels, generator):
        self.asked.append(len(labels))
        return np.setdiff1d(np.arange(len(pool)), labels.posts)


@pytest.mark.parametrize(
    ("growth", "learns", "expected"),
    [(0, True, list(range(12))), (0.5, True, [0, 1, 2, 3, 4, 6, 9]), (0, False, [0])],
)
def test_when_a_new_order_is_asked_for(growth: float, learns: bool, expected: list[int]) -> None:
    task = planted(1, 12)
    strategy = Counting()
    strategy.learns = learns  # type: ignore[misc]
    simulate(task, strategy, 0, growth)
    assert strategy.asked == expected


class SequentialTestRule(StoppingRule):
    """From ten labels on posts drawn at random; the end after five of them."""

    def decide(self, labels: Labels, pool_size: int) -> Decision:
        drawn = int(labels.at_random.sum())
        return Decision(drawn == 5, f"{drawn} drawn", draw_at_random=len(labels) >= 10)


class BreakRule(StoppingRule):
    """Two posts drawn at random after ten labels, then the strategy again; never the end."""

    def decide(self, labels: Labels, pool_size: int) -> Decision:
        return Decision(False, "on", draw_at_random=10 <= len(labels) < 12)


def test_rules_stop_and_draw_at_random() -> None:
    task = planted(2, 100)
    strategy = build(QueryStrategy, "active_learning")
    whole = simulate(task, strategy, 7, 0.2)
    first_draws = set()
    for seed in range(7, 12):
        base = simulate(task, strategy, seed, 0.2) if seed > 7 else whole
        stopped = simulate(task, strategy, seed, 0.2, SequentialTestRule(), base)
        assert len(stopped.labels) == 15
        assert stopped.labels.at_random.tolist() == [False] * 10 + [True] * 5
        assert stopped.labels.posts[:10].tolist() == base.labels.posts[:10].tolist()
        assert len(set(stopped.labels.posts.tolist())) == 15
        assert stopped.decision is not None
        assert stopped.decision.reason == "5 drawn"
        alone = simulate(task, strategy, seed, 0.2, SequentialTestRule())
        assert alone.labels.posts.tolist() == stopped.labels.posts.tolist()
        first_draws.add(int(stopped.labels.posts[10]))
    assert len(first_draws) > 1
    end = simulate(task, strategy, 7, 0.2, BreakRule(), whole)
    assert end.decision is None
    assert sorted(end.labels.posts.tolist()) == list(range(100))
    assert np.flatnonzero(end.labels.at_random).tolist() == [10, 11]


def test_draws_are_uniform_over_what_is_left() -> None:
    task = planted(3, 20)
    counts = np.zeros(20)
    base = simulate(task, Counting(), 0, 0)
    for seed in range(600):
        stopped = simulate(task, Counting(), seed, 0, SequentialTestRule(), base)
        counts[stopped.labels.posts[10]] += 1
    assert counts[:10].sum() == 0
    # 60 expected of each, standard deviation 7.3
    assert (np.abs(counts[10:] - 60) < 32).all()


def test_a_stop_fails_below_the_rules_target() -> None:
    task = small()
    run = run_of(task, [0, 2])  # two of three distinct relevant posts; three of five with copies
    rule = SequentialTestRule()
    stop = Stop.of(task, "s", 0, run, "r", rule)
    assert (stop.labels, stop.recall, stop.failed, stop.stopped) == (2, pytest.approx(0.6), None, False)
    for target in (0.65, 0.7):
        rule.target = target  # type: ignore[attr-defined]
        assert Stop.of(task, "s", 0, run, "r", rule).failed == (target > 2 / 3)


def test_processes_give_the_same_as_one() -> None:
    tasks = [planted(seed, 40) for seed in (1, 2)]
    strategies = {name: build(QueryStrategy, name) for name in ("random", "active_learning")}
    rules = {"target": build(StoppingRule, {"type": "target", "relevant": 2})}
    alone, ticks = study(tasks, strategies, rules, 2), []
    assert alone == study(tasks, strategies, rules, 2, workers=2, done=lambda: ticks.append(1))
    assert len(ticks) == len(alone[0]) == len(alone[1]) == 8
