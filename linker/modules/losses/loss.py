"""The family of losses over article and post vectors."""

from __future__ import annotations

from typing import Literal

from torch import Tensor, nn

from linker.config import Registrable
from linker.modules.miners import MinedPairs


class Loss(nn.Module, Registrable):
    """A loss over the mined pairs of a batch; 0 with zero gradient where nothing can be learned."""

    default_component = "triplet_margin"

    #: What the loss adds up over, for the progress line.
    counts: Literal["pairs", "triplets"] = "pairs"

    def forward(self, articles: Tensor, posts: Tensor, pairs: MinedPairs) -> Tensor:
        """Scalar loss; articles float A × D and posts float P × D, unit length; pairs over A × P."""
        raise NotImplementedError
