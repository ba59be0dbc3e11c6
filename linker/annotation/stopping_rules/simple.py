"""Stopping rules by a count and by the shape of the recall curve."""

from __future__ import annotations

import numpy as np

from linker.annotation.pool import Labels
from linker.annotation.stopping_rules.stopping_rule import Decision, StoppingRule
from linker.common.checks import at_least


@StoppingRule.register("target")
class TargetRule(StoppingRule):
    """Stop after finding a fixed number of relevant posts. Makes no claim about recall.

    Args:
        relevant: number of relevant posts to find, at least 1.
    """

    def __init__(self, relevant: int = 500) -> None:
        at_least(1, relevant=relevant)
        self.relevant = relevant

    def decide(self, labels: Labels, pool_size: int) -> Decision:
        """Decide whether labeling can stop; see `StoppingRule`."""
        if labels.found >= self.relevant:
            return Decision(True, f"{labels.found:,} relevant posts are found, {self.relevant:,} were wanted")
        if len(labels) >= pool_size:
            return Decision(
                True, f"every post has a label; only {labels.found:,} of {pool_size:,} are relevant"
            )
        return Decision(False, f"{labels.found:,} of the {self.relevant:,} wanted relevant posts are found")


@StoppingRule.register("knee")
class KneeRule(StoppingRule):
    """Stop when the recall curve has a knee (Cormack and Grossman 2016, SIGIR).

    The knee is the point of the curve farthest above the straight line between its ends. The slope before it divided by
    the slope after it, with one more relevant post counted, must reach 156 minus the number of relevant posts found,
    and at least 6. The rule guarantees nothing: the curve also flattens if the strategy misses a kind of relevant post.

    Paper: Cormack and Grossman 2016, https://doi.org/10.1145/2911451.2911510

    Args:
        min_labels: smallest number of labels before stopping.
        ratio: slope ratio to require; None: the ratio above.
    """

    def __init__(self, min_labels: int = 100, ratio: float | None = None) -> None:
        at_least(1, min_labels=min_labels, ratio=ratio)
        self.min_labels = min_labels
        self.ratio = ratio

    def decide(self, labels: Labels, pool_size: int) -> Decision:
        """Decide whether labeling can stop; see `StoppingRule`."""
        if len(labels) >= pool_size:
            return Decision(True, "every post has a label")
        if len(labels) < self.min_labels:
            return Decision(
                False, f"{len(labels):,} labels; the knee is looked for from {self.min_labels:,} on"
            )
        needed = self.ratio if self.ratio is not None else 156.0 - min(labels.found, 150)
        knee, ratio = knee_of(labels.relevant)
        rate = f"before label {knee:,}, relevant posts came {ratio:.1f} times as fast as since"
        if ratio >= needed:
            return Decision(True, f"{rate}; {needed:g} times were required (no guarantee of recall)")
        return Decision(False, f"{rate}; {needed:g} times are required")


def knee_of(relevant: np.ndarray) -> tuple[int, float]:
    """Return the number of labels at the knee of the recall curve, and the ratio of the slopes before and after it.

    A curve that is nowhere above its chord has its knee at the end and the ratio 0.
    """
    finds = np.cumsum(relevant)
    size = len(finds)
    above = finds - finds[-1] * np.arange(1, size + 1) / size
    knee = int(above.argmax()) + 1
    if knee == size or above[knee - 1] <= 0:
        return size, 0.0
    before, after = finds[knee - 1] / knee, (finds[-1] - finds[knee - 1] + 1) / (size - knee)
    return knee, float(before / after)
