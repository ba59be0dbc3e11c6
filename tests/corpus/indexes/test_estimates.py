"""Estimates of scores are as close as they claim, whatever is stored."""

import numpy as np
import pytest

from linker.corpus.indexes.estimates import can_estimate, estimated_scores
from linker.corpus.indexes.exact import exact_scores
from linker.corpus.indexes.vectors import CorpusVectors, ShardVectors, packed
from linker.corpus.storage.array_files import Arrays
from linker.models.embedding_model import eight_bits
from linker.modules.kernels import scoring

native = pytest.mark.skipif(not scoring.available(), reason="the native library is not built")


def shards(rows: int, dim: int, length: float = 1.0) -> CorpusVectors:
    rng = np.random.default_rng(rows + dim)
    vectors = rng.standard_normal((rows, dim)).astype(np.float32)
    vectors *= length / np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[::7] = 0
    values, scales = eight_bits(vectors)
    vectors = values * scales[:, None]
    half = rows // 2
    live = rng.random(rows - half) < 0.6
    return CorpusVectors(
        [
            ShardVectors.of(Arrays(packed(vectors[:half]))),
            ShardVectors.of(Arrays(packed(vectors[half:])), live),
        ]
    )


@native
@pytest.mark.parametrize("dim", [1, 5, 96, 384, 5_000])
@pytest.mark.parametrize("length", [1.0, 40.0])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_the_error_is_bounded(dim, length, size):
    vectors = shards(300, dim, length)
    vector = np.random.default_rng(1).standard_normal(dim).astype(np.float32) * np.float32(size)
    assert can_estimate(vectors, "cosine")
    (scores, error), exact = estimated_scores(vectors, vector), exact_scores(vectors, vector, "cosine")
    assert scores.dtype == np.float32
    assert np.abs(scores.astype(np.float64) - exact).max() <= error
    if length == 1.0 and dim < 1_000:  # a useful bound: the rows of zeros do not loosen it
        assert error < 0.002 * size * np.sqrt(dim)


@native
def test_a_query_of_zeros():
    scores, _ = estimated_scores(shards(20, 8), np.zeros(8, dtype=np.float32))
    assert (scores == 0).all()
    assert estimated_scores(CorpusVectors(), np.ones(8, dtype=np.float32))[0].shape == (0,)


@native
def test_what_has_no_estimates(monkeypatch):
    vectors = shards(20, 8)
    wide = CorpusVectors(
        ShardVectors(ShardVectors(one.values, one.scales).rows(), None, one.live) for one in vectors
    )
    assert not can_estimate(CorpusVectors([*vectors, *wide]), "cosine")
    assert not can_estimate(vectors, "euclidean")
    monkeypatch.setenv("LINKER_KERNELS", "plain")
    assert not can_estimate(vectors, "cosine")


CHOSEN = [[], [0], [3, 149, 150, 151, 200], list(range(220))]


@pytest.mark.parametrize("chosen", CHOSEN)
def test_scores_of_some_posts_have_the_same_bits(chosen):
    vectors = shards(300, 96)
    vector = np.random.default_rng(2).standard_normal(96).astype(np.float32)

    def scores(some):
        return exact_scores(some, vector, "cosine")

    at = np.array(chosen, dtype=np.int64)
    np.testing.assert_array_equal(scores(vectors.taken(at)), scores(vectors)[at])
    plain = CorpusVectors([ShardVectors(vectors[0].rows(), None), vectors[1]])
    np.testing.assert_array_equal(scores(plain.taken(at)), scores(plain)[at])
