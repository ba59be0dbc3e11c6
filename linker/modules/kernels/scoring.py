"""Kernels that score the posts of a corpus, in C++ (`cpp/scoring.h`); imports no torch."""

from __future__ import annotations

import ctypes
import os

import numpy as np

from linker.common.errors import LinkerError
from linker.modules.kernels import library

# As in `dispatch`, which imports torch.
_VARIABLE = "LINKER_KERNELS"
_LARGEST_SUM = 2**31 - 1
_LARGEST_NUMBER = 128


def available() -> bool:
    """Return whether the native library can be used.

    Raises:
        LinkerError: if LINKER_KERNELS requires it and it cannot.
    """
    choice = os.environ.get(_VARIABLE, "auto")
    if choice == "plain":
        return False
    try:
        library.load_without_torch()
    except library.LibraryProblem as problem:
        if choice == "native":
            raise LinkerError(f"{_VARIABLE}: 'native' kernels are not available: {problem}") from problem
        return False
    return True


def largest_whole(dim: int) -> int:
    """Return the largest number of a vector of `dim` numbers whose products with rows fit 32 bits, up to 32,767."""
    return min(32_767, _LARGEST_SUM // (_LARGEST_NUMBER * max(dim, 1)))


def row_products(rows: np.ndarray, vector: np.ndarray, factors: np.ndarray, products: np.ndarray) -> None:
    """Compute the products of rows with a vector, each times a factor: rounded twice, after an exact sum.

    Args:
        rows: int8, n × dim.
        vector: int16, dim; no number above `largest_whole`.
        factors: float32, n.
        products: float32, n; the result.
    """
    _call("row_products", rows, vector, factors, *rows.shape, products)


def row_products_at(
    rows: np.ndarray, places: np.ndarray, vector: np.ndarray, factors: np.ndarray, products: np.ndarray
) -> None:
    """Compute `row_products` of some of the rows.

    Args:
        rows: int8, rows × dim.
        places: int64, n: the rows.
        vector: as for `row_products`.
        factors: float32, n.
        products: float32, n; the result.
    """
    _call("row_products_at", rows, places, vector, factors, len(places), rows.shape[1], products)


def add_entries(table: np.ndarray, numbers: np.ndarray, sums: np.ndarray) -> None:
    """Add the entries of a table, `table[numbers]`, to numbers.

    Args:
        table: float32.
        numbers: uint16, n.
        sums: float32, n; the entries are added to it.
    """
    if available():
        _call("add_entries", table, numbers, len(numbers), sums)
    else:
        sums += table[numbers]


def find_words(segments: np.ndarray, keys: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> None:
    """Find where the postings of words begin and end; an unknown word has an empty range.

    Args:
        segments: int64, n × 10: addresses and lengths of postings, see `PostingsOfSegment` in `cpp/native.cpp`.
        keys: uint64: the words.
        starts: int64, n × words; the result.
        ends: int64, n × words; the result.
    """
    _call("find_words", segments, len(segments), keys, len(keys), starts, ends)


def tfidf(
    segments: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    of_words: np.ndarray,
    tables: np.ndarray,
    squares: np.ndarray,
    scores: np.ndarray,
) -> None:
    """Compute cosines: sums of a number of each word of a post, over the root of squares and a sum of another number.

    The numbers of a word count once, and again times an entry of a table for a word that is repeated.

    Args:
        segments: as for `find_words`.
        starts: int64, n × words: where the postings of words begin.
        ends: int64, n × words: where they end.
        of_words: float64, 2 × words.
        tables: float64, 2 × (largest number of repetitions + 1).
        squares: float64, one per row of all segments.
        scores: float32, one per row; the result.
    """
    _call(
        "tfidf", segments, len(segments), starts, ends, starts.shape[1], *of_words, *tables, squares, scores
    )


def _call(name: str, *arguments: np.ndarray | int) -> None:
    for array in arguments:
        assert isinstance(array, int) or array.flags.c_contiguous, f"{name}: an array is not contiguous"
    getattr(library.load_without_torch(), f"linker_{name}")(
        *(
            ctypes.c_int64(one) if isinstance(one, int) else ctypes.c_void_p(one.ctypes.data)
            for one in arguments
        )
    )
