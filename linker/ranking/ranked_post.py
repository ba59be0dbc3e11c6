"""Ranked posts, and rankings that are read in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from linker.data.types import Post

if TYPE_CHECKING:
    from linker.ranking.explanation import Explanation

_AT_ONCE = 4_096


@dataclass(frozen=True, slots=True)
class RankedPost:
    """A post and where it stands.

    Attributes:
        rank: from 1.
        score: as the model gave it.
        post: the post.
        explanation: what carried the score, if that was asked for.
        copies: how many near-duplicates it stands for; 0 where these are given one by one.
        probability: that it is relevant, where labels or a calibration tell; see `with_probabilities`.
    """

    rank: int
    score: float
    post: Post
    explanation: Explanation | None = None
    copies: int = 0
    probability: float | None = None


class ReadInParts(Sequence[RankedPost]):
    """A ranking of which going through it holds 4,096 posts at a time in memory, however many there are."""

    def _read(self, part: slice) -> list[RankedPost]:
        """The posts of a slice of the ranking."""
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
        for start in range(0, len(self), _AT_ONCE):
            yield from self._read(slice(start, start + _AT_ONCE))
