"""Triplet margin loss over all mined triplets, in memory linear in the number of pairs (Danovitch 2020, eq. 7)."""

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx
from typing_extensions import override

from linker.common.checks import at_least
from linker.modules.losses.loss import Loss
from linker.modules.miners import MinedPairs

# Number of rows sorted at once, which bounds the memory.
_ROWS = 256


@Loss.register("triplet_margin")
class TripletMarginLoss(Loss):
    """max(0, ‖a − p‖² − ‖a − n‖² + margin), averaged over the triplets where it is above 0.

    Equals pytorch-metric-learning's `TripletMarginLoss` with squared distances over the triplets of its miner, whose
    list of triplets grows with the cube of the batch. Here each article's negatives are sorted once, and the sum over
    the active negatives of a positive is found by binary search in prefix sums.

    Paper: Danovitch 2020, https://arxiv.org/abs/2001.03303

    Args:
        margin: margin in squared distance between unit vectors (2 − 2 cos), ≥ 0.
    """

    counts = "triplets"

    def __init__(self, margin: float = 0.15) -> None:
        at_least(0, margin=margin)
        super().__init__()
        self.margin = margin

    @override
    def forward(self, articles: Tensor, posts: Tensor, pairs: MinedPairs) -> Tensor:
        return _MeanActiveHinge.apply(
            squared_distances(articles, posts), pairs.positives, pairs.negatives, self.margin
        )


def squared_distances(articles: Tensor, posts: Tensor) -> Tensor:
    """Compute ‖a − p‖² of all pairs: float, A × P, ≥ 0, for A × D articles and P × D posts."""
    articles, posts = articles.to(_wide(articles)), posts.to(_wide(posts))
    distances = torch.addmm(posts.square().sum(1)[None], articles, posts.T, alpha=-2)
    return distances.add_(articles.square().sum(1)[:, None]).clamp_min_(0)


def _wide(x: Tensor) -> torch.dtype:
    return torch.float64 if x.dtype == torch.float64 else torch.float32


class _MeanActiveHinge(torch.autograd.Function):
    """Mean of [d_p − d_n + margin]₊ over the active (positive, negative) combinations of each row."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, distances: Tensor, positives: Tensor, negatives: Tensor, margin: float
    ) -> Tensor:
        gradient = torch.zeros_like(distances)
        total = torch.zeros((), dtype=torch.float64, device=distances.device)
        active = torch.zeros((), dtype=torch.float64, device=distances.device)
        for rows in torch.arange(len(distances), device=distances.device).split(_ROWS):
            part = slice(int(rows[0]), int(rows[-1]) + 1)
            row_total, row_active = _hinge_rows(
                distances[part].double(), positives[part], negatives[part], margin, gradient[part]
            )
            total, active = total + row_total, active + row_active
        active = active.clamp_min(1)
        ctx.save_for_backward(gradient, active)
        return (total / active).to(distances.dtype)

    @staticmethod
    def backward(ctx: FunctionCtx, upstream: Tensor) -> tuple[Tensor, None, None, None]:
        gradient, active = ctx.saved_tensors  # type: ignore[attr-defined]
        return gradient * (upstream / active).to(gradient.dtype), None, None, None


def _hinge_rows(
    d: Tensor, positives: Tensor, negatives: Tensor, margin: float, gradient: Tensor
) -> tuple[Tensor, Tensor]:
    """Sum and number of the active hinges of some rows; adds the sum's derivative by each distance to `gradient`.

    `d`, `positives`, `negatives` and `gradient` are rows × P.
    """
    reach = d + margin
    near, _ = d.masked_fill(~negatives, torch.inf).sort(1)  # (rows, P): sorted distances of negatives
    # Active with a positive: the negatives strictly nearer than its distance + margin.
    count = torch.searchsorted(near, reach).masked_fill_(~positives, 0)  # (rows, P)
    sums = torch.nn.functional.pad(
        near.masked_fill_(near == torch.inf, 0).cumsum_(1), (1, 0)
    )  # (rows, P + 1)
    total = (reach.masked_fill_(~positives, 0) * count - sums.gather(1, count)).sum()
    active = count.sum().double()
    gradient += count
    far, _ = (d + margin).masked_fill_(~positives, -torch.inf).sort(1)
    beyond = far.shape[1] - torch.searchsorted(far, d, right=True)
    gradient -= beyond.masked_fill_(~negatives, 0)
    return total, active
