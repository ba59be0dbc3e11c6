"""Ending a job by labelling at random: when to begin, and when what was drawn is enough.

Callaghan and Müller-Hansen (2020, Systematic Reviews 9:273) draw at random once the ordering seems exhausted and test
the hypothesis that too many relevant posts are left with the hypergeometric distribution. Their test has its error rate
when it is made once; made after every label, which is what deciding when to stop comes to, it errs more often. Here the
same likelihood is weighed against that of fewer posts being left. Such a ratio may be looked at after every label: that
it ever passes 1/α while the hypothesis is true has a probability of at most α (Ville's inequality; Waudby-Smith and
Ramdas 2020, NeurIPS).

Where the random draws find so much that the hypothesis looks true, labelling goes back to the ordering, which may have
learned from them, until it seems exhausted again. Each such tail has its own share of the error that is allowed.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import logsumexp

from linker.annotation.pool import Labels
from linker.annotation.stopping_rules.random_draws import RandomDraws
from linker.annotation.stopping_rules.stopping_rule import Decision, StoppingRule
from linker.common.checks import at_least

# Up to so many posts left each number is weighed by itself, above that one in ten.
_ALL = 32


# A tail may be given up after so many finds, and the first of them takes this share of the error that is allowed, each
# that follows the same share of what is left.
_FINDS = 5
_SHARE = 0.8


def exhausted_after(labels: Labels, patience: int, position: int = 0) -> int | None:
    """After how many labels first `patience` in a row found nothing, those from `position` on.

    None: not yet, or nothing is found at all.
    """
    finds = np.flatnonzero(labels.relevant)
    if position:
        finds = np.append(position - 1, finds[finds >= position])
    waits = np.diff(finds, append=len(labels)) - 1
    long = np.flatnonzero(waits >= patience)
    return int(finds[long[0]]) + 1 + patience if len(long) else None


@dataclass(frozen=True)
class RandomTail:
    """The random draws since the ordering seemed exhausted.

    Attributes:
        draws: the draws.
        known: relevant posts known when they began.
        unlabelled: posts without a label then.
    """

    draws: RandomDraws
    known: int
    unlabelled: int

    @classmethod
    def after(cls, labels: Labels, pool_size: int, start: int) -> RandomTail:
        """The random draws that came after the first `start` labels."""
        known = int(labels.relevant[:start].sum())
        return cls(RandomDraws.of(labels, pool_size, start), known, pool_size - start)

    def log_evidence(self, total: int) -> float:
        """The log of the evidence against the pool holding `total` relevant posts or more.

        The chance that it is ever above ln(1/α) is at most α if there are so many.
        """
        left, weights = _alternatives(self.unlabelled)
        logs = self.draws.log_likelihood(np.append(self.known + left, [total, total + 1]))
        if self.known + self.draws.relevant > total or logs[-1] > logs[-2]:
            return -np.inf  # there are as many, or more than `total` are likelier still
        if logs[-2] == -np.inf:
            return np.inf
        return float(logsumexp(logs[:-2], b=weights) - logs[-2])

    def going_on(self, unlabelled: int, found: int) -> RandomTail:
        """The same with a run that begins now and has no draws yet."""
        return RandomTail(self.draws.with_run(unlabelled, found), self.known, self.unlabelled)

    def more_misses(self, number: int) -> RandomTail:
        """What it would be after so many more draws without a find."""
        return RandomTail(self.draws.followed_by_misses(number), self.known, self.unlabelled)


@cache
def _alternatives(unlabelled: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of posts that may be left, and the weight of each: half of it on none, then ever less."""
    left = np.arange(min(unlabelled, _ALL) + 1)
    if unlabelled > _ALL:
        steps = math.ceil(math.log(unlabelled / _ALL) / math.log(1.1))
        left = np.append(left, np.unique(np.geomspace(_ALL, unlabelled, steps + 1).astype(int))[1:])
    weights = -np.diff(np.append(1 / (left + 1.0), 0.0))
    return left, weights


