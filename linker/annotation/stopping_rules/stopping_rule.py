"""The family of stopping rules: when enough has been labelled."""

from __future__ import annotations

from dataclasses import dataclass

from linker.annotation.pool import Labels
from linker.config import Registrable


@dataclass(frozen=True)
class Decision:
    """What a rule says.

    Attributes:
        stop: may labelling end here?
        reason: one sentence for the annotator, with the figures it rests on.
        draw_at_random: the rule needs the next posts drawn at random, not in the strategy's order.
    """

    stop: bool
    reason: str
    draw_at_random: bool = False


class StoppingRule(Registrable):
    """Says after each label whether to go on. A function of the labels and of how many posts there are."""

    def decide(self, labels: Labels, pool_size: int) -> Decision:
        """May labelling stop, given these labels of a pool of so many distinct posts?"""
        raise NotImplementedError
