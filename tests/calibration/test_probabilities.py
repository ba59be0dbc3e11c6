"""Probabilities and their reliability, against values counted by hand and other implementations."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.metrics import brier_score_loss

from linker.calibration.probabilities import cross_validated_probabilities, isotonic, platt, reliability_of
from linker.common.errors import LinkerError
from linker.common.stats import effective_counts, proportion_interval


def test_bins_by_hand() -> None:
    probabilities = np.array([0.0, 0.05, 0.1, 0.55, 0.95, 1.0])
    relevant = np.array([False, True, False, True, True, True])
    numbers = reliability_of(probabilities, relevant, np.arange(6))
    bins = numbers.bins
    assert [(one.low, one.high, one.count) for one in bins] == [
        (0, 0.1, 2),
        (0.1, 0.2, 1),
        (0.5, 0.6, 1),
        (0.9, 1, 2),
    ]
    assert [one.observed for one in bins] == [0.5, 0, 1, 1]
    assert [one.predicted for one in bins] == pytest.approx([0.025, 0.1, 0.55, 0.975])
    # (2 · 0.475 + 0.1 + 0.45 + 2 · 0.025) / 6
    assert numbers.calibration_error == pytest.approx(1.55 / 6)


@pytest.mark.parametrize("count", [1, 2, 5, 9, 20, 60, 300])
def test_intervals_of_proportions_hold_the_truth_as_often_as_they_say(count: int) -> None:
    hits = np.arange(count + 1)
    low, high = np.array([proportion_interval(number, count) for number in hits.tolist()]).T
    # Coverage is least just beside the bounds.
    true = np.unique(np.concatenate([low - 1e-9, high + 1e-9, np.geomspace(0.01 / count, 0.5, 50)]))
    true = true[(true > 0) & (true < 1)][:, None]
    held = (binom.pmf(hits, count, true) * ((low <= true) & (true <= high))).sum(axis=1)
    assert held.min() >= 0.93
    assert (held[np.minimum(true, 1 - true)[:, 0] * count > 8] < 0.98).all()  # not where one kind is rare


def test_pairs_that_go_with_their_article_count_for_fewer() -> None:
    rng, share = np.random.default_rng(0), 0.1
    held: list[list[bool]] = []
    articles, alone = np.repeat(np.arange(30), 40), np.arange(1200)
    for _ in range(200):
        relevant = rng.random(1200) < rng.beta(0.5, 4.5, 30)[articles]
        held.append([])
        for groups in (articles, alone):
            low, high = proportion_interval(*effective_counts(relevant, groups, alike=False))
            held[-1].append(low <= share <= high)
    right, wrong = np.mean(held, axis=0)
    assert right > 0.9
    assert wrong < 0.6
    assert effective_counts(relevant & False, articles, alike=True) == pytest.approx((0, 30))
    assert effective_counts(relevant[:5] | True, np.zeros(5), alike=False) == (1, 1)


def test_scores_become_probabilities_that_hold() -> None:
    generator = np.random.default_rng(0)
    scores = generator.normal(size=20_000)
    truth = 1 / (1 + np.exp(-(2 * scores - 1)))
    relevant = generator.random(len(scores)) < truth
    found = cross_validated_probabilities(40 + 3 * scores, relevant, np.arange(len(scores)))
    assert np.abs(found - truth).mean() < 0.02
    numbers = reliability_of(found, relevant, np.arange(len(scores)))
    assert numbers.calibration_error < 0.02
    assert numbers.brier_score == pytest.approx(brier_score_loss(relevant, found))
    assert sum(one.count for one in numbers.bins) == 20_000


def test_platts_curve_is_finite_where_the_kinds_do_not_overlap() -> None:
    scores, relevant = np.arange(10.0), np.arange(10) >= 5
    found = platt(scores, relevant)(scores)
    assert (np.diff(found) > 0).all()
    # His targets for five of each are 6/7 and 1/7: the curve goes beyond them only a little.
    assert 0 < found[0] < 0.2
    assert 0.8 < found[-1] < 1
    assert found[4] < 0.5 < found[5]


def test_cross_validation_keeps_groups_together() -> None:
    # Each group has a score of its own, and one answer: a curve that has seen the group knows it.
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 10)
    relevant = (rng.permutation(40) < 20)[groups]
    apart = cross_validated_probabilities(groups.astype(float), relevant, groups)
    together = isotonic(groups.astype(float), relevant)(groups.astype(float))
    assert np.mean((apart - relevant) ** 2) > np.mean((together - relevant) ** 2) + 0.05
    assert all(len(set(apart[groups == group])) == 1 for group in range(40))


def test_too_few_of_a_kind_are_refused() -> None:
    with pytest.raises(LinkerError, match="4 relevant and 20 irrelevant"):
        cross_validated_probabilities(np.arange(24.0), np.arange(24) < 4, np.arange(24))
