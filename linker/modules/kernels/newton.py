"""α-entmax in plain torch by Newton's method (Peters et al. 2019, Correia et al. 2019).

For α in (1, 2], with ε = α − 1, the weights of scores z are p_i = [1 + ε (z_i − max z − t)]₊^(1/ε), where
t ≥ 0 makes them sum to 1. In this form log p_i = log1p(ε y_i) / ε, which stays exact down to α → 1, where it is
softmax with t the log-sum-exp. t is found by Newton's method on the norm ‖[1 + ε y]₊‖_(1/ε) = 1, which is convex
and decreasing in t, so the steps from t = 0 rise to the root without a bracket.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx

# Ten suffice in float32, and float64 stops by its tolerance.
_MAX_STEPS = {torch.float32: 10, torch.float64: 40}
# Nearer to α = 1 the result differs from softmax's by less than rounding.
_LEAST_EPSILON = 1e-6


def _solve(distance: Tensor, epsilon: Tensor) -> tuple[Tensor, Tensor]:
    """Weights p and slopes p^(2 − α) for scores given as distances z − max z ≤ 0, along the last axis."""
    shift = torch.zeros_like(distance[..., :1])
    power = 1 / epsilon
    tolerance = 4 * torch.finfo(distance.dtype).eps
    for _ in range(_MAX_STEPS[distance.dtype]):
        base = (1 + epsilon * (distance - shift)).clamp_min(0)
        slope = base ** (power - 1)
        # 0^0 = 1 would count what lies outside the support when α = 2.
        slope = torch.where(base > 0, slope, 0)
        total = (slope * base).sum(-1, keepdim=True)
        step = (
            torch.expm1(epsilon * total.log())
            / epsilon
            * total ** (1 - epsilon)
            / slope.sum(-1, keepdim=True)
        )
        shift = shift + step
        if step.abs().max() <= tolerance:
            break
    scaled = epsilon * (distance - shift)
    inside = scaled > -1
    log_base = torch.log1p(torch.where(inside, scaled, 0))
    weights = torch.where(inside, torch.exp(log_base * power), 0)
    slopes = torch.where(inside, torch.exp(log_base * (power - 1)), 0)
    # What rounding left over is spread in proportion, so that the weights sum to 1.
    return weights / weights.sum(-1, keepdim=True), slopes


def _alpha_derivative(weights: Tensor, slopes: Tensor, epsilon: Tensor) -> Tensor:
    """∂p/∂α, written so that nothing cancels as α → 1.

    With L = log p, a = expm1(−εL)/ε and b = (a + L)/ε it is p/Σp^(2−α) · [Σpb − b − L·Σpa − H·a], H the entropy.
    It equals the closed form of Correia et al. 2019, proposition 1, which divides 0 by 0 there.
    """
    log = torch.where(weights > 0, weights.clamp_min(torch.finfo(weights.dtype).tiny).log(), 0)
    x = -epsilon * log
    first = torch.expm1(x) / epsilon
    series = 0.5 + x / 6 * (1 + x / 4 * (1 + x / 5 * (1 + x / 6 * (1 + x / 7 * (1 + x / 8)))))
    quotient = torch.where(x > 0.05, (torch.expm1(x) - x) / x.clamp_min(0.05) ** 2, series)
    second = log * log * quotient
    entropy = -(weights * log).sum(-1, keepdim=True)
    mean_first = (weights * first).sum(-1, keepdim=True)
    mean_second = (weights * second).sum(-1, keepdim=True)
    inner = mean_second - second - log * mean_first - entropy * first
    return weights * inner / slopes.sum(-1, keepdim=True)


class _Entmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, scores: Tensor, alpha: Tensor) -> Tensor:
        top = scores.amax(-1, keepdim=True)
        empty = top == -torch.inf
        epsilon = (alpha - 1).clamp_min(_LEAST_EPSILON)
        # A row without any entry is solved as if it had one score, then zeroed.
        distance = torch.where(empty, 0, scores - torch.where(empty, 0, top))
        weights, slopes = _solve(distance, epsilon)
        weights, slopes = weights.masked_fill(empty, 0), slopes.masked_fill(empty, 0)
        ctx.save_for_backward(weights, slopes, epsilon)
        ctx.alpha_shape = alpha.shape  # type: ignore[attr-defined]
        return weights

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, Tensor | None]:
        weights, slopes, epsilon = ctx.saved_tensors  # type: ignore[attr-defined]
        for_scores = for_alpha = None
        total = slopes.sum(-1, keepdim=True).clamp_min(torch.finfo(slopes.dtype).tiny)
        if ctx.needs_input_grad[0]:  # type: ignore[attr-defined]
            weighted = gradient * slopes
            for_scores = weighted - slopes * (weighted.sum(-1, keepdim=True) / total)
        if ctx.needs_input_grad[1]:  # type: ignore[attr-defined]
            safe = torch.where(total > torch.finfo(slopes.dtype).tiny, slopes, 1)
            derivative = _alpha_derivative(weights, safe, epsilon)
            for_alpha = (gradient * derivative).sum_to_size(ctx.alpha_shape)  # type: ignore[attr-defined]
        return for_scores, for_alpha


def entmax_rows(scores: Tensor, alpha: Tensor) -> Tensor:
    """α-entmax along the last axis of … × K scores (−inf is masked); α broadcasts with a last axis of 1."""
    if not alpha.requires_grad and bool((alpha == 1).all()):
        return torch.where(scores.amax(-1, keepdim=True) == -torch.inf, 0, torch.softmax(scores, -1))
    return _Entmax.apply(scores, alpha)
