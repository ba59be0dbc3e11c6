"""Learning rate and end of a run by the training loss alone (De Boom et al. 2016, algorithm 1)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from linker.common.checks import above, between


class LossRule:
    """Lower the learning rate once, when an epoch's mean loss rises; then stop when it hardly falls any more.

    Args:
        factor: what the learning rate is multiplied with from then on.
        least_fall: stop at the lowered rate when the loss falls by less than this from one epoch to the next. The
            paper says 0.05 % and compares the difference itself with 0.0005, which is done here.
    """

    def __init__(self, factor: float = 0.1, least_fall: float = 0.0005) -> None:
        above(0, factor=factor, least_fall=least_fall)
        between(0, 1, factor=factor)
        self.factor, self.least_fall = factor, least_fall

    def after(self, losses: Sequence[float]) -> tuple[float, bool]:
        """What follows from the mean losses of all epochs so far; no other memory, so a run may be resumed.

        Returns:
            The factor for the learning rate of the next epoch, and whether there is to be none.
        """
        lowered = False
        for before, now in pairwise(losses):
            # As printed, the paper's loop would end in the very epoch whose rise lowers the rate.
            if lowered and before - now < self.least_fall:
                return self.factor, True
            lowered = lowered or now > before
        return (self.factor if lowered else 1.0), False
