"""Dropout for embedders and encoders that drops the same numbers however a batch is divided."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from linker.common.checks import between
from linker.modules.kernels.dropout import draw_seed, kept


class Dropout(nn.Module):
    """torch's dropout, with masks that follow from what each row stands for.

    torch's own works as well, but with several processes or chunks it drops other numbers than one process would.

    Args:
        dropout: share of the numbers that become 0 while training; the others grow by as much.
    """

    def __init__(self, dropout: float) -> None:
        between(0, 1, dropout=dropout)
        super().__init__()
        self.dropout = dropout

    def forward(self, x: Tensor, numbers: Tensor | None) -> Tensor:
        """float, rows × dim, like `x`.

        Args:
            x: float, rows × dim.
            numbers: int64, what each row stands for: `text_numbers`, `token_numbers`, a word's id; None counts rows.
        """
        if not self.training or not self.dropout:
            return x
        mask = kept(len(x), x.shape[1], self.dropout, draw_seed(self.dropout), x.device, numbers)
        return torch.where(mask, x, 0) * (1 / (1 - self.dropout) if self.dropout < 1 else 0.0)
