"""Small statistics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Equal scores may leave a deviation of rounding size; dividing by it would turn noise into scores.
_MIN_DEVIATION = 1e-6


@dataclass(frozen=True)
class ScoreStats:
    """Mean and standard deviation of scores; the deviation is 0 if all scores are equal up to rounding."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, scores: np.ndarray) -> ScoreStats:
        """Return the statistics of scores, at least one, computed in double precision."""
        mean = float(scores.mean(dtype=np.float64))
        deviation = float(np.std(scores, dtype=np.float64, mean=np.float64(mean)))
        return cls(mean, deviation if deviation > _MIN_DEVIATION * float(np.abs(scores).max()) else 0.0)

    def standardize(self, scores: np.ndarray) -> np.ndarray:
        """Return z-scores, float32; zeros if the deviation is 0."""
        if not self.deviation:
            return np.zeros(len(scores), dtype=np.float32)
        return ((scores - self.mean) / self.deviation).astype(np.float32)


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


def shortest_float(value: np.floating) -> float:
    """Return the number with the fewest digits that reads back as the same value in the value's own precision."""
    return float(str(value))
