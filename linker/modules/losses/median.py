"""The median-based loss (De Boom et al. 2016, equation 10)."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from linker.bounds import above
from linker.modules.loss import Loss
from linker.modules.losses.contrastive import signed_pairs
from linker.modules.mining import MinedPairs


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
