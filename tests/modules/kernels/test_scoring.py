"""Kernels of corpora do what NumPy does, to the last bit."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from linker.common.errors import LinkerError
from linker.models.features.postings import Postings, Segment
from linker.models.tfidf import TfidfQuery
from linker.modules.kernels import library, scoring

pytestmark = pytest.mark.skipif(not scoring.available(), reason="the native library is not built")


@pytest.mark.parametrize("dim", [1, 15, 16, 384, 1_000, 20_000])
def test_products_are_exact_up_to_the_largest_numbers(dim):
    rng = np.random.default_rng(dim)
    largest = scoring.largest_whole(dim)
    rows = rng.choice(np.array([-128, -1, 0, 127], dtype=np.int8), (40, dim))
    rows[0] = -128
    vector = rng.choice(np.array([-largest, largest, 3], dtype=np.int16), dim)
    vector[rows[1] < 0] *= -1
    rows[2], vector[: dim // 2] = -128, -largest
    factors = rng.random(40, dtype=np.float32)
    products = np.empty(40, dtype=np.float32)
    scoring.row_products(rows, vector, factors, products)
    exact = rows.astype(np.int64) @ vector.astype(np.int64)
    assert np.abs(exact).max() < 2**31
    np.testing.assert_array_equal(products, exact.astype(np.float32) * factors)


def segment_of(posts: list[list[int]], wide: bool) -> Segment:
    """Postings of posts whose words are numbers."""
    words = np.unique(
        np.concatenate([np.zeros(0, dtype=np.uint64), *(np.array(p, np.uint64) for p in posts)])
    )
    found = [
        (row, post.count(word)) for word in words.tolist() for row, post in enumerate(posts) if word in post
    ]
    places, counts = np.array(found, dtype=np.int64).reshape(-1, 2).T
    kind = np.uint32 if wide else np.uint16
    ends = np.cumsum([sum(word in post for post in posts) for word in words.tolist()], dtype=np.int64)
    repeated = np.flatnonzero(counts > 1)
    lengths = np.array([len(post) for post in posts], dtype=np.uint16)
    return Segment(words, ends, places.astype(kind), repeated, counts[repeated].astype(kind), lengths)


def found_words(segments: list[Segment], keys: np.ndarray) -> np.ndarray:
    return np.stack(Postings(segments).spans(keys))


@pytest.mark.parametrize("wide", [False, True])
def test_cosines_of_posts_are_those_of_numpy(wide):
    rng = np.random.default_rng(1)
    segments = [
        segment_of([rng.integers(0, 30, rng.integers(0, 25)).tolist() for _ in range(rows)], wide)
        for rows in (40, 0, 7)
    ]
    keys = np.arange(0, 32, 2, dtype=np.uint64)
    of_words, squares = rng.random((2, len(keys))), rng.random(47) * 40
    tables = np.stack([np.log(np.arange(1, 40)), np.log(np.arange(1, 40)) ** 2 + 1])
    addresses = np.array([one.addresses for one in segments])
    ranges, repeats = found_words(segments, keys)
    arrays = scoring.TfidfArrays(addresses, ranges, repeats, of_words, tables, squares, 0.0)
    scores = np.full(47, np.nan, dtype=np.float32)
    scoring.tfidf(arrays, scores)
    expected: list[float] = []
    postings = SimpleNamespace(repetition_tables=tables)
    query: Any = SimpleNamespace(_postings=postings, _of_words=of_words, _least=0.0)
    for one, of_segment, repeated in zip(segments, ranges, repeats):
        of_rows = squares[len(expected) : len(expected) + len(one.lengths)]
        expected += TfidfQuery._cosines(query, one, of_segment, repeated, of_rows).tolist()
    assert max(len(one.counts) for one in segments) > 5  # some words are repeated
    assert 0 in expected
    np.testing.assert_array_equal(scores, np.array(expected, dtype=np.float32))


def test_arrays_with_gaps_are_refused():
    rows = np.zeros((4, 8), dtype=np.int8)[:, ::2]
    with pytest.raises(AssertionError, match="row_products: an array is not contiguous"):
        scoring.row_products(
            rows, np.zeros(4, dtype=np.int16), np.ones(4, dtype=np.float32), np.zeros(4, dtype=np.float32)
        )


def test_the_library_is_loaded_without_torch():
    code = "import sys; from linker.modules.kernels import scoring; print(scoring.available(), 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


def test_a_missing_library_is_an_error_only_where_it_is_required(monkeypatch):
    def missing() -> None:
        raise library.LibraryProblem("the native library is not built")

    monkeypatch.setattr(library, "load_without_torch", missing)
    monkeypatch.delenv("LINKER_KERNELS", raising=False)
    assert not scoring.available()
    monkeypatch.setenv("LINKER_KERNELS", "native")
    with pytest.raises(
        LinkerError, match="LINKER_KERNELS: 'native' kernels are not available: the native library"
    ):
        scoring.available()
