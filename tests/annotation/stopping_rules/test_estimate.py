"""The estimate of what is left: covered by simulation after every label, and against exact intervals."""

import numpy as np
import pytest
from scipy.stats import beta, binom

from benchmarks.annotation.stopping_rules import QUALITIES, missed, ordered
from linker.annotation.pool import Labels
from linker.annotation.stopping_rules.estimate import estimate
from tests.annotation.stopping_rules.test_stopping_rules import labels_of


def test_without_random_labels_only_the_bounds_are_certain() -> None:
    left = estimate(labels_of([1, 0, 1], [0, 0, 0]), 50)
    assert (left.low, left.high, left.confidence) == (0, 47, 1.0)
    assert "no random sample yet" in left.basis
    assert estimate(Labels(), 50).high == 50


def test_nothing_is_left_when_all_are_labeled() -> None:
    left = estimate(labels_of([1, 0], [1, 1]), 2)
    assert (left.low, left.middle, left.high) == (0, 0, 0)


def test_how_many_are_left_is_not_known_until_the_interval_is_narrow() -> None:
    unknown = "Not known yet how many relevant posts are left"
    assert estimate(labels_of([1, 0, 1], [0, 0, 0]), 50).sentence == unknown
    few = estimate(labels_of([1, 0], [1, 1]), 1000)
    assert (few.known, few.sentence) == (False, unknown)
    many = estimate(labels_of(np.r_[np.ones(10), np.zeros(90)], np.ones(100)), 1100)
    assert many.known
    assert many.high - many.low <= 500
    assert (
        many.sentence == f"About 100 relevant posts are left; with 95 % confidence {many.low} to {many.high}"
    )
    none = estimate(labels_of(np.zeros(100), np.ones(100)), 1100)
    assert none.sentence == f"Probably no relevant post is left; with 95 % confidence at most {none.high}"
    assert estimate(labels_of([1, 0], [0, 0]), 2).sentence == "No relevant post is left"


def test_the_middle_is_the_share_of_random_posts_times_the_rest() -> None:
    left = estimate(labels_of(np.r_[np.ones(10), np.zeros(90)], np.ones(100)), 1100)
    assert left.middle == pytest.approx(100, abs=1)
    assert left.low < 100 < left.high
    assert left.basis == "10 of 100 randomly sampled posts are relevant"


def test_what_is_known_bounds_the_interval() -> None:
    # 12 posts, 10 labeled: whatever the draws say, no more than 2 are left.
    left = estimate(labels_of([1] * 10, [1] * 10), 12)
    assert (left.middle, left.high) == (2, 2)


@pytest.mark.parametrize(("hits", "drawn"), [(0, 300), (3, 300), (30, 300), (150, 300)])
def test_the_price_of_looking_all_the_time(hits: int, drawn: int) -> None:
    # Clopper and Pearson's interval holds for one look; this one holds for all and is wider, but not twice as wide.
    left = estimate(labels_of(np.r_[np.ones(hits), np.zeros(drawn - hits)], np.ones(drawn)), 100_000)
    rest = 100_000 - drawn
    low = beta.ppf(0.025, hits, drawn - hits + 1) * rest if hits else 0
    high = beta.ppf(0.975, hits + 1, drawn - hits) * rest
    assert left.low <= low + 1
    assert left.high >= high - 1
    assert left.high - left.low < 2 * (high - low)


@pytest.mark.parametrize("share", [1.0, 0.2])
@pytest.mark.parametrize("prevalence", [0.02, 0.2])
def test_the_truth_is_in_the_interval_after_every_label(share: float, prevalence: float) -> None:
    generator = np.random.default_rng([3, int(10 * share), int(100 * prevalence)])
    outside = sum(
        missed(ordered(300, prevalence, QUALITIES[2], generator), share, generator)[0] for _ in range(100)
    )
    assert binom.sf(outside - 1, 100, 0.05) > 1e-4


def test_a_draw_without_a_label_counts_as_either() -> None:
    # Of 100 draws the first has no label, so its place is -1; the next one is at place 0, and so on.
    draws = np.column_stack([np.arange(-1, 99), np.zeros(100, dtype=int)])
    flags = np.arange(99) % 20 == 0
    without = estimate(Labels(np.arange(99), flags, np.ones(99, dtype=bool), draws), 1000)
    if_not, if_relevant = (estimate(labels_of(np.r_[first, flags], np.ones(100)), 1000) for first in (0, 1))
    assert (without.low, without.high) == (if_not.low, if_relevant.high + 1)
    assert without.basis.endswith("relevant; 1 more, skipped or not labeled yet, counts as possibly relevant")
    # The draws before one without a label tell as much as ever.
    last = np.r_[draws[1:-1], [[-1, 0]], [[98, 0]]]
    late = estimate(Labels(np.arange(99), flags, np.ones(99, dtype=bool), last), 1000)
    assert late.high < without.high


def test_more_confidence_is_a_wider_interval() -> None:
    labels = labels_of(np.r_[np.ones(12), np.zeros(188)], np.ones(200))
    left = [estimate(labels, 2000, confidence) for confidence in (0.5, 0.95, 0.999)]
    assert (
        left[2].low < left[1].low < left[0].low < left[0].middle < left[0].high < left[1].high < left[2].high
    )
