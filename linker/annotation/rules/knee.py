"""Stop behind the knee of the curve of finds."""

from __future__ import annotations

import numpy as np

from linker.annotation.labels import Labels
from linker.annotation.stopping import Decision, StoppingRule
from linker.bounds import at_least


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
