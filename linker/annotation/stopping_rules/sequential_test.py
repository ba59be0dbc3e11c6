"""A sequential test on a random sample: when to start sampling, and when the sample is large enough to stop.

Callaghan and Müller-Hansen (2020, Systematic Reviews 9:273) sample at random once the query strategy seems exhausted
and test with the hypergeometric distribution whether too many relevant posts are left. Their error rate holds for
a single test; a rule that decides after every label tests many times and errs more often. Here the same likelihood is
divided by that of fewer posts being left. This ratio may be checked after every label: the probability that it ever
exceeds 1/α while the hypothesis is true is at most α (Ville's inequality; Waudby-Smith and Ramdas 2020, NeurIPS).

If the sample contains too many relevant posts for the hypothesis to be rejected soon, labeling returns to the strategy,
which may have learned from them, until it seems exhausted again. Each sample spends a share of the allowed error rate.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import logsumexp

from linker.annotation.pool import Labels
from linker.annotation.stopping_rules.random_draws import RandomDraws
from linker.annotation.stopping_rules.stopping_rule import Decision, StoppingRule
from linker.common.checks import at_least

# Alternatives up to this number are all weighted; above it, steps of one tenth.
_ALL = 32

# The strategy never counts as exhausted after fewer labels in a row without a relevant post, unless `patience` is less.
_LEAST_PATIENCE = 10

# A sample may be abandoned after this many relevant posts. The first sample spends this share of the allowed error
# rate, each later one the same share of the rest.
_MIN_HITS = 5
_ALPHA_SPENT = 0.8


def exhausted_after(
    labels: Labels, patience: Callable[[int], int], position: int = 0, least: int = 1
) -> int | None:
    """Return after how many labels a strategy seems exhausted for the first time.

    Args:
        labels: the labels.
        patience: number of labels up to a relevant post → number of labels in a row without another one after which
            the strategy counts as exhausted.
        position: number of labels that came before the strategy's turn.
        least: the least patience, at least 1.

    Returns:
        None: not yet, or no relevant post was found at all.
    """
    finds = np.flatnonzero(labels.relevant)
    if position:
        finds = np.append(position - 1, finds[finds >= position])
    waits = np.diff(finds, append=len(labels)) - 1
    for i in np.flatnonzero(waits >= least).tolist():
        number = int(finds[i]) + 1
        if waits[i] >= (patient := patience(number)):
            return number + patient
    return None


@dataclass(frozen=True)
class RandomTail:
    """The random sample since the strategy seemed exhausted.

    Attributes:
        draws: the sampled posts.
        known: relevant posts known when sampling started.
        unlabeled: posts without a label at that time.
    """

    draws: RandomDraws
    known: int
    unlabeled: int

    @classmethod
    def after(cls, labels: Labels, pool_size: int, start: int) -> RandomTail:
        """Return the random sample after the first `start` labels."""
        known = int(labels.relevant[:start].sum())
        return cls(RandomDraws.of(labels, pool_size, start), known, pool_size - start)

    def log_evidence(self, total: int) -> float:
        """Return the log evidence against the pool holding `total` relevant posts or more.

        If it holds that many, the probability that this ever exceeds ln(1/α) is at most α.
        """
        left, weights = _alternatives(self.unlabeled)
        logs = self.draws.log_likelihood(np.append(self.known + left, [total, total + 1]))
        if self.known + self.draws.relevant > total or logs[-1] > logs[-2]:
            return -np.inf  # at least as many are known, or more than `total` are likelier still
        if logs[-2] == -np.inf:
            return np.inf
        return float(logsumexp(logs[:-2], b=weights) - logs[-2])

    def with_new_run(self, unlabeled: int, found: int) -> RandomTail:
        """Return this sample with a new, empty run."""
        return RandomTail(self.draws.with_run(unlabeled, found), self.known, self.unlabeled)

    def more_misses(self, number: int) -> RandomTail:
        """Return this sample after `number` more posts that are not relevant."""
        return RandomTail(self.draws.followed_by_misses(number), self.known, self.unlabeled)


@cache
def _alternatives(unlabeled: int) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of relevant posts that may be left, and their weights: half on 0, then decreasing."""
    left = np.arange(min(unlabeled, _ALL) + 1)
    if unlabeled > _ALL:
        steps = math.ceil(math.log(unlabeled / _ALL) / math.log(1.1))
        left = np.append(left, np.unique(np.geomspace(_ALL, unlabeled, steps + 1).astype(int))[1:])
    weights = -np.diff(np.append(1 / (left + 1.0), 0.0))
    return left, weights


