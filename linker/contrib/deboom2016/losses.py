"""The contrastive-based and the median-based loss (De Boom et al. 2016; equation 10 is the median-based one)."""

import torch
from torch import Tensor
from torch.nn import functional as F

from linker.common.checks import above
from linker.modules.losses.loss import Loss
from linker.modules.miners import MinedPairs


@Loss.register("contrastive_based")
class ContrastiveBasedLoss(Loss):
    """Mean over pairs of the Euclidean distance, with a minus for negative pairs.

    It has no margin, hence no lower bound except on unit vectors: keep weights small by other means.

    Paper: De Boom et al. 2016, https://arxiv.org/abs/1607.00570
    """

    def forward(self, articles: Tensor, posts: Tensor, pairs: MinedPairs) -> Tensor:
        """See `Loss.forward`."""
        distances, signs = signed_pairs(articles, posts, pairs)
        # Without pairs the gradient must be 0 instead of missing.
        return (signs * distances).sum() / max(len(signs), 1) + 0 * (articles.sum() + posts.sum())


def signed_pairs(articles: Tensor, posts: Tensor, pairs: MinedPairs) -> tuple[Tensor, Tensor]:
    """Return the mined pairs' Euclidean distances and signs (1, −1), float, positives first, then negatives."""
    positives, negatives = pairs.positives.nonzero(), pairs.negatives.nonzero()
    rows, columns = torch.cat([positives, negatives]).unbind(1)
    distances = torch.linalg.vector_norm(articles[rows] - posts[columns], dim=1)
    signs = distances.new_ones(len(rows))
    signs[len(positives) :] = -1
    return distances, signs


@Loss.register("median_based")
class MedianBasedLoss(Loss):
    """Mean over pairs of ln(1 + exp(−κ p (μ − d))), where μ is the batch's median distance d, and p is ±1.

    μ is an estimate of the threshold between related and unrelated pairs, so a batch should have as many of each (miner
    `balanced`). It is the distance of one pair, the lower of the two in the middle, and carries gradient.

    Paper: De Boom et al. 2016, https://arxiv.org/abs/1607.00570

    Args:
        kappa: κ, the steepness at the median; it must match the scale of the distances.
    """

    def __init__(self, kappa: float = 160.0) -> None:
        above(0, kappa=kappa)
        super().__init__()
        self.kappa = kappa

    def forward(self, articles: Tensor, posts: Tensor, pairs: MinedPairs) -> Tensor:
        """See `Loss.forward`."""
        distances, signs = signed_pairs(articles, posts, pairs)
        zero = 0 * (articles.sum() + posts.sum())
        if not len(distances):
            return zero
        return F.softplus(-self.kappa * signs * (distances.median() - distances)).mean() + zero
