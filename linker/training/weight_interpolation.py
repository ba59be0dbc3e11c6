"""Weights between those that training began with and those that it made (Wortsman et al. 2022, section 3)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class InterpolatedWeights:
    """What a model began with, to be mixed into what it learned.

    A model that learned from few links tells their stories well apart, and others less well than before; halfway
    between the two it does both.

    Args:
        model: as training finds it.
        share: of the weights from the beginning, from 0 to 1.
    """

    def __init__(self, model: nn.Module, share: float) -> None:
        self._share = share
        self._start: list[Tensor] = [own.detach().clone() for own in _learning(model)] if share else []

    @contextmanager
    def applied(self, model: nn.Module) -> Iterator[None]:
        """The model with mixed weights; afterwards they are what they were, to the bit."""
        learned = [own.detach().clone() for own in _learning(model)] if self._share else []
        with torch.no_grad():
            for own, start in zip(_learning(model), self._start):
                own.lerp_(start, self._share)
        try:
            yield
        finally:
            with torch.no_grad():
                for own, before in zip(_learning(model), learned):
                    own.copy_(before)


def _learning(model: nn.Module) -> list[nn.Parameter]:
    return [parameter for parameter in model.parameters() if parameter.requires_grad]
