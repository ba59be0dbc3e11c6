"""Stop when a recall is reached, with a stated confidence."""

from __future__ import annotations

import math

from linker.annotation.stopping_rules.sequential_test import SequentialTestRule
from linker.annotation.stopping_rules.stopping_rule import StoppingRule


@StoppingRule.register("recall")
class RecallRule(SequentialTestRule):
    """Stop when enough of all relevant posts are found, with the stated confidence, whatever the ordering.

    First posts are labelled in the strategy's order until it seems exhausted, then at random, until the hypothesis
    that recall is below the target can be dropped (Callaghan and Müller-Hansen 2020, Systematic Reviews 9:273;
    `linker.annotation.stopping_rules.sequential_test` says how it can be tested after every label). Of 100 jobs, at
    most 100 (1 − confidence) end below the target. That is about the labels as given: what annotators take for
    relevant.

    Args:
        target: the share of all relevant posts that must be found.
        confidence: in how many of all jobs that must be so, at least.
        patience: the ordering seems exhausted after so many labels in a row without a find.
    """

    def __init__(self, target: float = 0.95, confidence: float = 0.95, patience: int = 200) -> None:
        super().__init__(confidence, patience)
        if not 0 < target < 1:
            raise ValueError(f"target is {target}, but must be between 0 and 1")
        self.target = target

    def too_many(self, found: int, known: int, unlabelled: int) -> int:
        """See `SequentialTestRule.too_many`."""
        # found / target may fall short of a whole number by rounding.
        return math.floor(found / self.target + 1e-9) + 1

    def reached(self) -> str:
        """See `SequentialTestRule.reached`."""
        return f"recall is at least {self.target:.0%}"
