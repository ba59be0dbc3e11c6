"""The contrastive-based loss: the signed distance of pairs (De Boom et al. 2016, equation 6)."""

from __future__ import annotations

import torch
from torch import Tensor

from linker.modules.loss import Loss
from linker.modules.mining import MinedPairs


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
