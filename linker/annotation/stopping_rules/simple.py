"""Stop when one more relevant post would cost too many labels."""

from __future__ import annotations

import math

import numpy as np

from linker.annotation.pool import Labels
from linker.annotation.stopping_rules.sequential_test import SequentialTestRule
from linker.annotation.stopping_rules.stopping_rule import Decision, StoppingRule
from linker.common.checks import at_least


@StoppingRule.register("target")
class TargetRule(StoppingRule):
    """Stop when so many relevant posts are found; certain, as it is counted, and silent about recall.

    Args:
        relevant: how many relevant posts are wanted.
    """

    def __init__(self, relevant: int = 500) -> None:
        at_least(1, relevant=relevant)
        self.relevant = relevant

    def decide(self, labels: Labels, pool_size: int) -> Decision:
        """See `StoppingRule.decide`."""
        if labels.found >= self.relevant:
            return Decision(True, f"{labels.found:,} relevant posts are found, {self.relevant:,} were wanted")
        if len(labels) >= pool_size:
            return Decision(
                True, f"every post has a label; only {labels.found:,} of {pool_size:,} are relevant"
            )
        return Decision(False, f"{labels.found:,} of the {self.relevant:,} wanted relevant posts are found")


@StoppingRule.register("knee")
class KneeRule(StoppingRule):
    """Stop when the curve of finds has become so much flatter than it was (Cormack and Grossman 2016, SIGIR).

    The knee is where the curve is farthest above the straight line from its beginning to its end. The slope before it,
    divided by the slope behind it with one more find counted, must reach 156 less the number of finds, but at least 6.
    The rule guarantees nothing: where the ordering misses a kind of relevant post, the curve flattens all the same.

    Args:
        at_least: do not stop before so many labels.
        ratio: the slope ratio where it is not to depend on the number of finds.
    """

    def __init__(self, at_least: int = 100, ratio: float | None = None) -> None:
        _check(at_least, ratio)
        self.at_least = at_least
        self.ratio = ratio

    def decide(self, labels: Labels, pool_size: int) -> Decision:
        """See `StoppingRule.decide`."""
        if len(labels) >= pool_size:
            return Decision(True, "every post has a label")
        if len(labels) < self.at_least:
            return Decision(
                False, f"{len(labels):,} labels; the knee is looked for from {self.at_least:,} on"
            )
        needed = self.ratio if self.ratio is not None else 156.0 - min(labels.found, 150)
        knee, ratio = knee_of(labels.relevant)
        told = f"before label {knee:,} finds came {ratio:.1f} times as fast as since"
        if ratio >= needed:
            return Decision(True, f"{told}; {needed:g} times were needed, which guarantees nothing")
        return Decision(False, f"{told}; {needed:g} times are needed")


def knee_of(relevant: np.ndarray) -> tuple[int, float]:
    """After how many labels the curve of finds has its knee, and the ratio of the slopes before and after it.

    A curve that nowhere lies above its chord has its knee at the end and the ratio 0.
    """
    finds = np.cumsum(relevant)
    size = len(finds)
    above = finds - finds[-1] * np.arange(1, size + 1) / size
    knee = int(above.argmax()) + 1
    if knee == size or above[knee - 1] <= 0:
        return size, 0.0
    before, after = finds[knee - 1] / knee, (finds[-1] - finds[knee - 1] + 1) / (size - knee)
    return knee, float(before / after)


def _check(labels: int, ratio: float | None) -> None:
    at_least(1, at_least=labels, ratio=ratio)


@StoppingRule.register("one_more")
class MarginalCostRule(SequentialTestRule):
    """Stop when one more relevant post would cost more labels than it is worth, with the stated confidence.

    Once the ordering seems exhausted, posts are drawn at random, until the hypothesis can be dropped that the posts
    without a label then held at least one more relevant post for every `labels` of them. It is tested like the one
    of `recall`: of 100 jobs, at most 100 (1 − confidence) end though it is true. With `labels` as large as the pool it
    is the hypothesis of at least one more in all, which only labelling nearly everything can refute. The cost goes
    with `labels` and hardly with the pool: without a find it is a little over three times `labels`.

    Args:
        labels: the price of one more relevant post, in labels of posts drawn at random, that is too high.
        confidence: in how many of all jobs it must be that high, at least.
        patience: the ordering seems exhausted after so many labels in a row without a find.
    """

    def __init__(self, labels: int = 100, confidence: float = 0.95, patience: int = 200) -> None:
        super().__init__(confidence, patience)
        at_least(1, labels=labels)
        self.labels = labels

    def too_many(self, found: int, known: int, unlabelled: int) -> int:
        """See `SequentialTestRule.too_many`."""
        return known + math.ceil(unlabelled / self.labels)

    def reached(self) -> str:
        """See `SequentialTestRule.reached`."""
        return f"fewer than 1 in {self.labels:,} of the posts left over by the ordering are relevant"
