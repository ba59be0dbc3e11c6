"""Exact scores: the same bit by bit whoever computes them, and what the formulas say."""

import numpy as np
import pytest

from linker.corpus.indexes import exact
from linker.corpus.indexes.exact import exact_scores
from linker.corpus.indexes.vectors import ShardVectors

SIMILARITIES = pytest.mark.parametrize("similarity", ["cosine", "euclidean"])


@pytest.fixture
def vectors(monkeypatch):
    monkeypatch.setattr(exact, "BLOCK", 200)
    monkeypatch.setattr(exact, "_BLOCK_BYTES", 64 * 37 * 4)
    vectors = np.random.default_rng(0).standard_normal((1_003, 37)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def query():
    return np.random.default_rng(1).standard_normal(37).astype(np.float32)


def scores_of(vectors, query, similarity, ends=()):
    """Scores of vectors in shards that end at some rows."""
    shards = [ShardVectors(some, None) for some in np.split(vectors, ends)]
    return exact_scores(shards, query, similarity)


@SIMILARITIES
def test_what_the_formula_says(vectors, query, similarity):
    got = scores_of(vectors, query, similarity)
    assert got.dtype == np.float32
    wide = vectors.astype(np.float64)
    expected = wide @ query if similarity == "cosine" else -np.linalg.norm(wide - query, axis=1)
    np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-6)
    assert exact_scores([], query, similarity).shape == (0,)
    assert scores_of(vectors[:0], query, similarity).shape == (0,)


@SIMILARITIES
def test_shards_make_up_the_whole_bit_by_bit(vectors, query, similarity, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    whole = scores_of(vectors, query, similarity)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    np.testing.assert_array_equal(scores_of(vectors, query, similarity), whole)
    parts = scores_of(vectors, query, similarity, ends=[1, 7, 200, 200, 431, 1_000])
    np.testing.assert_array_equal(parts, whole)
    for row in (0, 64, 999):
        np.testing.assert_array_equal(scores_of(vectors[row : row + 1], query, similarity), whole[[row]])
