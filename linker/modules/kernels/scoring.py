"""Kernels that score the posts of a corpus, in C++ (`cpp/scoring.h`); imports no torch."""

import ctypes
import os
from functools import partial
from typing import NamedTuple

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


class TfidfArrays(NamedTuple):
    """What cosines are computed from: the numbers of each word, once, and again times an entry of a table if repeated.

    Attributes:
        segments: int64, n × 10: addresses and lengths of postings, see `PostingsOfSegment` in `cpp/native.cpp`.
        ranges: int64, n × words × 2: where the postings of each word begin and end.
        repeats: int64, n × words × 2: where those of repeated words begin and end.
        of_words: float64, 2 × words: numbers whose sum is a cosine, and whose sum changes its squared length.
        tables: float64, 2 × (largest number of repetitions + 1).
        squares: float64, one per row of all segments: squared lengths.
        least: what squared lengths are at least, as a number of float32.
    """

    segments: np.ndarray
    ranges: np.ndarray
    repeats: np.ndarray
    of_words: np.ndarray
    tables: np.ndarray
    squares: np.ndarray
    least: float


def tfidf(arrays: TfidfArrays, scores: np.ndarray) -> None:
    """Compute cosines.

    Args:
        arrays: the numbers.
        scores: float32, one per row of all segments; the result.
    """
    segments, ranges, repeats, of_words, tables, squares, least = arrays
    words = ranges.shape[1]
    _call(
        "tfidf", segments, len(segments), ranges, repeats, words, *of_words, *tables, squares, least, scores
    )


def _call(name: str, *arguments: np.ndarray | int | float) -> None:
    getattr(library.load_without_torch(), f"linker_{name}")(*map(partial(_argument, name), arguments))


def _argument(
    name: str, value: np.ndarray | int | float
) -> ctypes.c_int64 | ctypes.c_float | ctypes.c_void_p:
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous, f"{name}: an array is not contiguous"
        return ctypes.c_void_p(value.__array_interface__["data"][0])  # `ctypes.data` takes twice as long
    return ctypes.c_float(value) if isinstance(value, float) else ctypes.c_int64(value)
