"""The loss of cross-encoders: lists of a relevant pair and irrelevant ones."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F
from typing_extensions import override

from linker.common.checks import at_least
from linker.modules.losses.loss import Loss
from linker.modules.miners import MinedPairs


@Loss.register("listwise")
class ListwiseLoss(Loss):
    """Cross entropy of the relevant pair among the pairs of its list, averaged over lists.

    This is localized contrastive estimation (Gao, Dai and Callan 2021). It leaves open where scores are zero; a binary
    cross entropy of single pairs fixes that, in which a list's relevant pair weighs as much as its irrelevant ones
    together. For the batch sampler `hard_negatives`.

    Args:
        binary_weight: weight of the binary cross entropy, ≥ 0.
    """

    counts = "lists"

    def __init__(self, binary_weight: float = 0.3) -> None:
        at_least(0, binary_weight=binary_weight)
        super().__init__()
        self.binary_weight = binary_weight

    @override
    def forward(self, articles: Tensor, posts: Tensor, pairs: MinedPairs) -> Tensor:
        """Raise: embeddings have no lists."""
        raise NotImplementedError

    def list_loss(self, scores: Tensor) -> Tensor:
        """Return the loss, a scalar.

        Args:
            scores: float, lists × pairs; the first pair of each list is relevant. At least two pairs.
        """
        labels = torch.zeros_like(scores)
        labels[:, 0] = 1
        irrelevant = scores.shape[1] - 1
        binary = F.binary_cross_entropy_with_logits(
            scores, labels, pos_weight=scores.new_tensor(float(irrelevant))
        )
        return -torch.log_softmax(scores, dim=1)[:, 0].mean() + self.binary_weight * binary
