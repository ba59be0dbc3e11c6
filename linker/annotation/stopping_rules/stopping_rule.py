"""The family of stopping rules: when enough posts have been labeled."""

from __future__ import annotations

from dataclasses import dataclass, replace

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


def while_held(decision: Decision, held: int) -> Decision:
    """Return the decision while other pages hold posts that the random sample could not contain.

    Args:
        decision: the rule's decision.
        held: number of these posts, at least 1.
    """
    posts = "1 post is" if held == 1 else f"{held:,} posts are"
    if not decision.stop:
        return replace(decision, reason=f"{posts} open on other pages; {decision.reason}")
    return Decision(False, f"{posts} open on other pages and may be relevant", draw_at_random=True)


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
