"""Small statistics."""

from __future__ import annotations

import numpy as np

# Equal scores may leave a deviation of rounding size; dividing by it would turn noise into scores.
_MIN_DEVIATION = 1e-6


def zscore(scores: np.ndarray, axis: int | None = None) -> np.ndarray:
    """Return scores with mean 0 and standard deviation 1, in double precision; zeros where all scores are equal.

    Args:
        scores: any shape.
        axis: the axis along which scores are standardized; None: all scores together.
    """
    if not scores.size:
        return np.zeros(scores.shape)
    centered = scores - scores.mean(axis=axis, keepdims=True, dtype=np.float64)
    deviation = centered.std(axis=axis, keepdims=True)
    varied = deviation > _MIN_DEVIATION * np.abs(scores).max(axis=axis, keepdims=True)
    return np.divide(centered, deviation, out=np.zeros_like(centered), where=varied)
