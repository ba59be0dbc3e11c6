"""Interpolation between initial and trained weights (WiSE-FT: Wortsman et al. 2022, section 3)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class InterpolatedWeights:
    """A model's initial weights, to be mixed with its trained ones.

    Fine-tuning on few links improves the model on their stories and makes it worse on others; interpolating with the
    initial weights keeps both.

    Args:
        model: the model before training.
        share: weight of the initial model, from 0 to 1.
    """

    def __init__(self, model: nn.Module, share: float) -> None:
        self._share = share
        self._start: list[Tensor] = [p.detach().clone() for p in _learning(model)] if share else []

    @contextmanager
    def applied(self, model: nn.Module) -> Iterator[None]:
        """Mix the weights of a model within the block; afterwards they are restored exactly."""
        learned = [p.detach().clone() for p in _learning(model)] if self._share else []
        with torch.no_grad():
            for parameter, start in zip(_learning(model), self._start):
                parameter.lerp_(start, self._share)
        try:
            yield
        finally:
            with torch.no_grad():
                for parameter, before in zip(_learning(model), learned):
                    parameter.copy_(before)


def _learning(model: nn.Module) -> list[nn.Parameter]:
    return [parameter for parameter in model.parameters() if parameter.requires_grad]
