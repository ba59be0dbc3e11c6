"""Stopping rules do what they state: figures against scipy, failure rates by simulation."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from benchmarks.annotation.stopping_rules import QUALITIES, Quality, ordered, tail_end
from linker.annotation.pool import Labels
from linker.annotation.stopping_rules.estimate import RandomSample
from linker.annotation.stopping_rules.sequential_sampling import (
    MarginalCostRule,
    RecallRule,
    SequentialSamplingRule,
    exhausted_after,
)
from linker.annotation.stopping_rules.stopping_rule import StoppingRule
from linker.annotation.stopping_rules.target import TargetRule


def labels_of(relevant: list[int] | np.ndarray, at_random: list[int] | np.ndarray | None = None) -> Labels:
    flags = np.array(relevant, dtype=bool)
    drawn = np.zeros(len(flags), dtype=bool) if at_random is None else np.array(at_random, dtype=bool)
    return Labels(np.arange(len(flags)), flags, drawn)


def asked_after_every_label(
    rule: StoppingRule, relevant: np.ndarray, generator: np.random.Generator, earlier: int = 0
) -> tuple[int, int]:
    """Labels spent and relevant posts found; `relevant` is in the order of the ranking, `earlier` labels are given."""
    left = list(range(earlier, len(relevant)))
    places = list(range(earlier))
    drawn = [False] * earlier
    order: Iterator[int] | None = None
    while True:
        flags = np.array(drawn, dtype=bool)
        labels = Labels(np.array(places, dtype=int), relevant[places], flags, earlier=earlier)
        decision = rule.decide(labels, len(relevant))
        if decision.stop:
            return len(places), labels.found
        if decision.draw_at_random:
            order = order or iter(generator.permutation(left))
            place = int(next(order))
        else:
            order, place = None, left[0]
        left.remove(place)
        places.append(place)
        drawn.append(decision.draw_at_random)


def no_more_than(failures: int, number: int, rate: float) -> bool:
    """Would a rule that fails at this rate fail so often or more with a chance of 1 in 10,000 at least?"""
    return float(binom.sf(failures - 1, number, rate)) > 1e-4


@pytest.mark.parametrize(
    ("rule", "arguments"),
    [
        (TargetRule, {"relevant": 0}),
        (RecallRule, {"target": 1.0}),
        (RecallRule, {"confidence": 95}),
        (MarginalCostRule, {"labels": 0}),
        (MarginalCostRule, {"patience": 0}),
    ],
)
def test_numbers_out_of_range_are_refused(rule: type, arguments: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(arguments))):
        rule(**arguments)


def test_the_target_is_counted() -> None:
    rule = TargetRule(relevant=2)
    assert not rule.decide(labels_of([1, 0, 0]), 10).stop
    assert rule.decide(labels_of([1, 0, 1]), 10).stop
    assert "only 1 of 3" in rule.decide(labels_of([1, 0, 0]), 3).reason


@pytest.mark.parametrize("rule", [TargetRule(5), RecallRule(), MarginalCostRule()])
def test_labelling_ends_with_the_last_post_and_not_before_the_first(rule: StoppingRule) -> None:
    assert not rule.decide(Labels(), 500).stop
    assert rule.decide(labels_of([0] * 500), 500).stop
    assert not rule.decide(labels_of([0] * 499), 500).stop


def test_recall_is_sure_without_a_test_where_the_rest_cannot_matter() -> None:
    rule = RecallRule(target=0.95)
    # 95 of at most 100: exactly the target. 94 of at most 99 are fewer.
    assert rule.decide(labels_of([1] * 95), 100).stop
    assert not rule.decide(labels_of([1] * 94 + [0]), 100).stop


def test_the_ordering_seems_exhausted_after_a_wait() -> None:
    flags = [0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0]
    assert exhausted_after(np.array(flags), lambda number: 3) == 11
    assert exhausted_after(np.array(flags), lambda number: 5) is None
    assert exhausted_after(np.zeros(50), lambda number: 5) is None
    assert exhausted_after(np.array(flags), lambda number: 3, position=11) == 16
    assert exhausted_after(np.array(flags), lambda number: 3, position=12) == 16
    assert not RecallRule(patience=4).decide(labels_of(flags[:11]), 1000).draw_at_random
    assert RecallRule(patience=3).decide(labels_of(flags[:11]), 1000).draw_at_random


def test_patience_is_no_longer_than_half_a_sample() -> None:
    flags = [1] * 380 + [0] * 30
    # 20 of 620 left would be too many: ln 0.05 / ln (1 - 21 / 620) / 2 = 43.5.
    waiting = RecallRule().decide(labels_of(flags), 1000)
    assert not waiting.draw_at_random
    assert waiting.reason == "30 labels since the last relevant post; random sampling starts after 44"
    assert RecallRule().decide(labels_of(flags + [0] * 14), 1000).draw_at_random
    # One of 990 would be too many: a sample takes far longer than a tenth of them, 99 labels.
    few = labels_of([1] * 10 + [0] * 98)
    assert RecallRule().decide(few, 1000).reason.endswith("after 99")
    assert RecallRule().decide(few, 10_000).reason.endswith("after 200")
    # Half of the rest would be too many: never less than ten labels.
    assert RecallRule(0.5).decide(labels_of([1] * 400), 1000).reason.endswith("after 10")


@pytest.mark.parametrize(
    ("unlabeled", "left", "drawn", "hits"), [(50, 7, 20, 3), (200, 4, 90, 0), (30, 30, 5, 5)]
)
def test_the_likelihood_is_the_hypergeometric_one(unlabeled: int, left: int, drawn: int, hits: int) -> None:
    flags = np.array([1] * 6 + [0] * 4 + [1] * hits + [0] * (drawn - hits))
    labels = labels_of(flags, [0] * 10 + [1] * drawn)
    probability = math.exp(
        RandomSample(labels, labels.sample, unlabeled + 10).log_likelihood(6 + left)
    ) * math.comb(drawn, hits)
    assert probability == pytest.approx(hypergeom.pmf(hits, unlabeled, left, drawn))


def test_draws_between_labels_in_order_are_weighed_one_by_one() -> None:
    # 10 posts, 4 relevant. In order: hit. Random: 3 of 9 left, missed; 3 of 8, hit. In order: missed, leaving 2 of 6.
    # Random: missed.
    labels = labels_of([1, 0, 1, 0, 0], [0, 1, 1, 0, 1])
    sample = RandomSample(labels, labels.sample, 10)
    assert sample.log_likelihood(4) == pytest.approx(math.log(6 / 9 * 3 / 8 * 4 / 6))
    # With 1 in all nothing is left to hit; with 9 the four misses have no room.
    assert [sample.log_likelihood(total) for total in (1, 9)] == [-math.inf, -math.inf]


@pytest.mark.parametrize("quality", QUALITIES, ids=lambda quality: quality.name)
@pytest.mark.parametrize(
    "rule", [RecallRule(0.9, patience=15), MarginalCostRule(20, patience=10)], ids=["recall", "marginal_cost"]
)
def test_the_simulation_below_is_the_rule_asked_after_every_label(
    rule: SequentialSamplingRule, quality: Quality
) -> None:
    seed = [5, QUALITIES.index(quality)]
    relevant = ordered(150, 0.15, QUALITIES[seed[1]], np.random.default_rng(seed))
    end = tail_end(rule, relevant, np.random.default_rng(seed))
    assert (end.spent, end.found) == asked_after_every_label(rule, relevant, np.random.default_rng(seed))


def ending_early(known: int, left: int, rest: int, rule: SequentialSamplingRule) -> np.ndarray:
    """A ranking that finds some posts and then seems exhausted to a rule, with others left among the rest."""
    tail = np.random.default_rng(1).permutation(np.arange(rest) < left)
    found = np.ones(known, dtype=bool)
    labels = labels_of(found)
    wait = next(n for n in range(201) if n >= rule.patience_of(labels, known + n + rest)(known))
    return np.r_[found, np.zeros(wait, dtype=bool), tail]


# Where failing is easy: recall just below the target, or just as many left as are too many.
@pytest.mark.parametrize(
    ("rule", "posts", "rate"),
    [
        (RecallRule(0.95, 0.95), (945, 55, 1500), 0.05),
        (RecallRule(0.95, 0.8), (945, 55, 1500), 0.2),
        (MarginalCostRule(50, 0.95), (20, 10, 500), 0.05),
        (MarginalCostRule(50, 0.8), (20, 10, 500), 0.2),
    ],
)
def test_rules_fail_no_more_often_than_stated(
    rule: SequentialSamplingRule, posts: tuple[int, int, int], rate: float
) -> None:
    generator = np.random.default_rng(17)
    relevant = ending_early(*posts, rule)
    ends = [tail_end(rule, relevant, generator) for _ in range(200)]
    failures = sum(end.false for end in ends)
    assert no_more_than(failures, len(ends), rate)
    # Far from never: the guarantee is not bought by hardly ever stopping.
    assert failures > 0.1 * rate * len(ends)


@pytest.mark.parametrize("quality", QUALITIES, ids=lambda quality: quality.name)
def test_recall_is_kept_whatever_the_ordering(quality: Quality) -> None:
    generator = np.random.default_rng(3)
    place = QUALITIES.index(quality)
    ends = [
        tail_end(RecallRule(0.8, 0.9, patience=50), ordered(600, 0.1, QUALITIES[place], generator), generator)
        for _ in range(60)
    ]
    assert no_more_than(sum(end.false for end in ends), len(ends), 0.1)


def test_when_posts_are_added_the_strategy_and_the_error_rate_begin_again() -> None:
    rule, flags = RecallRule(0.8, 0.8, patience=10), np.r_[np.ones(12), np.zeros(30)].astype(bool)
    before = replace(labels_of(flags), earlier=42)
    assert rule.decide(labels_of(flags), 340).draw_at_random
    assert rule.decide(before, 340).reason.startswith("0 labels since posts were added; random")
    assert "back to the query" not in rule.decide(replace(before, earlier=50), 340).reason  # some were undone
    assert rule.decide(replace(labels_of([0] * 42), earlier=42), 340).reason == "no relevant post found yet"
    # Four among the 298 posts left are too many.
    generator, early = np.random.default_rng(7), 0
    for _ in range(100):
        relevant = np.r_[flags, generator.permutation(298) < 4]
        early += asked_after_every_label(rule, relevant, generator, 42)[1] < 0.8 * 16
    assert no_more_than(early, 100, 0.2)
    assert early > 2


def test_what_would_be_enough_is_enough() -> None:
    flags = np.r_[np.ones(40), np.zeros(100)].astype(bool)
    rule = RecallRule(0.8, patience=100)
    reason = rule.decide(labels_of(flags), 1000).reason
    more = int(reason.split("; ")[1].split(" ")[0].replace(",", ""))
    ends = [
        rule.decide(
            labels_of(np.r_[flags, np.zeros(number, dtype=bool)], np.r_[np.zeros(140), np.ones(number)]), 1000
        ).stop
        for number in (math.floor(more * 0.9), more)
    ]
    assert ends == [False, True]


def test_labelling_goes_back_to_the_ordering_where_random_draws_find_too_much() -> None:
    rule = RecallRule(0.95, patience=20)
    flags = [1] * 10 + [0] * 20 + [1, 0] * 5
    drawn = [0] * 30 + [1] * 10
    decisions = [rule.decide(labels_of(flags[:size], drawn[:size]), 1000) for size in (38, 39, 40)]
    assert [one.draw_at_random for one in decisions] == [True, False, False]
    assert "back to the query strategy" in decisions[2].reason
    again = labels_of(flags + [0] * 20, drawn + [0] * 20)
    assert rule.decide(again, 1000).draw_at_random


def test_a_second_random_tail_has_to_be_surer() -> None:
    rule = MarginalCostRule(100, patience=20)
    first = labels_of([1] * 10 + [0] * 20)
    second = labels_of([1] * 10 + [0] * 20 + [1] * 5 + [0] * 20, [0] * 30 + [1] * 5 + [0] * 20)
    numbers = [
        int(rule.decide(labels, 5000).reason.split("; ")[1].split(" ")[0].replace(",", ""))
        for labels in (first, second)
    ]
    assert numbers[1] > 1.2 * numbers[0]
