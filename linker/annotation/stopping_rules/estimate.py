"""Estimates of how many relevant posts are left."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln

from linker.annotation.pool import Labels
from linker.annotation.stopping_rules.random_draws import RandomDraws

# An interval that covers more of the unlabeled posts says nothing that can be used.
_WIDEST = 0.5
# Beta prior of the share of relevant posts. Coverage holds for any choice; this one keeps intervals short when few
# relevant posts are left.
_PRIOR = (0.25, 1.0)


@dataclass(frozen=True)
class Estimate:
    """Number of relevant posts without a label.

    Attributes:
        low: lower bound.
        middle: point estimate.
        high: upper bound.
        confidence: coverage of the bounds, 0 to 1.
        basis: one sentence on the evidence.
        known: whether the bounds are narrow enough to say how many are left: at most half of the unlabeled posts
            apart.
    """

    low: int
    middle: int
    high: int
    confidence: float
    basis: str
    known: bool = False

    @property
    def sentence(self) -> str:
        """How many relevant posts are left, in one sentence."""
        if not self.known:
            return "Not known yet how many relevant posts are left"
        if not self.high:
            return "No relevant post is left"
        sure = f"with {100 * self.confidence:.0f} % confidence"
        if not self.middle:
            return f"Probably no relevant post is left; {sure} at most {self.high:,}"
        posts = "relevant post is" if self.middle == 1 else "relevant posts are"
        return f"About {self.middle:,} {posts} left; {sure} {self.low:,} to {self.high:,}"


def estimate(labels: Labels, pool_size: int, confidence: float = 0.95) -> Estimate:
    """Estimate how many relevant posts are left, from the labels of randomly sampled posts.

    The interval holds simultaneously after every label, so it may be watched and labeling may stop because of it: a
    confidence sequence for sampling without replacement (Waudby-Smith and Ramdas 2020, NeurIPS), with labels in between
    that were not sampled at random. Without a random sample the bounds are uninformative and the point estimate
    extrapolates the recall curve. The sample says nothing about posts that it could not reach: the upper bound counts
    all of them.
    """
    rest = pool_size - len(labels)
    if rest <= 0:
        return Estimate(0, 0, 0, 1.0, "every post has a label", True)
    reached = rest - labels.unreached
    draws = RandomDraws.of(labels, pool_size - labels.unreached)
    if not draws.size:
        return Estimate(
            0,
            _continued(labels.relevant, rest),
            rest,
            1.0,
            "no random sample yet; what the ranking missed shows only in posts sampled at random",
        )
    a, b = _PRIOR
    expected = betaln(draws.relevant + a, draws.size - draws.relevant + b) - betaln(a, b)
    least = expected + math.log1p(-confidence)

    def likely(left: int) -> float:
        return float(draws.log_likelihood(np.array([labels.found + left]))[0])

    # The likelihood rises to one peak and falls, so all three are found by bisection.
    middle = _first(0, reached, lambda left: likely(left + 1) <= likely(left))
    low = _first(0, middle, lambda left: likely(left) > least)
    high = _first(middle, reached, lambda left: likely(left + 1) <= least) + labels.unreached
    basis = f"{draws.relevant} of {draws.size} randomly sampled posts are relevant"
    if labels.unreached:
        basis += f"; the sample could not reach {labels.unreached:,}, so all of these may be"
    return Estimate(
        low,
        middle,
        high,
        confidence,
        basis,
        known=high - low <= rest * _WIDEST,
    )


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the first number from `low` on for which a monotone condition holds; `high` if none before it does."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _continued(relevant: np.ndarray, rest: int) -> int:
    """Extrapolate the recall curve: each stretch finds the same fraction of what the one before it found."""
    half = len(relevant) // 2
    if not half:
        return rest // 2
    before, after = int(relevant[:half].sum()), int(relevant[half : 2 * half].sum())
    stretches = rest / half
    if after >= before:
        return min(rest, round(after * stretches))
    fraction = after / before
    return min(rest, round(after * fraction / (1 - fraction) * (1 - fraction**stretches)))
