"""Split error, Jensen–Shannon divergence and TF-IDF against counting by hand, scipy and scikit-learn."""

import itertools
import math

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from benchmarks.papers.deboom2016_metrics import (
    PairDistances,
    WordTfidf,
    best_threshold,
    jensen_shannon,
    split_error,
)


def distances(related, unrelated):
    return PairDistances(np.array(related, dtype=float), np.array(unrelated, dtype=float))


def test_split_error_by_hand():
    pairs = distances([1, 2, 3, 6], [2, 4, 5, 7])
    assert split_error(pairs, 3) == (1 + 1) / 8
    assert split_error(pairs, 2.5) == (2 + 1) / 8
    assert split_error(pairs, 0) == 0.5
    assert split_error(pairs, 2) == (2 + 1) / 8  # a distance equal to the threshold is called related
    # Kinds of unequal number count half each.
    assert split_error(distances([1], [0, 2, 3, 4]), 1) == (0 + 1 / 4) / 2


def test_the_threshold_makes_the_fewest_errors_of_all_on_random_pairs():
    rng = np.random.default_rng(0)
    for _ in range(50):
        pairs = distances(rng.integers(0, 12, rng.integers(1, 30)), rng.integers(2, 14, rng.integers(1, 30)))
        fewest = min(split_error(pairs, t) for t in np.arange(-1, 15, 0.5))
        assert split_error(pairs, best_threshold(pairs)) == pytest.approx(fewest)


def test_the_threshold_lies_between_what_it_divides_and_of_other_pairs_too():
    assert best_threshold(distances([1, 2], [4, 5])) == 3
    assert best_threshold(distances([4, 5], [1, 2])) == -math.inf  # the wrong way round: nothing is related
    apart = distances([1, 2.9], [3.1, 9])
    assert split_error(apart, best_threshold(distances([1, 2], [4, 5]))) == 0


def test_jensen_shannon_is_scipys_on_the_same_bins_and_has_its_bounds():
    rng = np.random.default_rng(1)
    for shift, bins in itertools.product((0, 0.3, 1, 4), (5, 30)):
        pairs = distances(rng.normal(size=500), rng.normal(shift, 1.5, size=300))
        both = np.concatenate([pairs.related, pairs.unrelated])
        edges = np.linspace(both.min(), both.max(), bins + 1)
        p, q = np.histogram(pairs.related, edges)[0], np.histogram(pairs.unrelated, edges)[0]
        assert jensen_shannon(pairs, bins) == pytest.approx(jensenshannon(p, q, base=2) ** 2, abs=1e-12)
        # Lin 1991: never more bits than the total variation, which is 1 − 2 × the error of the best division.
        variation = np.abs(p / p.sum() - q / q.sum()).sum() / 2
        assert jensen_shannon(pairs, bins) <= variation + 1e-12
    assert jensen_shannon(distances([1, 2, 3], [1, 2, 3])) == 0
    assert jensen_shannon(distances([1, 2, 3], [7, 8])) == 1


def test_tfidf_equals_scikit_learns_with_the_papers_idf():
    rng = np.random.default_rng(2)
    texts = [[f"w{i}" for i in rng.zipf(1.5, rng.integers(1, 30)) if i < 60] for _ in range(80)]
    counter = CountVectorizer(analyzer=lambda words: words)
    theirs = TfidfTransformer(smooth_idf=True).fit(counter.fit_transform(texts))
    # scikit-learn: ln((1 + N) / (1 + df)) + 1; the paper: ln(N / (1 + df)).
    theirs.idf_ = theirs.idf_ - 1 - math.log(81 / 80)
    new = [*texts[:20], ["unseen"], [], ["w1", "unseen", "w1", "w2"]]
    expected = theirs.transform(counter.transform(new)).toarray()
    np.testing.assert_allclose(WordTfidf(texts).vectors(new).toarray(), expected, atol=1e-6)
