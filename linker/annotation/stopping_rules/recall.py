"""Stop at a target recall, with a stated confidence."""

from __future__ import annotations

import math

from linker.annotation.stopping_rules.sequential_test import SequentialTestRule
from linker.annotation.stopping_rules.stopping_rule import StoppingRule


@StoppingRule.register("recall")
class RecallRule(SequentialTestRule):
    """Stop at a target recall, with the stated confidence, whatever the query strategy.

    Posts are labeled in the strategy's order until it seems exhausted, then in random order, until the hypothesis that
    recall is below the target is rejected (Callaghan and Müller-Hansen 2020, Systematic Reviews 9:273;
    `linker.annotation.stopping_rules.sequential_test` explains how it can be tested after every label). At most
    1 − confidence of all jobs stop below the target. Recall is measured against the labels as given.

    Paper: Callaghan and Müller-Hansen 2020, https://doi.org/10.1186/s13643-020-01521-4

    Args:
        target: share of all relevant posts to find, between 0 and 1.
        confidence: share of jobs that must reach the target, between 0 and 1.
        patience: the strategy counts as exhausted after at most this many labels in a row without a relevant post;
            after fewer if a tenth of the unlabeled posts or half the shortest sample is less.
    """

    def __init__(self, target: float = 0.95, confidence: float = 0.95, patience: int = 200) -> None:
        super().__init__(confidence, patience)
        if not 0 < target < 1:
            raise ValueError(f"target is {target}, but must be between 0 and 1")
        self.target = target

    def too_many(self, found: int, known: int, unlabeled: int) -> int:
        """Return the smallest total that would be too many; see `SequentialTestRule`."""
        # found / target may fall short of a whole number by rounding.
        return math.floor(found / self.target + 1e-9) + 1

    def reached(self) -> str:
        """Return the conclusion; see `SequentialTestRule`."""
        return f"recall is at least {self.target:.0%}"
