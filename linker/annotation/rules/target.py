"""Stop when enough relevant posts are found."""

from __future__ import annotations

from linker.annotation.labels import Labels
from linker.annotation.stopping import Decision, StoppingRule
from linker.bounds import at_least


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
