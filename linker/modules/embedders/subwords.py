"""Fit vectors of character n-grams to the vectors of known words."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from linker.data.token_axis import subword_hashes

MOST_WORDS = 30_000
RIDGE = 1.0
ITERATIONS = 10


def fit_subwords(table: Tensor, words: Sequence[str], vectors: Tensor) -> Tensor:
    """Fit an n-gram table so that the words' n-grams predict their centered vectors.

    Ridge regression towards the initial table by conjugate gradients: the mimicking of Pinter et al. 2017 (section 3)
    with a linear model. Words with uninformative n-grams get short vectors; n-grams that occur in no word keep theirs.

    Args:
        table: float, buckets × dim: the initial table.
        words: the words, one per row of `vectors`; of many words, every k-th is used.
        vectors: float, words × dim; rows of zeros are skipped.

    Returns:
        float, buckets × dim.
    """
    from scipy.sparse import csr_matrix

    chosen = np.flatnonzero(vectors.abs().sum(dim=1).numpy())
    if not len(chosen):
        return table
    chosen = chosen[:: -(-len(chosen) // MOST_WORDS)]
    hashes = [subword_hashes(words[int(i)]) for i in chosen]
    ends = np.cumsum([0, *map(len, hashes)])
    columns = np.concatenate([np.array(h, dtype=np.int64) % len(table) for h in hashes])
    # As in the embedder: the sum divided by the square root of the number of n-grams.
    values = np.repeat(np.diff(ends) ** -0.5, np.diff(ends)).astype(np.float32)
    spelling = csr_matrix((values, columns, ends), shape=(len(chosen), len(table)))
    start = table.numpy()
    target = vectors.numpy()[chosen]
    target = target - target.mean(axis=0) - spelling @ start
    return torch.from_numpy(start + _ridge(spelling, target))


def _ridge(matrix: Any, target: np.ndarray) -> np.ndarray:
    """argmin ‖matrix · x − target‖² + RIDGE · ‖x‖², for all columns of `target` at once."""
    transposed = matrix.T.tocsr()
    residual = transposed @ target
    x, direction = np.zeros_like(residual), residual.copy()
    square = (residual**2).sum(axis=0)
    for _ in range(ITERATIONS):
        product = transposed @ (matrix @ direction) + RIDGE * direction
        step = square / np.maximum((direction * product).sum(axis=0), np.finfo(np.float32).tiny)
        x += step * direction
        residual -= step * product
        before, square = square, (residual**2).sum(axis=0)
        direction = residual + square / np.maximum(before, np.finfo(np.float32).tiny) * direction
    return x
