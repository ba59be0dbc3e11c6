"""How embeddings are stored: without loss, in 8 bits where the model rounds to 8 bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from linker.corpus.indexes.exact import exact_scores
from linker.corpus.indexes.vectors import ShardVectors, finite, packed
from linker.corpus.storage.array_files import Arrays
from linker.models.embedding_model import eight_bits

numbers = st.floats(-1e6, 1e6, width=32)


def vectors_of_rows(rows: np.ndarray, live: np.ndarray | None = None) -> ShardVectors:
    return ShardVectors.of(Arrays(packed(rows)), live)


def rounded(rows: np.ndarray) -> np.ndarray:
    values, scales = eight_bits(rows)
    return values * scales[:, None]


@given(arrays_of.arrays(np.float32, (3, 5), elements=numbers))
def test_any_embeddings_come_back(rows):
    for given_rows in (rows, rounded(rows)):
        np.testing.assert_array_equal(vectors_of_rows(given_rows).rows(), given_rows)


@given(arrays_of.arrays(np.float32, (3, 5), elements=numbers))
def test_rounding_twice_is_rounding_once_and_close(rows):
    once = rounded(rows)
    np.testing.assert_array_equal(rounded(once), once)
    largest = np.abs(rows).max(axis=1, keepdims=True)
    # Half a step, which is a 127th of the largest number, rounded up to 11 bits.
    assert (np.abs(once - rows) <= np.maximum(largest * (0.5 / 127) * 1.001, 1e-37)).all()


def test_rounded_embeddings_of_unit_length_take_a_byte_a_number():
    rows = np.random.default_rng(0).standard_normal((50, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    stored = packed(rounded(rows))
    assert {name: values.dtype for name, values in stored.items()} == {
        "values": np.int8,
        "scales": np.float16,
    }
    assert packed(rows)["values"].dtype == np.float32
    # Recall of the 10 nearest, as scores are changed by 0.0005 only.
    exact, stored_scores = rows @ rows[0], exact_scores([vectors_of_rows(rounded(rows))], rows[:1], "cosine")
    np.testing.assert_allclose(stored_scores, exact, atol=2e-3)


def test_zeros_and_numbers_that_are_not_finite():
    rows = np.zeros((2, 3), dtype=np.float32)
    np.testing.assert_array_equal(vectors_of_rows(rows).rows(), rows)
    assert finite(packed(rows))
    rows[1, 1] = np.nan
    assert not finite(packed(rows))
    assert packed(rows[:0])["values"].shape == (0, 3)


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
@pytest.mark.parametrize("eight", [False, True])
def test_scores_of_shards_with_deleted_posts(similarity, eight):
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((5_000, 16)).astype(np.float32)
    rows = rounded(rows) if eight else rows
    live = rng.random(3_000) < 0.7
    shards = [vectors_of_rows(rows[:3_000], live), vectors_of_rows(rows[3_000:])]
    left = np.concatenate([rows[:3_000][live], rows[3_000:]])
    vector = rng.standard_normal(16).astype(np.float32)
    if similarity == "cosine":
        expected = left @ vector
    else:
        expected = -np.linalg.norm(left - vector, axis=1)
    np.testing.assert_allclose(exact_scores(shards, vector, similarity), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(np.concatenate([shard.rows() for shard in shards]), left)
    assert sum(shard.posts for shard in shards) == len(left)
