"""The family of embedders: from token ids to token vectors."""

from __future__ import annotations

from torch import Tensor, nn

from linker.config import Registrable
from linker.data.batch import TokenBatch


class Embedder(nn.Module, Registrable):
    """Turns the token ids of a batch into token vectors."""

    default_component = "word_vectors"

    output_dim: int

    def forward(self, batch: TokenBatch) -> Tensor:
        """float, (tokens of the batch) × output_dim."""
        raise NotImplementedError
