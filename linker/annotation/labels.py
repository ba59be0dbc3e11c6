"""The labels so far, in the order in which they were given."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


def _no_places() -> np.ndarray:
    return np.zeros(0, dtype=np.int64)


def _no_flags() -> np.ndarray:
    return np.zeros(0, dtype=bool)


@dataclass(frozen=True)
class Labels:
    """What is known of a pool.

    Attributes:
        posts: int64, places in the pool, each at most once, in the order of labelling.
        relevant: bool, one per label.
        at_random: bool: was the post drawn with equal chances from all that were unlabelled then? Guarantees of recall
            rest on these labels.
    """

    posts: np.ndarray = field(default_factory=_no_places)
    relevant: np.ndarray = field(default_factory=_no_flags)
    at_random: np.ndarray = field(default_factory=_no_flags)

    def __len__(self) -> int:
        return len(self.posts)

    @property
    def found(self) -> int:
        """How many relevant posts are known."""
        return int(self.relevant.sum())
