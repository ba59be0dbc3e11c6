"""A teacher's vectors in fewer numbers: near texts stay near, and lie where the student's lie."""

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD

from linker.training.distillation.loss import pca_procrustes

RNG = np.random.default_rng(0)


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_vectors_that_lie_in_few_directions_keep_their_cosines() -> None:
    vectors = unit(RNG.normal(size=(50, 6)) @ RNG.normal(size=(6, 20)))
    few = pca_procrustes(vectors, np.arange(10), RNG.normal(size=(10, 6)))
    assert (few.shape, few.dtype) == ((50, 6), np.float32)
    np.testing.assert_allclose(few @ few.T, vectors @ vectors.T, atol=1e-5)


def test_no_other_directions_keep_more() -> None:
    vectors = unit(RNG.normal(size=(80, 20)) * np.linspace(2, 0.1, 20))
    few = unit(pca_procrustes(vectors, np.arange(1), np.ones((1, 5))))
    reference = unit(TruncatedSVD(5, algorithm="arpack").fit_transform(vectors))
    np.testing.assert_allclose(few @ few.T, reference @ reference.T, atol=1e-5)


def test_they_are_turned_to_where_the_student_is() -> None:
    own = unit(RNG.normal(size=(60, 8)))
    turn = np.linalg.qr(RNG.normal(size=(8, 8)))[0]
    teacher = np.hstack([own @ turn, np.zeros((60, 4))])
    rows = RNG.permutation(60)[:30]
    np.testing.assert_allclose(pca_procrustes(teacher, rows, own[rows]), own, atol=1e-5)


def test_a_text_of_which_nothing_is_left_has_no_direction() -> None:
    vectors = np.eye(4)[[0, 0, 0, 1, 1, 2]]
    few = pca_procrustes(vectors, np.arange(2), np.ones((2, 2)))
    assert np.isfinite(few).all()
    assert np.linalg.norm(few[-1]) == pytest.approx(0, abs=1e-6)
