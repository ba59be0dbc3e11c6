"""Learning-rate drop and early stopping by the training loss alone (De Boom et al. 2016, algorithm 1)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from linker.common.checks import above, between
from linker.training.loss_rule import LossRule


@LossRule.register("drop_then_stop")
class DropThenStop(LossRule):
    """Lowers the learning rate once, when an epoch's mean loss rises, and then stops when the loss hardly falls.

    Args:
        factor: factor of the learning rate after the first epoch whose mean loss rose.
        least_fall: stop at the lowered rate when the loss falls by less than this from one epoch to the next. The
            paper says 0.05 % and compares the difference itself with 0.0005, as is done here.
    """

    def __init__(self, factor: float = 0.1, least_fall: float = 0.0005) -> None:
        above(0, factor=factor, least_fall=least_fall)
        between(0, 1, factor=factor)
        self.factor, self.least_fall = factor, least_fall

    def after(self, losses: Sequence[float]) -> tuple[float, bool]:
        """Return the factor of the next epoch's learning rate, and whether training stops; see `LossRule.after`."""
        lowered = False
        for before, now in pairwise(losses):
            # As printed, the paper's loop would end in the very epoch whose rise lowers the rate.
            if lowered and before - now < self.least_fall:
                return self.factor, True
            lowered = lowered or now > before
        return (self.factor if lowered else 1.0), False
