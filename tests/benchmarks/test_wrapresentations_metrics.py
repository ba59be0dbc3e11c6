"""Figures of labeled texts against counting by hand and scikit-learn on its own."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, f1_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from benchmarks.papers.wrapresentations_metrics import (
    cross_validated_f1,
    pair_figures,
    precision_interval,
    topic_wise_f1,
)
from linker.contrib.wrapresentations.batches import balanced_pairs


def texts(apart, sizes=(20, 20, 20), dim=5, seed=0):
    """Vectors in clouds, one a class."""
    rng = np.random.default_rng(seed)
    classes = [f"c{k}" for k, size in enumerate(sizes) for _ in range(size)]
    centres = np.eye(len(sizes), dim) * apart
    return np.stack([centres[int(name[1])] + rng.normal(size=dim) for name in classes]), classes


def test_pairs_are_measured_at_the_best_of_all_thresholds():
    vectors, classes = texts(1.0, (8, 3))
    figures = pair_figures(vectors, classes, seed=4)
    assert figures.pairs == 96
    unlike = [(i, j) for i, j in permutations(range(11), 2) if classes[i] != classes[j]]
    assert len(unlike) == 48
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine = unit @ unit.T
    pairs = balanced_pairs(classes, 4)
    scores, same = cosine[pairs.first, pairs.second], pairs.same
    by_hand = max((f1_score(same, scores >= t), -t) for t in np.unique(scores))
    assert figures.best.f1 == pytest.approx(by_hand[0])
    called = scores >= figures.best.threshold - 1e-9
    assert figures.best.precision == pytest.approx((called & same).sum() / called.sum())
    assert figures.best.recall == pytest.approx((called & same).sum() / same.sum())
    assert figures.average_precision == pytest.approx(average_precision_score(same, scores))
    given = pair_figures(vectors, classes, threshold=0.3, seed=4).given
    assert given is not None
    assert given.f1 == pytest.approx(f1_score(same, scores >= 0.3))


def test_vectors_that_tell_everything_and_vectors_that_tell_nothing():
    vectors, classes = texts(50.0)
    figures = pair_figures(vectors, classes, threshold=0.99999)
    assert figures.best.f1 == figures.average_precision == 1
    assert figures.given is not None
    assert figures.given.f1 < 1
    vectors, classes = texts(0.0, (60, 60))
    figures = pair_figures(vectors, classes)
    assert figures.average_precision == pytest.approx(0.5, abs=0.03)
    # The paper's first line: calling all pairs similar.
    assert 0.66 < figures.best.f1 < 0.69
    assert figures.best.recall > 0.95


def test_the_classifier_is_that_of_scikit_learn():
    vectors, classes = texts(1.5)
    model = LogisticRegression(max_iter=1000, class_weight="balanced")
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    expected = f1_score(classes, cross_val_predict(model, vectors, classes, cv=folds), average="macro")
    assert cross_validated_f1(vectors, classes, seed=3) == pytest.approx(expected)


def test_a_topic_that_turns_the_classes_round_is_misclassified():
    vectors, classes = texts(8.0)
    topics = ["x", "y", "z"] * 20
    figures = topic_wise_f1(vectors, classes, topics)
    assert set(figures) == {"x", "y", "z", "all"}
    assert min(figures.values()) > 0.95
    turned = [f"c{(int(c[1]) + 1) % 3}" if t == "z" else c for c, t in zip(classes, topics)]
    figures = topic_wise_f1(vectors, turned, topics)
    assert figures["z"] < 0.05


def test_the_interval_of_the_average_precision_is_over_texts():
    vectors, classes = texts(1.0, (40, 40))
    low, high = precision_interval(vectors, classes)
    assert low < pair_figures(vectors, classes).average_precision < high
    more_vectors, more_classes = texts(1.0, (160, 160))
    narrow = precision_interval(more_vectors, more_classes)
    assert narrow[1] - narrow[0] < high - low
