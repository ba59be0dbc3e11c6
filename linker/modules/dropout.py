"""Dropout for embedders and encoders whose masks do not depend on how a batch is divided."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from linker.common.checks import between
from linker.modules.kernels.dropout import draw_seed, dropout_mask


class Dropout(nn.Module):
    """Dropout with masks that are a function of each row's identity.

    `torch.nn.Dropout` works, too, but with several processes or chunks its masks differ from those of one process.

    Args:
        dropout: probability that a number becomes 0 in training, 0 to 1; the others are scaled by 1 / (1 − dropout).
    """

    def __init__(self, dropout: float) -> None:
        between(0, 1, dropout=dropout)
        super().__init__()
        self.dropout = dropout

    def forward(self, x: Tensor, numbers: Tensor | None) -> Tensor:
        """Apply dropout in training mode.

        Args:
            x: float, rows × dim.
            numbers: int64, rows: the identity of each row (`text_numbers`, `token_numbers`, or word ids); None: its
                index.

        Returns:
            float, rows × dim.
        """
        if not self.training or not self.dropout:
            return x
        mask = dropout_mask(len(x), x.shape[1], self.dropout, draw_seed(self.dropout), x.device, numbers)
        return torch.where(mask, x, 0) * (1 / (1 - self.dropout) if self.dropout < 1 else 0.0)
