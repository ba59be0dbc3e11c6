"""Ranked posts, and rankings that are read in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from linker.data.types import Post

if TYPE_CHECKING:
    from linker.calibration.thresholds import Thresholds
    from linker.models.score_scale import ScoreScale
    from linker.ranking.explanation import Explanation

AT_ONCE = 4_096
"""Posts of a long ranking that are in memory at a time."""


class RankedPost(NamedTuple):
    """A post and its place in a ranking.

    Attributes:
        rank: 1 for the best post.
        score: 0 to 100, higher is better; `Ranking.meaning` explains it. For several articles, the mean of the model's
            raw scores on this scale.
        post: the post.
        explanation: the words that contributed to the score, if explanations were asked for.
        copies: number of near-duplicates that this post represents; 0 where they are listed one by one.
        probability: probability that the post is relevant, 0 to 1; None without labels or a calibration.
    """

    rank: int
    score: float
    post: Post
    explanation: Explanation | None = None
    copies: int = 0
    probability: float | None = None


class ReadInParts(Sequence[RankedPost]):
    """Base of rankings that are read in parts: iterating holds at most 4,096 posts in memory."""

    def _read(self, part: slice) -> list[RankedPost]:
        """Return the posts of a slice of the ranking."""
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int) -> RankedPost: ...

    @overload
    def __getitem__(self, index: slice) -> list[RankedPost]: ...

    def __getitem__(self, index: int | slice) -> RankedPost | list[RankedPost]:
        if isinstance(index, slice):
            return self._read(index)
        place = range(len(self))[index]
        return self._read(slice(place, place + 1))[0]

    def __iter__(self) -> Iterator[RankedPost]:
        for start in range(0, len(self), AT_ONCE):
            yield from self._read(slice(start, start + AT_ONCE))


class UserScores:
    """Map from raw scores to what users see: scores from 0 to 100 and probabilities.

    This is the only place where scores of rankings are mapped.

    Args:
        scale: the map of scores.
        thresholds: the source of probabilities; None: there are none.
    """

    def __init__(self, scale: ScoreScale, thresholds: Thresholds | None = None) -> None:
        self._scale, self._thresholds = scale, thresholds

    def __call__(self, raw: np.ndarray) -> Iterator[tuple[float, float | None]]:
        """Return the score and the probability of each post.

        Args:
            raw: float32, one per post.
        """
        scores = self._scale(raw).tolist()
        if self._thresholds is None or not scores:
            return zip(scores, [None] * len(scores))
        return zip(scores, map(float, self._thresholds.of_raw(raw)))
