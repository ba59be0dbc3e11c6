"""Tests and intervals against exhaustive or materialised computations."""

from itertools import product

import numpy as np
import pytest

from linker.evaluation import significance
from linker.evaluation.metrics import pairwise
from linker.evaluation.significance import (
    bootstrap_p_value,
    bootstrap_weights,
    holm,
    mean_intervals,
    randomization_test,
    resample_pair_metrics,
    swapped_p_values,
)


@pytest.mark.parametrize(("count", "error"), [(1, 0), (4, 0), (12, 0), (16, 0.01)])
def test_randomization_test_equals_the_exhaustive_one(count: int, error: float) -> None:
    differences = np.random.default_rng(count).normal(0.1, 0.2, size=(count, 1)).round(2)
    sums = np.abs(np.array([*product((-1, 1), repeat=count)]) @ differences)
    exact = np.mean(sums >= abs(differences.sum()) - 1e-12)
    assert randomization_test(differences)[0] == pytest.approx(exact, abs=error or 1e-12)
    assert exact >= 2.0 ** (1 - count)


def test_randomization_test_sees_differences_and_only_those() -> None:
    random = np.random.default_rng(0)
    differences = np.stack([random.normal(0.1, 0.1, 100), random.normal(0, 0.1, 100), np.zeros(100)], axis=1)
    better, same, equal = randomization_test(differences)
    assert better == pytest.approx(1 / 10_001)
    assert same > 0.05
    assert equal == 1.0


@pytest.mark.parametrize("count", [5, 10, 15, 29, 30, 60])
def test_randomization_test_keeps_its_level(count: int) -> None:
    random = np.random.default_rng(count)
    skewed = random.lognormal(sigma=1.5, size=(2, count, 4000))  # two models' values, equal in distribution
    p_values = randomization_test(skewed[0] - skewed[1], resamples=2000)
    assert 0.055 >= (p_values <= 0.05).mean() >= (0.025 if count > 5 else 0)


@pytest.mark.parametrize("count", [8, 10])
def test_swaps_keep_the_level_of_metrics_over_all_pairs(count: int) -> None:
    random, ids = np.random.default_rng(count), ([*map(str, range(count))], [*map(str, range(20))])
    rejected = []
    for _ in range(500):
        relevance = random.random((count, 20)) < 0.2
        relevance[:, 0] = True
        levels = random.lognormal(sigma=1, size=(2, count, 1))  # of all posts of an article
        first, second = random.normal(size=(2, count, 20)) + relevance + levels
        p_values = swapped_p_values(first, 100 * second, relevance, *ids)
        rejected.append([p <= 0.05 for p in p_values.values()])
    assert swapped_p_values(second, first, relevance, *ids) == pytest.approx(p_values)
    assert (np.mean(rejected, axis=0) <= 0.065).all()
    better = swapped_p_values(relevance * 1.0, first, relevance, *ids)
    assert 2.0 ** (1 - count) <= better["AUC"] <= 0.05


def test_the_seed_decides() -> None:
    differences = np.random.default_rng(2).normal(0.1, 0.5, size=(40, 3))
    first, again, other = (randomization_test(differences, seed=seed) for seed in (5, 5, 6))
    assert (first == again).all()
    assert (first != other).any()
    np.testing.assert_array_equal(bootstrap_weights(9, 20, seed=5), bootstrap_weights(9, 20, seed=5))


@pytest.mark.parametrize("count", [15, 29, 60])
def test_intervals_of_means_hold_the_truth_as_often_as_they_say(count: int) -> None:
    random = np.random.default_rng(3)
    values = random.exponential(size=(count, 3000)) * (random.random((count, 3000)) < 0.7)
    low, high = mean_intervals(values)
    assert 0.93 <= np.mean((low <= 0.7) & (high >= 0.7)) <= 0.99
    assert mean_intervals(np.ones((count, 1))).tolist() == [[1], [1]]
    assert np.abs(mean_intervals(np.r_[np.zeros(63), 1e-3, -1, -1][:, None])).max() < 0.1


