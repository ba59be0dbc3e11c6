"""Rules that change or end a training run by its training loss."""

from __future__ import annotations

from collections.abc import Sequence

from linker.config import Registrable


class LossRule(Registrable):
    """Base class of rules that lower the learning rate, or stop the run, by the mean losses of its epochs."""

    default_component = "drop_then_stop"

    def after(self, losses: Sequence[float]) -> tuple[float, bool]:
        """Decide from the mean training losses of all epochs so far, which is all a resumed run knows.

        Returns:
            The factor of the learning rate in the next epoch, and whether to stop instead.
        """
        raise NotImplementedError
