"""Contrastive loss with a margin, on cosine distance (Hadsell et al. 2006, equation 4)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from linker.common.checks import above, between
from linker.modules.losses.loss import Loss
from linker.modules.miners import MinedPairs


@Loss.register("info_nce")
class InfoNCELoss(Loss):
    """Every positive against the negatives of its article, and against the negatives of its post.

    The mean over positives of both cross entropies, added. Other positives of the same article stand in no denominator.
    Beside `nt_xent`, it looks both ways, and takes memory for articles × posts numbers only.

    Args:
        temperature: cosines are divided by it; smaller is sharper.
    """

    def __init__(self, temperature: float = 0.05) -> None:
        above(0, temperature=temperature)
        super().__init__()
        self.temperature = temperature

    def forward(self, articles: Tensor, posts: Tensor, pairs: MinedPairs) -> Tensor:
        """See `Loss.forward`."""
        logits = articles @ posts.T / self.temperature
        rows, columns = pairs.positives.nonzero(as_tuple=True)
        own = logits[rows, columns]
        against = logits.masked_fill(~pairs.negatives, -torch.inf)
        # The positive stands in its own denominator.
        by_article = torch.logaddexp(own, against.logsumexp(1)[rows]) - own
        by_post = torch.logaddexp(own, against.logsumexp(0)[columns]) - own
        # Without pairs the gradient is to be 0 and not absent.
        return (by_article + by_post).sum() / max(len(rows), 1) + 0 * (articles.sum() + posts.sum())


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
