"""Kernels of corpora do what NumPy does, to the last bit."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from linker.common.errors import LinkerError
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


@pytest.mark.parametrize("kind", [np.uint16, np.uint32])
def test_sums_of_postings_are_those_of_numpy(kind):
    rng = np.random.default_rng(0)
    places = rng.integers(0, 50, 400).astype(kind)
    ends = np.array([100, 100, 250, 400])
    starts = np.array([0, 100, 100, 250])
    of_words = rng.standard_normal((2, 4))
    sums = np.zeros((2, 50))
    scoring.add_postings(places, starts, ends, of_words, sums)
    for got, one in zip(sums, of_words):
        np.testing.assert_array_equal(got, np.bincount(places, np.repeat(one, ends - starts), minlength=50))


def test_cosines_are_those_of_numpy():
    rng = np.random.default_rng(1)
    products, squares, added = rng.random((3, 1_003)) * 40
    products[::5] = 0
    squares[::10] = added[::10] = 0  # a post without words
    scores = np.full(1_003, np.nan, dtype=np.float32)
    scoring.cosines(products, squares, added, scores)
    norms = np.sqrt(squares + added)
    norms[products == 0] = 1
    np.testing.assert_array_equal(scores, (products / norms).astype(np.float32))


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
