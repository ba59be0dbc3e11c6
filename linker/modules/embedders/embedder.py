"""The family of embedders: from words to word vectors."""

from __future__ import annotations

from torch import Tensor, nn

from linker.config import Registrable
from linker.data.batch import TokenBatch


class Embedder(nn.Module, Registrable):
    """Turns the distinct words of a batch into vectors."""

    default_component = "word_vectors"

    output_dim: int

    def forward(self, batch: TokenBatch) -> Tensor:
        """float, (distinct words of the batch) × output_dim."""
        raise NotImplementedError
