"""The multi-similarity miner (Wang et al. 2019, section 4.2), in memory linear in the number of pairs."""

from __future__ import annotations

import torch
from torch import Tensor

from linker.modules.mining import MinedPairs, Miner


@Miner.register("multi_similarity")
class MultiSimilarityMiner(Miner):
    """Keeps positives less similar than the hardest negative, and negatives more similar than the hardest positive.

    Gives the pairs of pytorch-metric-learning's `MultiSimilarityMiner` with articles as anchors, as two masks
    instead of index lists.

    Args:
        epsilon: how far from the hardest pair (in cosine) a pair may lie and still be kept.
    """

    def __init__(self, epsilon: float = 0.1) -> None:
        super().__init__()
        self.epsilon = epsilon

    @torch.no_grad()
    def forward(self, articles: Tensor, posts: Tensor, relevance: Tensor) -> MinedPairs:
        """See `Miner.forward`."""
        similarity = articles.float() @ posts.float().T
        hardest_negative = similarity.masked_fill(relevance, -torch.inf).amax(1, keepdim=True)
        hardest_positive = similarity.masked_fill(~relevance, torch.inf).amin(1, keepdim=True)
        positives = relevance & (similarity - self.epsilon < hardest_negative)
        negatives = ~relevance & (similarity + self.epsilon > hardest_positive)
        return MinedPairs(positives, negatives)
