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


def add_postings(
    places: np.ndarray, starts: np.ndarray, ends: np.ndarray, of_words: np.ndarray, sums: np.ndarray
) -> None:
    """Add numbers of words to the posts that contain them, word by word.

    Args:
        places: uint16 or uint32: posts, word by word.
        starts: int64: where the posts of each word begin in `places`.
        ends: int64: where they end.
        of_words: float64, 2 × words.
        sums: float64, 2 × posts; the numbers are added to it.
    """
    name = "add_postings_u16" if places.dtype == np.uint16 else "add_postings_u32"
    _call(name, places, starts, ends, len(starts), *of_words, *sums)


def cosines(products: np.ndarray, squares: np.ndarray, added: np.ndarray, scores: np.ndarray) -> None:
    """Divide products by the root of a sum, in float64, and round them to float32; 0 stays 0.

    Args:
        products: float64, n.
        squares: float64, n.
        added: float64, n; the root is of `squares` + `added`.
        scores: float32, n; the result.
    """
    _call("cosines", products, squares, added, len(scores), scores)


def _call(name: str, *arguments: np.ndarray | int) -> None:
    for array in arguments:
        assert isinstance(array, int) or array.flags.c_contiguous, f"{name}: an array is not contiguous"
    getattr(library.load_without_torch(), f"linker_{name}")(
        *(
            ctypes.c_int64(one) if isinstance(one, int) else ctypes.c_void_p(one.ctypes.data)
            for one in arguments
        )
    )
