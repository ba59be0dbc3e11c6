"""Contrastive loss with a margin, on cosine distance (Hadsell et al. 2006, equation 4)."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from linker.bounds import between
from linker.modules.loss import Loss
from linker.modules.mining import MinedPairs


@Loss.register("contrastive_margin")
class ContrastiveMarginLoss(Loss):
    """½ d² for positives and ½ max(0, margin − d)² for negatives, the mean over pairs; d = 1 − cosine.

    The same as sentence-transformers' `ContrastiveLoss`.

    Args:
        margin: negatives farther apart than this teach nothing.
    """

    def __init__(self, margin: float = 0.5) -> None:
        between(0, 2, margin=margin)
        super().__init__()
        self.margin = margin

    def forward(self, articles: Tensor, posts: Tensor, pairs: MinedPairs) -> Tensor:
        """See `Loss.forward`."""
        distances = 1 - F.normalize(articles, dim=1) @ F.normalize(posts, dim=1).T
        near = distances[pairs.positives].square().sum()
        far = F.relu(self.margin - distances[pairs.negatives]).square().sum()
        count = pairs.positives.sum() + pairs.negatives.sum()
        return 0.5 * (near + far) / count.clamp_min(1)
