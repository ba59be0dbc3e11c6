"""Plain stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn
from torch.optim import Optimizer as TorchOptimizer

from linker.bounds import above, at_least
from linker.training.optimizers import Optimizer


@Optimizer.register("sgd")
class SGD(Optimizer):
    """Stochastic gradient descent without momentum.

    Args:
        lr: learning rate.
        l2: λ of a term λ Σ w² beside the loss; torch's `weight_decay` is twice that.
    """

    def __init__(self, lr: float = 0.01, l2: float = 0.0) -> None:
        above(0, lr=lr)
        at_least(0, l2=l2)
        self.lr, self.l2 = lr, l2

    def build(self, parameters: Iterable[nn.Parameter]) -> TorchOptimizer:
        """See `Optimizer.build`."""
        return torch.optim.SGD(parameters, lr=self.lr, weight_decay=2 * self.l2)
