"""The median-based loss (De Boom et al. 2016, equation 10)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from linker.common.checks import above
from linker.modules.losses.loss import Loss
from linker.modules.miners import MinedPairs


@Loss.register("contrastive_based")
class ContrastiveBasedLoss(Loss):
    """The mean over pairs of the Euclidean distance, taken negative for negatives.

    Without a margin it has no lower bound but on vectors of unit length: keep weights small by other means.
    """

    def forward(self, articles: Tensor, posts: Tensor, pairs: MinedPairs) -> Tensor:
        """See `Loss.forward`."""
        distances, signs = signed_pairs(articles, posts, pairs)
        # Without pairs the gradient is to be 0 and not absent.
        return (signs * distances).sum() / max(len(signs), 1) + 0 * (articles.sum() + posts.sum())


def signed_pairs(articles: Tensor, posts: Tensor, pairs: MinedPairs) -> tuple[Tensor, Tensor]:
    """The chosen pairs' Euclidean distances, positives first, and 1 for each positive, −1 for each negative."""
    positives, negatives = pairs.positives.nonzero(), pairs.negatives.nonzero()
    rows, columns = torch.cat([positives, negatives]).unbind(1)
    distances = torch.linalg.vector_norm(articles[rows] - posts[columns], dim=1)
    signs = distances.new_ones(len(rows))
    signs[len(positives) :] = -1
    return distances, signs


@Loss.register("median_based")
class MedianBasedLoss(Loss):
    """ln(1 + exp(−κ p (μ − d))), the mean over pairs; μ is the batch's median distance, p ±1.

    μ stands for the threshold between related and unrelated pairs, so a batch should have as many of each (miner
    `balanced`). It is the distance of one pair, the lower of the two in the middle, and carries gradient.

    Args:
        kappa: how sharply a pair on the wrong side of the median is told from one on the right; it goes with the
            scale of the distances.
    """

    def __init__(self, kappa: float = 160.0) -> None:
        above(0, kappa=kappa)
        super().__init__()
        self.kappa = kappa

    def forward(self, articles: Tensor, posts: Tensor, pairs: MinedPairs) -> Tensor:
        """See `Loss.forward`."""
        distances, signs = signed_pairs(articles, posts, pairs)
        nothing = 0 * (articles.sum() + posts.sum())
        if not len(distances):
            return nothing
        return F.softplus(-self.kappa * signs * (distances.median() - distances)).mean() + nothing