@pytest.mark.parametrize(("count", "share"), [(30, 0.1), (66, 0.05), (66, 0.1), (150, 0.05), (740, 0.02)])
def test_intervals_hold_where_few_articles_differ(count: int, share: float) -> None:
    random = np.random.default_rng(6)
    differ, size = random.random((2, count, 3000))
    for differences, truth in ((2 * size - 1, 0), (1, share)):
        low, high = mean_intervals((differ < share) * differences)
        assert np.mean((low <= truth) & (high >= truth)) >= 0.93


def test_bootstrap_p_value() -> None:
    assert bootstrap_p_value(np.zeros(99)) == 1.0
    assert bootstrap_p_value(np.ones(99)) == pytest.approx(2 / 100)
    assert bootstrap_p_value(np.r_[np.ones(95), -np.ones(4), np.nan]) == pytest.approx(2 * 5 / 100)


@pytest.mark.parametrize(
    ("p_values", "corrected"),
    [
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.04, 0.03, 0.02, 0.01], [0.06, 0.06, 0.06, 0.04]),
        ([0.9, 0.8], [1.0, 1.0]),
        ([0.02], [0.02]),
        ([], []),
    ],
)
def test_holm_by_hand(p_values: list[float], corrected: list[float]) -> None:
    assert holm(p_values) == pytest.approx(corrected)


@pytest.mark.parametrize("decimals", [1, 3])
def test_resampled_metrics_equal_those_of_the_samples_written_out(decimals: int) -> None:
    random = np.random.default_rng(decimals)
    scores = random.normal(size=(12, 30)).round(decimals)
    relevance = random.random((12, 30)) < 0.15
    article_ids, post_ids = [f"a{i}" for i in range(12)], [f"p{i}" for i in range(30)]
    weights = bootstrap_weights(12, 25, seed=7)
    samples = resample_pair_metrics(scores, relevance, article_ids, post_ids, weights)
    assert list(samples) == ["r_precision@50", "r_precision@100", "r_precision@200", "mRP", "pair AP", "AUC"]
    for number, sample in enumerate(weights):
        rows = np.repeat(np.arange(12), sample)
        assert samples["pair AP"][number] == pytest.approx(
            pairwise.average_precision(scores[rows], relevance[rows])
        )
        assert samples["AUC"][number] == pytest.approx(pairwise.auc(scores[rows], relevance[rows]))
        ranking = pairwise.top_pairs(scores, article_ids, post_ids, scores.size)
        hits = np.repeat(relevance.ravel()[ranking], sample[ranking // 30])
        for r in (50, 100, 200):
            assert samples[f"r_precision@{r}"][number] == pytest.approx(hits[:r].mean())


def test_samples_that_hold_every_article_once_give_the_metrics_themselves() -> None:
    random = np.random.default_rng(8)
    scores, relevance = random.normal(size=(60, 100)), random.random((60, 100)) < 0.02
    ids = [f"a{i}" for i in range(60)], [f"p{i}" for i in range(100)]
    samples = resample_pair_metrics(scores, relevance, *ids, np.ones((1, 60), dtype=int))
    expected = pairwise.r_precision_at(scores, relevance, *ids)
    assert {r: samples[f"r_precision@{r}"][0] for r in expected} == pytest.approx(expected)
    assert samples["pair AP"][0] == pytest.approx(pairwise.average_precision(scores, relevance))
    assert samples["AUC"][0] == pytest.approx(pairwise.auc(scores, relevance))


def test_a_sample_without_relevant_pairs_has_no_value() -> None:
    relevance = np.array([[True, False], [False, False]])
    samples = resample_pair_metrics(np.eye(2), relevance, ["a", "b"], ["p", "q"], np.array([[0, 2], [1, 1]]))
    assert np.isnan(samples["pair AP"]).tolist() == [True, False]
    assert np.isnan(samples["AUC"]).tolist() == [True, False]


@pytest.mark.parametrize("cells", [1, 700, 4_000_000])
def test_few_samples_in_memory_give_what_all_would(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(4).normal(size=(90, 3))
    p_values = randomization_test(values, resamples=1_500, seed=5)
    monkeypatch.setattr(significance, "_CELLS_AT_ONCE", cells)
    assert randomization_test(values, resamples=1_500, seed=5).tolist() == p_values.tolist()
