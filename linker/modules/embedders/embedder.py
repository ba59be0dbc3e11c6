"""Base class of embedders."""

from torch import Tensor, nn

from linker.config import Registrable
from linker.data.batch import TokenBatch


class Embedder(nn.Module, Registrable):
    """Turns the distinct words of a batch into vectors.

    Attributes:
        output_dim: length of the vectors.
    """

    default_component = "word_vectors"

    output_dim: int

    def forward(self, batch: TokenBatch) -> Tensor:
        """Return the vectors of the batch: float, distinct words × output_dim."""
        raise NotImplementedError
