"""Stopping rule by a count."""

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
