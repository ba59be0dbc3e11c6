"""Softmax over a batch in both directions (InfoNCE: van den Oord et al. 2018; both ways: Radford et al. 2021)."""

from __future__ import annotations

import torch
from torch import Tensor

from linker.bounds import above
from linker.modules.loss import Loss
from linker.modules.mining import MinedPairs


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
