"""The mean of the token vectors: the floor every encoder has to beat."""

from __future__ import annotations

import torch
from torch import Tensor

from linker.modules.encoders.encoder import Encoder


@Encoder.register("mean")
class MeanEncoder(Encoder):
    """The mean of a text's token vectors; learns nothing of its own."""

    def __init__(self, *, input_dim: int) -> None:
        super().__init__()
        self.input_dim = self.output_dim = input_dim

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """float, texts × input_dim; see `Encoder.forward`."""
        return torch.segment_reduce(tokens, "mean", lengths=lengths, unsafe=True)

    def token_weights(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Each token's share of the text vector's length: its projection on that vector, 0 where it points away."""
        mean = self(tokens, lengths)
        along = (tokens * torch.nn.functional.normalize(mean, dim=-1).repeat_interleave(lengths, 0)).sum(-1)
        along = along.clamp_min(0)
        total = torch.segment_reduce(along, "sum", lengths=lengths, unsafe=True).clamp_min(1e-12)
        return along / total.repeat_interleave(lengths, 0)
