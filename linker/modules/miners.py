"""Miners: which pairs of a batch a loss is computed over; memory is linear in the number of pairs."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from typing_extensions import override

from linker.config import Registrable


@dataclass
class MinedPairs:
    """The pairs that a miner selected.

    Attributes:
        positives: bool, articles × posts: selected relevant pairs.
        negatives: bool, articles × posts: selected irrelevant pairs.
    """

    positives: Tensor
    negatives: Tensor

    @property
    def triplets(self) -> Tensor:
        """Number of (article, positive, negative) triplets, an int64 scalar."""
        return (self.positives.sum(1) * self.negatives.sum(1)).sum()

    @property
    def pairs(self) -> Tensor:
        """Number of selected pairs, an int64 scalar."""
        return self.positives.sum() + self.negatives.sum()


class Miner(nn.Module, Registrable):
    """Selects pairs of a batch, without gradient."""

    default_component = "multi_similarity"

    #: Whether it leaves pairs out; the progress line then says "mined".
    chooses = True

    def forward(self, articles: Tensor, posts: Tensor, relevance: Tensor) -> MinedPairs:
        """Select pairs.

        Args:
            articles: float, A × D, embeddings of unit length: the anchors.
            posts: float, P × D, embeddings of unit length.
            relevance: bool, A × P: true where the post discusses the article.

        Returns:
            The selected positive and negative pairs.
        """
        raise NotImplementedError


@Miner.register("all_pairs")
class AllPairsMiner(Miner):
    """Selects every pair, for losses that weight pairs themselves."""

    chooses = False

    @override
    def forward(self, articles: Tensor, posts: Tensor, relevance: Tensor) -> MinedPairs:
        return MinedPairs(relevance, ~relevance)


@Miner.register("aligned")
class AlignedMiner(Miner):
    """Selects the i-th article with the i-th post, for batches of pairs.

    Articles or posts without a counterpart are left out.
    """

    chooses = False

    @override
    @torch.no_grad()
    def forward(self, articles: Tensor, posts: Tensor, relevance: Tensor) -> MinedPairs:
        aligned = torch.eye(*relevance.shape, dtype=torch.bool, device=relevance.device)
        return MinedPairs(relevance & aligned, ~relevance & aligned)


@Miner.register("balanced")
class BalancedMiner(Miner):
    """Selects equal numbers of positives and negatives per article: the posts that follow in the batch.

    Batches are shuffled, so the posts that follow are a random sample. If an article has more positives than negatives,
    some positives are left out: losses that compare both need equal numbers.
    """

    @override
    @torch.no_grad()
    def forward(self, articles: Tensor, posts: Tensor, relevance: Tensor) -> MinedPairs:
        count = torch.minimum(relevance.sum(1), (~relevance).sum(1))[:, None]  # (A, 1)
        first = relevance.int().argmax(1, keepdim=True)  # (A, 1)
        columns = torch.arange(relevance.shape[1], device=relevance.device)
        # Each row starts at its first positive and wraps around: (A, P).
        order = (columns + first) % max(relevance.shape[1], 1)
        rotated = relevance.gather(1, order)
        positives, negatives = torch.zeros_like(relevance), torch.zeros_like(relevance)
        positives.scatter_(1, order, rotated & (rotated.cumsum(1) <= count))
        negatives.scatter_(1, order, ~rotated & ((~rotated).cumsum(1) <= count))
        return MinedPairs(positives, negatives)


@Miner.register("multi_similarity")
class MultiSimilarityMiner(Miner):
    """Selects positives less similar than the hardest negative, and negatives more similar than the hardest positive.

    Wang et al. 2019, section 4.2. Selects the same pairs as pytorch-metric-learning's `MultiSimilarityMiner` with
    articles as anchors, as two masks instead of lists of indices.

    Paper: Wang et al. 2019, https://arxiv.org/abs/1904.06627

    Args:
        epsilon: margin, in cosine, by which a pair may be easier than the hardest one and still be selected.
    """

    def __init__(self, epsilon: float = 0.1) -> None:
        super().__init__()
        self.epsilon = epsilon

    @override
    @torch.no_grad()
    def forward(self, articles: Tensor, posts: Tensor, relevance: Tensor) -> MinedPairs:
        similarity = articles.float() @ posts.float().T  # (A, P)
        hardest_negative = similarity.masked_fill(relevance, -torch.inf).amax(1, keepdim=True)  # (A, 1)
        hardest_positive = similarity.masked_fill(~relevance, torch.inf).amin(1, keepdim=True)  # (A, 1)
        positives = relevance & (similarity - self.epsilon < hardest_negative)
        negatives = ~relevance & (similarity + self.epsilon > hardest_positive)
        return MinedPairs(positives, negatives)
