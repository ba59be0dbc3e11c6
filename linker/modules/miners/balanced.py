"""As many unrelated pairs as related ones, not the hardest but any."""

from __future__ import annotations

import torch
from torch import Tensor

from linker.modules.mining import MinedPairs, Miner


@Miner.register("balanced")
class BalancedMiner(Miner):
    """Keeps every article's positives and as many negatives: the posts that come next in the batch.

    Batches are shuffled, so the next post is a random one; no other chance is involved. Where an article has more
    positives than negatives, some are left out: losses that compare both kinds need equal numbers.
    """

    @torch.no_grad()
    def forward(self, articles: Tensor, posts: Tensor, relevance: Tensor) -> MinedPairs:
        """See `Miner.forward`."""
        count = torch.minimum(relevance.sum(1), (~relevance).sum(1))[:, None]
        first = relevance.int().argmax(1, keepdim=True)
        columns = torch.arange(relevance.shape[1], device=relevance.device)
        # Each row read from its first positive on, round to the column before it.
        round_trip = (columns + first) % max(relevance.shape[1], 1)
        turned = relevance.gather(1, round_trip)
        positives, negatives = torch.zeros_like(relevance), torch.zeros_like(relevance)
        positives.scatter_(1, round_trip, turned & (turned.cumsum(1) <= count))
        negatives.scatter_(1, round_trip, ~turned & ((~turned).cumsum(1) <= count))
        return MinedPairs(positives, negatives)
