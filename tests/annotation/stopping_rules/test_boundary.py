"""The boundary against a step-by-step computation, and against labels that are not sampled in between."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from linker.annotation.pool import Labels
from linker.annotation.stopping_rules.boundary import StoppingBoundary
from linker.annotation.stopping_rules.sequential_sampling import RecallRule


def of_recall(known: int, target: float) -> Callable[[int], int]:
    return lambda hits: math.floor((known + hits) / target + 1e-9) + 1 - known


def wrong_stops(boundary: StoppingBoundary, size: int, left: int, too_many: Callable[[int], int]) -> float:
    """Probability of stopping although `left` are too many, post by post."""
    going_on = {0: 1.0}
    wrong = 0.0
    for drawn in range(1, size + 1):
        now: dict[int, float] = {}
        for hits, chance in going_on.items():
            share = (left - hits) / (size - drawn + 1)
            for more, part in ((1, share), (0, 1 - share)):
                now[hits + more] = now.get(hits + more, 0.0) + chance * part
        going_on = {}
        for hits, chance in now.items():
            if drawn < boundary[hits]:
                going_on[hits] = chance
            elif left >= too_many(hits):
                wrong += chance
    return wrong


@pytest.mark.parametrize(("size", "known", "target"), [(60, 20, 0.8), (120, 60, 0.9), (200, 30, 0.95)])
def test_wrong_stops_are_as_rare_as_allowed_and_hardly_rarer(size: int, known: int, target: float) -> None:
    too_many = of_recall(known, target)
    boundary = StoppingBoundary(size, too_many, 0.05)
    rates = [wrong_stops(boundary, size, left, too_many) for left in range(too_many(0), size // 2)]
    assert max(rates) <= 0.05 + 1e-9
    assert rates[0] > 0.04


def test_a_fixed_limit_leaves_error_for_later_stops() -> None:
    boundary = StoppingBoundary(100, lambda hits: 8, 0.05, lambda hits: 1 - 0.5 * 0.8**hits)
    assert wrong_stops(boundary, 100, 8, lambda hits: 8) <= 0.05
    assert [boundary[hits] <= 100 for hits in (0, 3, 6, 8)] == [True, True, True, False]


def test_without_a_relevant_post_it_is_the_hypergeometric_test() -> None:
    # 100 known, 106 would be too many: six among 1,000.
    enough = StoppingBoundary(1000, of_recall(100, 0.95), 0.05)[0]
    assert hypergeom.pmf(0, 1000, 6, enough) <= 0.05 < hypergeom.pmf(0, 1000, 6, enough - 1)


def test_draws_without_a_label_are_relevant_and_not_found() -> None:
    # Two of the draws have no label. With 100 known, 106 would be too many: six, two of which are drawn.
    too_many = of_recall(100, 0.95)
    boundary = StoppingBoundary(300, lambda hits: too_many(max(0, hits - 2)), 0.05, first=2)
    enough = boundary[2]
    assert [boundary[hits] for hits in (0, 1)] == [301, 301]
    assert hypergeom.cdf(2, 300, 6, enough) <= 0.05 < hypergeom.cdf(2, 300, 6, enough - 1)
    rates = [wrong_stops(boundary, 300, left, lambda hits: too_many(hits - 2)) for left in range(6, 24, 4)]
    assert max(rates) <= 0.05 + 1e-9
    assert rates[0] > 0.04


def test_it_does_not_depend_on_how_far_it_was_computed_before() -> None:
    step, at_once = (StoppingBoundary(3000, of_recall(900, 0.95), 0.05) for _ in range(2))
    numbers = [step[hits] for hits in range(50)]
    assert at_once[49] == numbers[49]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("between", [False, True], ids=["not relevant between", "relevant between"])
def test_labels_that_are_not_sampled_cannot_make_it_stop_early(between: bool) -> None:
    # 190 of 201 are found; 11 of 300 unlabeled ones are left, which is one too many for 95 %. After each sampled post
    # comes one that is not, relevant only where a strategy would find it.
    rule, size = RecallRule(0.95, 0.8), 520
    generator = np.random.default_rng(5)
    failures = 0
    for _ in range(80):
        start = np.r_[np.ones(190, dtype=bool), np.zeros(30, dtype=bool)]
        rest = generator.permutation(np.arange(300) < 11).tolist()
        flags, drawn = start.tolist(), [False] * 220
        while not (
            decision := rule.decide(Labels(np.arange(len(flags)), np.array(flags), np.array(drawn)), size)
        ).stop:
            pick = (
                int(generator.integers(len(rest)))
                if decision.draw_at_random and not (flags and drawn[-1])
                else None
            )
            if pick is None:
                wanted = between and len(flags) % 20 == 0
                pick = rest.index(wanted) if wanted in rest else 0
                drawn.append(False)
            else:
                drawn.append(True)
            flags.append(rest.pop(pick))
        failures += sum(flags) < 0.95 * 201
    assert binom.sf(failures - 1, 80, 0.2) > 1e-4
