"""How far the vectors of a batch of texts are from those that a teacher gave them."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

# How sharply the teacher tells near texts from far ones.
SHARPNESS = 20.0


def unlikeness(given: Tensor, wanted: Tensor) -> tuple[Tensor, float]:
    """Twice the mean angle's lack of cosine, and the divergence of the texts' neighbourhoods, added.

    Args:
        given: float, texts × dim, of unit length.
        wanted: the teacher's, likewise.

    Returns:
        The sum, to be made small, and the mean cosine.
    """
    cosine = (given * wanted).sum(1).mean()
    return 2 * (1 - cosine) + _neighbours(given, wanted), float(cosine.detach())


def _neighbours(given: Tensor, wanted: Tensor) -> Tensor:
    """How far the texts' likeness to each other is from that which the teacher sees: a mean divergence in nats."""
    itself = torch.eye(len(given), dtype=torch.bool, device=given.device)
    ours = torch.log_softmax((SHARPNESS * given @ given.T).masked_fill(itself, -1e4), dim=1)
    theirs = torch.softmax((SHARPNESS * wanted @ wanted.T).masked_fill(itself, -1e4), dim=1)
    return F.kl_div(ours, theirs, reduction="batchmean")
