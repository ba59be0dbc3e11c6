"""Estimates of how many relevant posts are left."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln

from linker.annotation.pool import Labels

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
    that were not sampled at random. Without a random sample the bounds are all that is certain.
    """
    rest = pool_size - len(labels)
    if rest <= 0:
        return Estimate(0, 0, 0, 1.0, "every post has a label", True)
    size, hits = int(labels.at_random.sum()), int((labels.relevant & labels.at_random).sum())
    if not size:
        basis = "no random sample yet; what the ranking missed shows only in posts sampled at random"
        return Estimate(0, rest // 2, rest, 1.0, basis)
    a, b = _PRIOR
    expected = betaln(hits + a, size - hits + b) - betaln(a, b)
    least = expected + math.log1p(-confidence)

    def likely(left: int) -> float:
        return log_likelihood(labels, pool_size, labels.found + left)

    # The likelihood rises to one peak and falls, so all three are found by bisection.
    middle = _first(0, rest, lambda left: likely(left + 1) <= likely(left))
    low = _first(0, middle, lambda left: likely(left) > least)
    high = _first(middle, rest, lambda left: likely(left + 1) <= least)
    basis = f"{hits} of {size} randomly sampled posts are relevant"
    return Estimate(low, middle, high, confidence, basis, known=high - low <= rest * _WIDEST)


def log_likelihood(labels: Labels, pool_size: int, total: int) -> float:
    """Return the log-probability of the random sample if the pool holds `total` relevant posts; −inf if impossible.

    A sampled post is relevant with probability (total − found) / unlabeled, both as of that moment. Nothing else is
    assumed: it does not matter how the other posts came to be labeled.
    """
    drawn = np.flatnonzero(labels.at_random)
    found = (np.cumsum(labels.relevant) - labels.relevant)[drawn]
    chances = (total - found) / (pool_size - drawn)
    chances = np.where(labels.relevant[drawn], chances, 1 - chances)
    return float(np.log(chances).sum()) if np.all(chances > 0) else -math.inf


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the first number from `low` on for which a monotone condition holds; `high` if none before it does."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
