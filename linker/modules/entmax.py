"""α-entmax with a gradient for α: the sparse alternative to softmax (Peters et al. 2019, Correia et al. 2019)."""

from __future__ import annotations

import torch
from torch import Tensor

from linker.modules.kernels.dispatch import kernels_for


def entmax(scores: Tensor, alpha: Tensor | float, mask: Tensor | None = None) -> Tensor:
    """Compute α-entmax along the last axis.

    Args:
        scores: float, any shape; computed in float32 or float64, also under autocast.
        alpha: in [1, 2], 1 is softmax; a tensor must broadcast against `scores` with a last axis of 1.
        mask: bool, broadcasts against `scores`; false entries get weight 0 and no gradient.

    Returns:
        Weights of the shape of `scores` that sum to 1, with exact zeros; fully masked rows are all zero.

    Raises:
        ValueError: if `alpha` is a number outside [1, 2].
    """
    scores = scores if scores.dtype == torch.float64 else scores.float()
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    if not isinstance(alpha, Tensor):
        if not 1 <= alpha <= 2:
            raise ValueError(f"alpha: {alpha} is outside [1, 2]; 1 is softmax, 2 is sparsemax")
        alpha = torch.full((1,), float(alpha), dtype=scores.dtype, device=scores.device)
    return kernels_for(scores).entmax(scores, alpha.to(scores.dtype))
