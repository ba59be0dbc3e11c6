"""Ranked posts, and rankings that are read in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, overload

import numpy as np

from linker.data.types import Post

if TYPE_CHECKING:
    from linker.calibration.thresholds import Thresholds
    from linker.ranking.explanation import Explanation

AT_ONCE = 4_096
"""Posts of a long ranking that are in memory at a time."""


@dataclass(frozen=True, slots=True)
class RankedPost:
    """A post and its place in a ranking.

    Attributes:
        rank: 1 for the best post.
        score: the model's score; higher is better. Its range depends on the model: log-odds for `best`, a cosine from
            -1 to 1 for bi-encoders, 0 or more for `bm25` and `tfidf`. Of several articles it is the mean.
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


class _WithProbabilities(ReadInParts):
    def __init__(self, ranking: Sequence[RankedPost], thresholds: Thresholds) -> None:
        self._ranking, self._thresholds = ranking, thresholds

    def __len__(self) -> int:
        return len(self._ranking)

    def _read(self, part: slice) -> list[RankedPost]:
        posts = self._ranking[part]
        if not posts:
            return []
        probabilities = self._thresholds.probabilities(np.array([ranked.score for ranked in posts]))
        return [
            replace(ranked, probability=float(probability))
            for ranked, probability in zip(posts, probabilities)
        ]


def with_probabilities(ranking: Sequence[RankedPost], thresholds: Thresholds) -> Sequence[RankedPost]:
    """Return the ranking with the probability of each post; it is read only as far as it is gone through."""
    return _WithProbabilities(ranking, thresholds)
