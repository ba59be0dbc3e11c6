"""Tests and intervals against exhaustive or materialised computations."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from linker.evaluation import significance
from linker.evaluation.metrics import pairwise
from linker.evaluation.significance import (
    bootstrap_means,
    bootstrap_p_value,
    bootstrap_weights,
    holm,
    percentile_interval,
    randomization_test,
    resample_pair_metrics,
)


def test_randomization_test_equals_the_exhaustive_one() -> None:
    differences = np.array([[0.3], [0.1], [0.25], [-0.05], [0.2], [0.15], [0.02], [-0.1]])
    sums = [abs(np.dot(signs, differences[:, 0])) for signs in product((-1, 1), repeat=8)]
    exact = np.mean(np.array(sums) >= abs(differences.sum()) - 1e-12)
    assert randomization_test(differences, resamples=50_000)[0] == pytest.approx(exact, abs=0.005)


def test_randomization_test_sees_differences_and_only_those() -> None:
    random = np.random.default_rng(0)
    differences = np.stack([random.normal(0.1, 0.1, 100), random.normal(0, 0.1, 100), np.zeros(100)], axis=1)
    better, same, equal = randomization_test(differences)
    assert better == pytest.approx(1 / 10_001)
    assert same > 0.05
    assert equal == 1.0


def test_randomization_test_keeps_its_level() -> None:
    random = np.random.default_rng(1)
    p_values = randomization_test(random.normal(size=(30, 2000)), resamples=2000)
    assert (p_values < 0.05).mean() == pytest.approx(0.05, abs=0.015)


def test_the_seed_decides() -> None:
    differences = np.random.default_rng(2).normal(0.1, 0.5, size=(40, 3))
    np.testing.assert_array_equal(
        randomization_test(differences, seed=5), randomization_test(differences, seed=5)
    )
    assert (randomization_test(differences, seed=5) != randomization_test(differences, seed=6)).any()
    np.testing.assert_array_equal(bootstrap_weights(9, 20, seed=5), bootstrap_weights(9, 20, seed=5))


def test_bootstrap_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(3)
    weights = bootstrap_weights(60, 400, seed=1)
    covered = 0
    for _ in range(400):
        low, high = percentile_interval(weights @ random.normal(0.3, 1.0, 60) / 60)
        covered += low <= 0.3 <= high
    assert 0.90 <= covered / 400 <= 0.98


def test_bootstrap_p_value() -> None:
    assert bootstrap_p_value(np.zeros(99), 50) == 1.0
    assert bootstrap_p_value(np.ones(99), 50) == pytest.approx(2 / 100)
    assert bootstrap_p_value(np.r_[np.ones(95), -np.ones(4), np.nan], 50) == pytest.approx(2 * 5 / 100)


def test_few_articles_prove_nothing() -> None:
    assert bootstrap_p_value(np.ones(99), 1) == 1.0
    assert bootstrap_p_value(np.ones(99), 4) == pytest.approx(1 / 8)


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
    assert list(samples) == ["r_precision@50", "r_precision@100", "r_precision@200", "mRP", "mAP", "AUC"]
    for number, sample in enumerate(weights):
        rows = np.repeat(np.arange(12), sample)
        assert samples["mAP"][number] == pytest.approx(
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
    assert samples["mAP"][0] == pytest.approx(pairwise.average_precision(scores, relevance))
    assert samples["AUC"][0] == pytest.approx(pairwise.auc(scores, relevance))


def test_a_sample_without_relevant_pairs_has_no_value() -> None:
    relevance = np.array([[True, False], [False, False]])
    samples = resample_pair_metrics(np.eye(2), relevance, ["a", "b"], ["p", "q"], np.array([[0, 2], [1, 1]]))
    assert np.isnan(samples["mAP"]).tolist() == [True, False]
    assert np.isnan(samples["AUC"]).tolist() == [True, False]


@pytest.mark.parametrize("cells", [1, 700, 4_000_000])
def test_few_samples_in_memory_give_what_all_would(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(4).normal(size=(90, 3))
    means = bootstrap_weights(90, 200, seed=5) @ values / 90
    p_values = randomization_test(values, resamples=1_500, seed=5)
    monkeypatch.setattr(significance, "_CELLS_AT_ONCE", cells)
    assert bootstrap_means(values, 200, seed=5) == pytest.approx(means, abs=1e-12)
    assert randomization_test(values, resamples=1_500, seed=5).tolist() == p_values.tolist()
