"""How many relevant posts are left among those without a label."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln

from linker.annotation.pool import Labels
from linker.annotation.stopping_rules.random_draws import RandomDraws

# The weight of shares of relevant posts in the evidence: small ones more often than large ones. Coverage holds for any
# choice; this one keeps intervals short where few relevant posts are left.
_PRIOR = (0.25, 1.0)


@dataclass(frozen=True)
class Estimate:
    """How many relevant posts have no label yet.

    Attributes:
        low: at least so many.
        middle: the best guess.
        high: at most so many.
        confidence: how sure `low` and `high` are.
        basis: what they rest on, one sentence.
    """

    low: int
    middle: int
    high: int
    confidence: float
    basis: str


def estimate(labels: Labels, pool_size: int, confidence: float = 0.95) -> Estimate:
    """How many relevant posts are left, from the labels of posts that were drawn at random.

    The interval holds the truth after every label at once with the stated confidence, so it may be looked at all the
    time and labelling may end because of it: a confidence sequence for sampling without replacement (Waudby-Smith and
    Ramdas 2020, NeurIPS), here with labels in between that were not drawn at random. Without random draws nothing
    is known for certain; the middle then continues the curve of the finds.
    """
    rest = pool_size - len(labels)
    if rest <= 0:
        return Estimate(0, 0, 0, 1.0, "every post has a label")
    draws = RandomDraws.of(labels, pool_size)
    if not draws.size:
        return Estimate(
            0,
            _continued(labels.relevant, rest),
            rest,
            1.0,
            "no post was drawn at random: the middle continues the curve of the finds, the bounds are all there is",
        )
    a, b = _PRIOR
    expected = betaln(draws.relevant + a, draws.size - draws.relevant + b) - betaln(a, b)
    least = expected + math.log1p(-confidence)

    def likely(left: int) -> float:
        return float(draws.log_likelihood(np.array([labels.found + left]))[0])

    # The likelihood rises to one peak and falls, so all three are found by bisection.
    middle = _first(0, rest, lambda left: likely(left + 1) <= likely(left))
    low = _first(0, middle, lambda left: likely(left) > least)
    high = _first(middle, rest, lambda left: likely(left + 1) <= least)
    return Estimate(
        low, middle, high, confidence, f"{draws.relevant} of {draws.size} posts drawn at random are relevant"
    )


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The first number from `low` on for which something holds that then stays so; `high` if none before it."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _continued(relevant: np.ndarray, rest: int) -> int:
    """The finds to come, if each stretch goes on to hold the same fraction of what the one before it held."""
    half = len(relevant) // 2
    if not half:
        return rest // 2
    before, after = int(relevant[:half].sum()), int(relevant[half : 2 * half].sum())
    stretches = rest / half
    if after >= before:
        return min(rest, round(after * stretches))
    fraction = after / before
    return min(rest, round(after * fraction / (1 - fraction) * (1 - fraction**stretches)))
