"""Contrastive losses: InfoNCE in both directions, and pairwise with a margin."""

import torch
from torch import Tensor
from torch.nn import functional as F
from typing_extensions import override

from linker.common.checks import above, between
from linker.modules.losses.loss import Loss
from linker.modules.miners import MinedPairs


@Loss.register("info_nce")
class InfoNCELoss(Loss):
    """InfoNCE of every positive against the negatives of its article, plus against the negatives of its post.

    The sum of both cross entropies, averaged over positives. Other positives are not in the denominators. Unlike
    `nt_xent`, it is symmetric and needs memory for articles × posts numbers only.

    Paper: van den Oord et al. 2018, https://arxiv.org/abs/1807.03748

    Args:
        temperature: divisor of the cosines, > 0; smaller is sharper.
    """

    def __init__(self, temperature: float = 0.05) -> None:
        above(0, temperature=temperature)
        super().__init__()
        self.temperature = temperature

    @override
    def forward(self, articles: Tensor, posts: Tensor, pairs: MinedPairs) -> Tensor:
        logits = articles @ posts.T / self.temperature  # (A, P)
        rows, columns = pairs.positives.nonzero(as_tuple=True)
        positive = logits[rows, columns]  # (positives,)
        negatives = logits.masked_fill(~pairs.negatives, -torch.inf)  # (A, P)
        # The denominator includes the positive.
        by_article = torch.logaddexp(positive, negatives.logsumexp(1)[rows]) - positive
        by_post = torch.logaddexp(positive, negatives.logsumexp(0)[columns]) - positive
        # Keeps the graph without pairs, so that the gradient is 0 and not missing.
        return (by_article + by_post).sum() / max(len(rows), 1) + 0 * (articles.sum() + posts.sum())


@Loss.register("contrastive_margin")
class ContrastiveMarginLoss(Loss):
    """½ d² for positives and ½ max(0, margin − d)² for negatives, averaged over pairs; d = 1 − cosine.

    Hadsell et al. 2006, equation 4; equals sentence-transformers' `ContrastiveLoss`.

    Paper: Hadsell et al. 2006, https://doi.org/10.1109/CVPR.2006.100

    Args:
        margin: distance from which negatives have no loss, 0 to 2.
    """

    def __init__(self, margin: float = 0.5) -> None:
        between(0, 2, margin=margin)
        super().__init__()
        self.margin = margin

    @override
    def forward(self, articles: Tensor, posts: Tensor, pairs: MinedPairs) -> Tensor:
        distances = 1 - F.normalize(articles, dim=1) @ F.normalize(posts, dim=1).T  # (A, P)
        near = distances[pairs.positives].square().sum()
        far = F.relu(self.margin - distances[pairs.negatives]).square().sum()
        count = pairs.positives.sum() + pairs.negatives.sum()
        return 0.5 * (near + far) / count.clamp_min(1)