class SequentialTestRule(StoppingRule):
    """Base of rules that stop when a random sample rejects that too many relevant posts are left.

    Args:
        confidence: 1 − the error rate of the test, between 0 and 1.
        patience: the strategy counts as exhausted after this many labels in a row without a relevant post, or after
            as many as a random sample would need at least, if that is less.
    """

    def __init__(self, confidence: float, patience: int) -> None:
        if not 0 < confidence < 1:
            raise ValueError(f"confidence is {confidence}, but must be between 0 and 1")
        at_least(1, patience=patience)
        self.confidence = confidence
        self.patience = patience

    def too_many(self, found: int, known: int, unlabeled: int) -> int:
        """Return the smallest number of relevant posts in the pool that would be too many.

        Args:
            found: relevant posts known now.
            known: relevant posts known when sampling started.
            unlabeled: posts without a label at that time.
        """
        raise NotImplementedError

    @property
    def least_patience(self) -> int:
        """The least number of labels in a row without a relevant post after which sampling starts."""
        return min(_LEAST_PATIENCE, self.patience)

    def patience_of(self, labels: Labels, pool_size: int) -> Callable[[int], int]:
        """Return a function of the number of labels so far: the patience after the last of them, a relevant post.

        It is no longer than the shortest sample, in which no post is relevant. Where many relevant posts were found,
        that is short, and a sample teaches more than the end of the strategy's ranking (decision 178).
        """
        found = np.cumsum(labels.relevant)

        def patience(number: int) -> int:
            known, rest = int(found[number - 1]), pool_size - number
            left = self.too_many(known, known, rest) - known if rest else 0
            if not known or left >= rest:
                return self.least_patience if known else self.patience
            sample = math.log(1 - self.confidence) / math.log1p(-left / rest)
            return max(self.least_patience, min(self.patience, math.ceil(sample)))

        return patience

    def reached(self) -> str:
        """Return the conclusion when the rule stops, as part of a sentence."""
        raise NotImplementedError

    def decide(self, labels: Labels, pool_size: int) -> Decision:
        """Decide whether labeling can stop; see `StoppingRule`."""
        rest = pool_size - len(labels)
        if rest <= 0:
            return Decision(True, "every post has a label")
        if labels.found and self.too_many(labels.found, labels.found, rest) > labels.found + rest:
            return Decision(True, f"{self.reached()}, even if all {rest:,} posts left were relevant")
        position, error = 0, 1 - self.confidence
        patience = self.patience_of(labels, pool_size)
        while True:
            start = exhausted_after(labels, patience, position, self.least_patience)
            if start is None:
                return Decision(False, _waiting(labels, patience, position))
            given_up = self._given_up(labels, pool_size, start)
            if given_up is None:
                break
            position, error = given_up, error * (1 - _ALPHA_SPENT)
        tail = RandomTail.after(labels, pool_size, start)
        total = self.too_many(labels.found, tail.known, tail.unlabeled)
        least = -math.log(_ALPHA_SPENT * error)
        drawn = f"{tail.draws.relevant:,} of {tail.draws.size:,} randomly sampled posts are relevant"
        if tail.log_evidence(total) >= least:
            return Decision(True, f"{drawn}: {self.reached()}, with {self.confidence:.0%} confidence")
        more = _more(tail.with_new_run(rest, labels.found), total, least, rest)
        return Decision(
            False, f"{drawn}; {more:,} more without a relevant post would be enough", draw_at_random=True
        )

    def _given_up(self, labels: Labels, pool_size: int, start: int) -> int | None:
        """Return after how many labels the sample from `start` on was abandoned for finding too many; else None."""
        drawn = np.flatnonzero(labels.at_random[start:]) + start
        known, unlabeled = int(labels.relevant[:start].sum()), pool_size - start
        found = np.cumsum(labels.relevant)
        for hits, place in enumerate(np.flatnonzero(labels.relevant[drawn]), 1):
            expected = hits / (place + 1) * unlabeled
            if (
                hits >= _MIN_HITS
                and expected >= self.too_many(int(found[drawn[place]]), known, unlabeled) - known
            ):
                return int(drawn[place]) + 1
        return None


def _more(tail: RandomTail, total: int, least: float, rest: int) -> int:
    """Return how many more random posts suffice if none is relevant, within 5 %."""
    steps = math.ceil(math.log(rest) / 0.05) + 1
    numbers = np.append(np.geomspace(1, rest, steps).astype(int), rest)
    place = bisect_left(numbers, True, key=lambda more: tail.more_misses(more).log_evidence(total) >= least)
    return int(numbers[min(place, len(numbers) - 1)])


def _waiting(labels: Labels, patience: Callable[[int], int], position: int) -> str:
    if not labels.found:
        return "no relevant post found yet"
    last = max(position, int(np.flatnonzero(labels.relevant)[-1]) + 1)
    since = len(labels) - last
    again = "the random sample found too many; back to the query strategy: " if position else ""
    noun = "label" if since == 1 else "labels"
    return f"{again}{since:,} {noun} since the last relevant post; random sampling starts after {patience(last):,}"
