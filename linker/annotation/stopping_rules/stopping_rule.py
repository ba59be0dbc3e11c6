"""The family of stopping rules: when enough posts have been labeled."""

from dataclasses import dataclass

from linker.annotation.pool import Labels
from linker.config import Registrable


@dataclass(frozen=True)
class Decision:
    """Whether to stop, and why.

    Attributes:
        stop: whether labeling can stop.
        reason: one sentence for the annotator, with the figures behind it.
        draw_at_random: whether the rule needs the next posts sampled at random instead of ranked by the query strategy.
    """

    stop: bool
    reason: str
    draw_at_random: bool = False


class StoppingRule(Registrable):
    """Base of stopping rules: decide after each label whether to continue, from labels and pool size alone."""

    def decide(self, labels: Labels, pool_size: int) -> Decision:
        """Decide whether labeling can stop.

        Args:
            labels: the labels so far.
            pool_size: number of distinct posts in the pool.

        Returns:
            The decision and its reason.
        """
        raise NotImplementedError
