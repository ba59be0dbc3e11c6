"""Mean of the token vectors, the simplest baseline."""

from __future__ import annotations

import torch
from torch import Tensor
from typing_extensions import override

from linker.modules.encoders.encoder import Encoder


@Encoder.register("mean")
class MeanEncoder(Encoder):
    """Mean of a text's token vectors, without parameters."""

    def __init__(self, *, input_dim: int) -> None:
        super().__init__()
        self.input_dim = self.output_dim = input_dim

    @override
    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        return torch.segment_reduce(tokens, "mean", lengths=lengths, unsafe=True)

    def token_weights(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Return each token's projection on the mean, divided by their sum per text; 0 for tokens that point away."""
        mean = self(tokens, lengths)  # (texts, dim)
        along = (tokens * torch.nn.functional.normalize(mean, dim=-1).repeat_interleave(lengths, 0)).sum(-1)
        along = along.clamp_min(0)
        total = torch.segment_reduce(along, "sum", lengths=lengths, unsafe=True).clamp_min(1e-12)
        return along / total.repeat_interleave(lengths, 0)
