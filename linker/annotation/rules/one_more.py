"""Stop when one more relevant post would cost too many labels."""

from __future__ import annotations

import math

from linker.annotation.random_tail import TailRule
from linker.annotation.stopping import StoppingRule
from linker.bounds import at_least


@StoppingRule.register("one_more")
class OneMoreRule(TailRule):
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
        """See `TailRule.too_many`."""
        return known + math.ceil(unlabelled / self.labels)

    def reached(self) -> str:
        """See `TailRule.reached`."""
        return f"fewer than 1 in {self.labels:,} of the posts left over by the ordering are relevant"
