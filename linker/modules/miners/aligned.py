"""No mining: the batch is a list of pairs."""

from __future__ import annotations

import torch
from torch import Tensor

from linker.modules.mining import MinedPairs, Miner


@Miner.register("aligned")
class AlignedMiner(Miner):
    """Takes the first article with the first post, the second with the second, and so on; for batches of pairs.

    Articles or posts that have no partner, such as remembered posts, are left out.
    """

    chooses = False

    @torch.no_grad()
    def forward(self, articles: Tensor, posts: Tensor, relevance: Tensor) -> MinedPairs:
        """See `Miner.forward`."""
        aligned = torch.eye(*relevance.shape, dtype=torch.bool, device=relevance.device)
        return MinedPairs(relevance & aligned, ~relevance & aligned)
