"""Exact scores: the same bit by bit whoever computes them, and what the formulas say."""

from __future__ import annotations

import numpy as np
import pytest

from linker.corpus.indexes import exact
from linker.corpus.indexes.exact import Query, exact_scores
from linker.corpus.indexes.vectors import ShardVectors


@pytest.fixture
def vectors(monkeypatch):
    monkeypatch.setattr(exact, "BLOCK", 200)
    monkeypatch.setattr(exact, "_BLOCK_BYTES", 64 * 37 * 4)
    vectors = np.random.default_rng(0).standard_normal((1_003, 37)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def scores_of(vectors, queries, similarity, passages="best", ends=()):
    """Scores of vectors in shards that end at some rows."""
    shards = [ShardVectors(some, None) for some in np.split(vectors, ends)]
    return exact_scores(shards, Query(queries, similarity, passages))


def reference(vectors, queries, similarity, how="best"):
    """In float64, article by article and passage by passage."""
    vectors = vectors.astype(np.float64)
    each = []
    for article in queries:
        passages = np.atleast_2d(article).astype(np.float64)
        if similarity == "cosine":
            scores = vectors @ passages.T
        else:
            scores = -np.linalg.norm(vectors[:, None] - passages, axis=2)
        each.append(scores.max(axis=1) if how == "best" else scores.mean(axis=1))
    return np.mean(each, axis=0)


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
@pytest.mark.parametrize("lengths", [[1], [1, 1, 1], [4], [1, 3, 2]])
@pytest.mark.parametrize("how", ["best", "mean"])
def test_what_the_formula_says(vectors, similarity, lengths, how):
    rng = np.random.default_rng(1)
    queries = [rng.standard_normal((length, 37)).astype(np.float32) for length in lengths]
    got = scores_of(vectors, queries, similarity, passages=how)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, reference(vectors, queries, similarity, how), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
@pytest.mark.parametrize("lengths", [[1], [1, 1], [3, 1]])
def test_shards_make_up_the_whole_bit_by_bit(vectors, similarity, lengths, monkeypatch):
    rng = np.random.default_rng(2)
    queries = [rng.standard_normal((length, 37)).astype(np.float32) for length in lengths]
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    whole = scores_of(vectors, queries, similarity)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    np.testing.assert_array_equal(scores_of(vectors, queries, similarity), whole)
    parts = scores_of(vectors, queries, similarity, ends=[1, 7, 200, 200, 431, 1_000])
    np.testing.assert_array_equal(parts, whole)
    for place in (0, 64, 999):
        np.testing.assert_array_equal(
            scores_of(vectors[place : place + 1], queries, similarity), whole[[place]]
        )


def test_an_array_of_articles_is_one_passage_each(vectors):
    queries = np.random.default_rng(3).standard_normal((4, 37)).astype(np.float32)
    np.testing.assert_array_equal(
        scores_of(vectors, queries, "euclidean"), scores_of(vectors, [q[None] for q in queries], "euclidean")
    )
    assert exact_scores([], Query(queries, "cosine")).shape == (0,)
    assert scores_of(vectors[:0], queries, "cosine").shape == (0,)
