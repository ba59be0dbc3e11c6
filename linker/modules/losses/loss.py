"""Base class of losses over article and post embeddings."""

from __future__ import annotations

from typing import Literal

from torch import Tensor, nn

from linker.config import Registrable
from linker.modules.miners import MinedPairs


class Loss(nn.Module, Registrable):
    """A loss over the mined pairs of a batch; without pairs it is 0 with zero gradients."""

    default_component = "triplet_margin"

    #: What the loss averages over, for the progress line.
    counts: Literal["pairs", "triplets"] = "pairs"

    def forward(self, articles: Tensor, posts: Tensor, pairs: MinedPairs) -> Tensor:
        """Compute the loss, a scalar.

        Args:
            articles: float, A × D; of unit length if the model's similarity is `cosine`.
            posts: float, P × D, like `articles`.
            pairs: the mined pairs, over A × P.
        """
        raise NotImplementedError
