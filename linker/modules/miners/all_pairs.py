"""No mining: every pair of the batch."""

from __future__ import annotations

from torch import Tensor

from linker.modules.mining import MinedPairs, Miner


@Miner.register("all_pairs")
class AllPairsMiner(Miner):
    """Keeps every positive and every negative, for losses that weigh pairs themselves."""

    chooses = False

    def forward(self, articles: Tensor, posts: Tensor, relevance: Tensor) -> MinedPairs:
        """See `Miner.forward`."""
        return MinedPairs(relevance, ~relevance)
