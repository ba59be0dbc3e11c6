"""The scale of scores that users see: 0 to 100, the same for every command, file and page (decision 169)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from linker.common.checks import above
from linker.common.errors import DataError

Kind = Literal["logistic", "standardized", "similarity", "distance", "sum", "any", "none"]

_SENTENCES: dict[Kind, str] = {
    "logistic": "how well the post's {what} the article; higher is better, but it is not a probability",
    "standardized": "how well the post's {what} the article, compared with the other posts; 50 is the average post",
    "similarity": "how similar the texts of post and article are; higher is better, but it is not a probability",
    "distance": "how near the texts of post and article are; higher is better, but it is not a probability",
    "sum": "how many words post and article share, rare words counting more; it is not a probability",
    "any": "how well the post's {what} the article; higher is better, but it is not a probability",
    "none": "as given",
}
# Bits of the largest finite float32.
_LARGEST = 0x7F7FFFFF


@dataclass(frozen=True)
class ScoreScale:
    """A rising map from a model's raw scores to 0 to 100.

    Rankings and metrics use raw scores; they are mapped where they leave linker.

    Args:
        kind: the map of a raw score x. `logistic` (log-odds) and `standardized` (sums of z-scores):
            100 / (1 + exp((center − x) / width)). `similarity` (cosines and their sums): 100 · x / width,
            between 0 and 100. `distance` (negative distances): 100 · width / (width − x). `sum` (x ≥ 0):
            100 · x / (x + width). `any` (any real number): 50 · (1 + x / (width + |x|)). `none`: x.
        center: raw score that becomes 50, for `logistic` and `standardized`.
        width: unit of raw scores, > 0.
        dates: whether the time between article and post counts, for the sentence.

    Raises:
        LinkerError: if `width` is not above 0.
    """

    kind: Kind
    center: float = 0.0
    width: float = 1.0
    dates: bool = False

    def __post_init__(self) -> None:
        above(0, width=self.width)

    def __call__(self, raw: Any) -> np.ndarray:
        """Return the scores, 0 to 100, of raw scores: float64, of the same shape."""
        raw = np.asarray(raw, dtype=np.float64)
        if self.kind == "none":
            return raw
        if self.kind == "similarity":
            return np.asarray(100 * np.clip(raw / self.width, 0, 1))
        if self.kind == "distance":
            return np.asarray(100 * self.width / (self.width - np.minimum(raw, 0)))
        if self.kind == "any":
            return np.asarray(50 * (1 + raw / (self.width + np.abs(raw))))
        if self.kind == "sum":
            raw = np.maximum(raw, 0)
            return np.asarray(100 * (raw / (raw + self.width)))
        return np.asarray(100 * np.exp(-np.logaddexp(0, (self.center - raw) / self.width)))

    def least_raw(self, scores: Any) -> np.ndarray:
        """Return the lowest raw scores that reach scores; the exact inverse for thresholds.

        Args:
            scores: 0 to 100, any shape.

        Returns:
            float32, of the same shape; −inf where every raw score reaches the score, inf where none does.
        """
        wanted = np.asarray(scores, dtype=np.float64)
        # Bisection over all float32, numbered in ascending order.
        low, high = np.full(wanted.shape, -_LARGEST - 1), np.full(wanted.shape, _LARGEST + 1)
        while (open_ := high - low > 1).any():
            middle = (low + high) // 2
            reached = self(_numbered(middle)) >= wanted
            high, low = np.where(open_ & reached, middle, high), np.where(open_ & ~reached, middle, low)
        raw = _numbered(np.clip(high, -_LARGEST, _LARGEST))
        raw = np.where(high > _LARGEST, np.float32(np.inf), raw)
        return np.asarray(np.where(high == -_LARGEST, np.float32(-np.inf), raw))

    @property
    def sentence(self) -> str:
        """Return a sentence that explains the scores."""
        what = "text and date fit" if self.dates else "text fits"
        return f"score: 0 to 100, {_SENTENCES[self.kind].format(what=what)}"

    def as_json(self) -> dict[str, Any]:
        """Return the scale as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Any) -> ScoreScale:
        """Return the scale of `as_json`.

        Raises:
            DataError: if the values are not those of a scale.
        """
        try:
            center, width = float(values["center"]), float(values["width"])
            scale = cls(values["kind"], center, width, bool(values["dates"]))
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"not a scale of scores ({error})") from error
        if scale.kind not in _SENTENCES:
            raise DataError(f"unknown scale of scores {scale.kind!r}")
        return scale


#: Scores that are shown as they are.
UNSCALED = ScoreScale("none")


def _numbered(numbers: np.ndarray) -> np.ndarray:
    """Return the float32 with these numbers in ascending order, 0 for 0."""
    bits = np.abs(numbers).astype(np.int32)
    return np.asarray(np.copysign(bits.view(np.float32), numbers.astype(np.float32)))