class SequentialTestRule(StoppingRule):
    """A rule that ends a job when random draws refute that too many relevant posts are there.

    Args:
        confidence: how sure that has to be.
        patience: the ordering seems exhausted after so many labels in a row without a find.
    """

    def __init__(self, confidence: float, patience: int) -> None:
        if not 0 < confidence < 1:
            raise ValueError(f"confidence is {confidence}, but must be between 0 and 1")
        at_least(1, patience=patience)
        self.confidence = confidence
        self.patience = patience

    def too_many(self, found: int, known: int, unlabelled: int) -> int:
        """The smallest number of relevant posts in the pool that would be too many.

        Args:
            found: relevant posts known now.
            known: those known when drawing at random began.
            unlabelled: posts without a label then.
        """
        raise NotImplementedError

    def reached(self) -> str:
        """What is known in the end, as words of a sentence."""
        raise NotImplementedError

    def decide(self, labels: Labels, pool_size: int) -> Decision:
        """See `StoppingRule.decide`."""
        rest = pool_size - len(labels)
        if rest <= 0:
            return Decision(True, "every post has a label")
        if labels.found and self.too_many(labels.found, labels.found, rest) > labels.found + rest:
            return Decision(True, f"{self.reached()}, even if all {rest:,} posts left were relevant")
        position, error = 0, 1 - self.confidence
        while True:
            start = exhausted_after(labels, self.patience, position)
            if start is None:
                return Decision(False, _waiting(labels, self.patience, position))
            given_up = self._given_up(labels, pool_size, start)
            if given_up is None:
                break
            position, error = given_up, error * (1 - _SHARE)
        tail = RandomTail.after(labels, pool_size, start)
        total = self.too_many(labels.found, tail.known, tail.unlabelled)
        least = -math.log(_SHARE * error)
        drawn = f"{tail.draws.relevant:,} of {tail.draws.size:,} posts drawn at random are relevant"
        if tail.log_evidence(total) >= least:
            return Decision(True, f"{drawn}: {self.reached()}, with {self.confidence:.0%} confidence")
        more = _more(tail.going_on(rest, labels.found), total, least, rest)
        return Decision(False, f"{drawn}; {more:,} more without a find would be enough", draw_at_random=True)

    def _given_up(self, labels: Labels, pool_size: int, start: int) -> int | None:
        """After how many labels the tail from `start` on was given up, its finds telling of too many left; or None."""
        drawn = np.flatnonzero(labels.at_random[start:]) + start
        known, unlabelled = int(labels.relevant[:start].sum()), pool_size - start
        found = np.cumsum(labels.relevant)
        for hits, place in enumerate(np.flatnonzero(labels.relevant[drawn]), 1):
            told = hits / (place + 1) * unlabelled
            if hits >= _FINDS and told >= self.too_many(int(found[drawn[place]]), known, unlabelled) - known:
                return int(drawn[place]) + 1
        return None


def _more(tail: RandomTail, total: int, least: float, rest: int) -> int:
    """How many more random draws would be enough if none of them were relevant, give or take one in twenty."""
    steps = math.ceil(math.log(rest) / 0.05) + 1
    numbers = np.append(np.geomspace(1, rest, steps).astype(int), rest)
    place = bisect_left(numbers, True, key=lambda more: tail.more_misses(more).log_evidence(total) >= least)
    return int(numbers[min(place, len(numbers) - 1)])


def _waiting(labels: Labels, patience: int, position: int) -> str:
    if not labels.found:
        return "nothing relevant is found yet"
    since = len(labels) - max(position, int(np.flatnonzero(labels.relevant)[-1]) + 1)
    again = "random draws found too many; back to the ordering: " if position else ""
    return f"{again}{since:,} labels since the last find; after {patience:,} posts are drawn at random"
