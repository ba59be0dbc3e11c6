"""Learning-rate drop and early stopping by the training loss (De Boom et al. 2016, algorithm 1)."""

from collections.abc import Sequence
from itertools import pairwise

from linker.common.checks import above, between
from linker.training.optimizers import LossRule


@LossRule.register("drop_then_stop")
class DropThenStop(LossRule):
    """Lower the learning rate once, after the first epoch whose mean loss rises; stop when the loss levels off.

    Paper: De Boom et al. 2016, https://arxiv.org/abs/1607.00570

    Args:
        factor: multiplier of the learning rate from then on.
        min_delta: stop at the lowered rate if the loss falls by less than this from one epoch to the next. The
            paper says 0.05 % and compares the difference itself with 0.0005, as is done here.
    """

    def __init__(self, factor: float = 0.1, min_delta: float = 0.0005) -> None:
        above(0, factor=factor, min_delta=min_delta)
        between(0, 1, factor=factor)
        self.factor, self.min_delta = factor, min_delta

    def after(self, losses: Sequence[float]) -> tuple[float, bool]:
        """See `LossRule.after`."""
        lowered = False
        for before, now in pairwise(losses):
            # As printed, the paper's loop would end in the same epoch whose rise lowers the rate.
            if lowered and before - now < self.min_delta:
                return self.factor, True
            lowered = lowered or now > before
        return (self.factor if lowered else 1.0), False
