"""Rules that change or end a training run by its training loss."""

from __future__ import annotations

from collections.abc import Sequence

from linker.config import Registrable


class LossRule(Registrable):
    """Base class of rules that scale the learning rate and end a run by its mean training losses.

    A rule keeps no state, so that a resumed run follows it like an uninterrupted one.
    """

    default_component = "drop_then_stop"

    def after(self, losses: Sequence[float]) -> tuple[float, bool]:
        """Return what follows from the epochs so far.

        Args:
            losses: the mean training loss of each epoch, in order.

        Returns:
            The factor of the scheduled learning rate in the next epoch, and whether training stops instead.
        """
        raise NotImplementedError
