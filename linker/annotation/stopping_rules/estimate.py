"""Estimates of how many relevant posts are left."""

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
    that were not sampled at random. Sampled posts without a label count as not relevant for the lower bound and as
    relevant for the upper one. Without a random sample the bounds are all that is certain.
    """
    rest = pool_size - len(labels)
    if rest <= 0:
        return Estimate(0, 0, 0, 1.0, "every post has a label", True)
    draws = labels.sample[: last_label(labels.sample[:, 0])]
    if not len(draws):
        basis = "no random sample yet; what the ranking missed shows only in posts sampled at random"
        return Estimate(0, rest // 2, rest, 1.0, basis)
    open_draws = np.flatnonzero(draws[:, 0] < 0)
    samples = [RandomSample(labels, draws, pool_size)]
    if len(open_draws):
        # The interval holds for all beginnings of a sample at once, and so for the one before the first of them.
        samples += [RandomSample(labels, draws, pool_size, True)]
        samples += [RandomSample(labels, draws[: open_draws[0]], pool_size)]
    lows, middles, highs = zip(*(sample.interval(confidence) for sample in samples))
    low, high = max(lows[0], lows[-1]), min(highs[1:] or highs)
    middle = max(low, min(high, sum(middles[:2]) // len(middles[:2])))
    hits = labels.relevant[draws[draws[:, 0] >= 0, 0]]
    basis = f"{hits.sum()} of {len(hits)} randomly sampled posts are relevant{without_label(len(open_draws))}"
    return Estimate(low, middle, high, confidence, basis, known=high - low <= rest * _WIDEST)


def last_label(places: np.ndarray) -> int:
    """Return the number of draws up to the last one that has a label; `places`: as in `Labels.draws`."""
    return int(np.append(-1, np.flatnonzero(places >= 0))[-1]) + 1


def without_label(number: int) -> str:
    """Return a clause on sampled posts without a label; empty if there is none."""
    if not number:
        return ""
    return f"; {number:,} more, skipped or not labeled yet, {'counts' if number == 1 else 'count'} as possibly relevant"


class RandomSample:
    """A random sample, draw by draw.

    A sampled post is relevant with probability (total − relevant ones seen) / posts not seen, as of the draw: seen are
    posts drawn before, and those that had a label. Nothing else is assumed: it does not matter how these came to be
    labeled.

    Args:
        labels: all labels.
        draws: a beginning of `Labels.sample`.
        pool_size: number of posts.
        is_relevant: whether drawn posts without a label count as relevant.
    """

    def __init__(self, labels: Labels, draws: np.ndarray, pool_size: int, is_relevant: bool = False) -> None:
        places, before = draws.T

        def seen(flags: np.ndarray, drawn: np.ndarray) -> np.ndarray:
            return np.append(0, np.cumsum(flags & ~labels.at_random))[before] + np.cumsum(drawn) - drawn

        self.relevant = np.where(places < 0, is_relevant, labels.relevant[places])
        self._found = seen(labels.relevant, self.relevant)
        self._unseen = pool_size - seen(~labels.at_random, np.ones(len(draws), dtype=np.int64))
        # The least and the greatest number of relevant posts without a label.
        left = int((places < 0).sum())
        self.found, self._fewest = labels.found, left * is_relevant
        self._most = pool_size - len(labels) - left + self._fewest

    def log_likelihood(self, total: int) -> float:
        """Return the log-probability of the sample if the pool holds `total` relevant posts; −inf if impossible."""
        chances = (total - self._found) / self._unseen
        chances = np.where(self.relevant, chances, 1 - chances)
        return float(np.log(chances).sum()) if np.all(chances > 0) else -math.inf

    def interval(self, confidence: float) -> tuple[int, int, int]:
        """Return the least, the likeliest and the greatest number of relevant posts without a label."""
        (a, b), hits = _PRIOR, int(self.relevant.sum())
        expected = betaln(hits + a, len(self.relevant) - hits + b) - betaln(a, b)
        least = expected + math.log1p(-confidence)

        def likely(left: int) -> float:
            return self.log_likelihood(self.found + left)

        # The likelihood rises to one peak and falls, so all three are found by bisection.
        middle = _first(self._fewest, self._most, lambda left: likely(left + 1) <= likely(left))
        low = _first(self._fewest, middle, lambda left: likely(left) > least)
        return low, middle, _first(middle, self._most, lambda left: likely(left + 1) <= least)


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the first number from `low` on for which a monotone condition holds; `high` if none before it does."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
