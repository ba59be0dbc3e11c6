"""A teacher's vectors in fewer numbers, so that a smaller student can give them."""

from __future__ import annotations

import numpy as np


def narrowed(vectors: np.ndarray, rows: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """The vectors in the directions in which most of them lies, turned to where the student's lie already.

    No other directions of that number keep the dot products between the vectors as well (Eckart and Young 1936).
    Turning changes no dot product, and spares the student from learning other axes (orthogonal Procrustes problem,
    Schönemann 1966).

    Args:
        vectors: the teacher's, float, texts × many.
        rows: of which of the texts the student's own vectors are known, int.
        towards: these, float, as many × fewer.

    Returns:
        float32, texts × fewer, no longer than they were.
    """
    dim = towards.shape[1]
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    kept = vectors @ directions[:, ::-1][:, :dim]
    left, _, right = np.linalg.svd(kept[rows].T @ towards)
    turned: np.ndarray = (kept @ (left @ right)).astype(np.float32)
    return turned
