"""The mean of the token vectors: the floor every encoder has to beat."""

from __future__ import annotations

import torch
from torch import Tensor

from linker.modules.encoder import Encoder


@Encoder.register("mean")
class MeanEncoder(Encoder):
    """The mean of a text's token vectors; learns nothing of its own."""

    def __init__(self, *, input_dim: int) -> None:
        super().__init__()
        self.input_dim = self.output_dim = input_dim

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """float, texts × input_dim; see `Encoder.forward`."""
        return torch.segment_reduce(tokens, "mean", lengths=lengths, unsafe=True)
