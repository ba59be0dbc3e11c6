"""The multi-similarity miner (Wang et al. 2019, section 4.2), in memory linear in the number of pairs."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from linker.config import Registrable


@dataclass
class MinedPairs:
    """What a miner chose: both boolean, anchors (articles) × posts, never true at the same place."""

    positives: Tensor
    negatives: Tensor

    @property
    def triplets(self) -> Tensor:
        """How many (article, positive, negative) triplets the choice forms, as an int64 scalar."""
        return (self.positives.sum(1) * self.negatives.sum(1)).sum()

    @property
    def pairs(self) -> Tensor:
        """How many pairs were chosen, as an int64 scalar."""
        return self.positives.sum() + self.negatives.sum()


class Miner(nn.Module, Registrable):
    """Chooses pairs of a batch; the choice carries no gradient."""

    default_component = "multi_similarity"

    #: Does it leave pairs out? The progress line then speaks of mined pairs or triplets.
    chooses = True

    def forward(self, articles: Tensor, posts: Tensor, relevance: Tensor) -> MinedPairs:
        """Choose pairs.

        Args:
            articles: float, A × D, unit length: the anchors.
            posts: float, P × D, unit length.
            relevance: bool, A × P.
        """
        raise NotImplementedError


@Miner.register("all_pairs")
class AllPairsMiner(Miner):
    """Keeps every positive and every negative, for losses that weigh pairs themselves."""

    chooses = False

    def forward(self, articles: Tensor, posts: Tensor, relevance: Tensor) -> MinedPairs:
        """See `Miner.forward`."""
        return MinedPairs(relevance, ~relevance)


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
