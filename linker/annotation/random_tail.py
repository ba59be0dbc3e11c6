"""Ending a job by labelling at random: when to begin, and when what was drawn is enough.

Callaghan and Müller-Hansen (2020, Systematic Reviews 9:273) draw at random once the ordering seems exhausted and test
the hypothesis that too many relevant posts are left with the hypergeometric distribution. Their test has its error rate
when it is made once; made after every label, which is what deciding when to stop comes to, it errs more often. Here the
same likelihood is weighed against that of fewer posts being left. Such a ratio may be looked at after every label: that
it ever passes 1/α while the hypothesis is true has a probability of at most α (Ville's inequality; Waudby-Smith and
Ramdas 2020, NeurIPS).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import logsumexp

from linker.annotation.chances import RandomDraws
from linker.annotation.labels import Labels
from linker.annotation.stopping import Decision, StoppingRule
from linker.bounds import at_least

# Up to so many posts left each number is weighed by itself, above that one in ten.
_ALL = 32


def exhausted_after(labels: Labels, patience: int) -> int | None:
    """After how many labels first `patience` in a row found nothing, the first find being made; None: not yet."""
    finds = np.flatnonzero(labels.relevant)
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
        if logs[-2] == -np.inf:
            return np.inf
        if logs[-1] > logs[-2]:  # more than `total` are likelier still
            return -np.inf
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


class TailRule(StoppingRule):
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
        start = exhausted_after(labels, self.patience)
        if start is None:
            return Decision(False, _waiting(labels, self.patience))
        tail = RandomTail.after(labels, pool_size, start)
        total = self.too_many(labels.found, tail.known, tail.unlabelled)
        drawn = f"{tail.draws.relevant:,} of {tail.draws.size:,} posts drawn at random are relevant"
        if self._refuted(tail, total):
            return Decision(True, f"{drawn}: {self.reached()}, with {self.confidence:.0%} confidence")
        more = self._more(tail.going_on(rest, labels.found), total, rest)
        return Decision(False, f"{drawn}; {more:,} more without a find would be enough", draw_at_random=True)

    def _refuted(self, tail: RandomTail, total: int) -> bool:
        return tail.log_evidence(total) >= -math.log1p(-self.confidence)

    def _more(self, tail: RandomTail, total: int, rest: int) -> int:
        """How many more random draws would be enough if none of them were relevant, up to one in twenty."""
        numbers = np.append(
            np.unique(np.geomspace(1, rest, math.ceil(math.log(rest) / 0.05) + 1).astype(int)), rest
        )
        return int(
            numbers[
                bisect_left(numbers, True, key=lambda number: self._refuted(tail.more_misses(number), total))
            ]
        )


def _waiting(labels: Labels, patience: int) -> str:
    if not labels.found:
        return "nothing relevant is found yet"
    since = len(labels) - 1 - int(np.flatnonzero(labels.relevant)[-1])
    return f"{since:,} labels since the last find; after {patience:,} posts are drawn at random"
