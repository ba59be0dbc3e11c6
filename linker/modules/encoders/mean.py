"""Mean of the token vectors, the simplest baseline."""

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
