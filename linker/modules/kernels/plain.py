"""The operations of the star transformer in plain torch: on any device, in any float type, with torch's gradients."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx
from torch.nn import functional as F

from linker.modules.dropout import draw_seed, dropout_mask
from linker.modules.kernels.inputs import RingInput, StarInput
from linker.modules.padding import pad_tokens
from linker.modules.precision import full_precision

# Ten suffice in float32; float64 stops by its tolerance.
_MAX_STEPS = {torch.float32: 10, torch.float64: 40}
# Closer to α = 1 the result equals softmax up to rounding.
_LEAST_EPSILON = 1e-6


def _solve(distance: Tensor, epsilon: Tensor) -> tuple[Tensor, Tensor]:
    """Solve entmax by Newton's method along the last axis.

    Args:
        distance: float, … × K: scores minus their maximum, ≤ 0.
        epsilon: α − 1, broadcasts against `distance`.

    Returns:
        Weights p and slopes p^(2 − α), both … × K.
    """
    shift = torch.zeros_like(distance[..., :1])
    power = 1 / epsilon
    tolerance = 4 * torch.finfo(distance.dtype).eps
    for _ in range(_MAX_STEPS[distance.dtype]):
        base = (1 + epsilon * (distance - shift)).clamp_min(0)
        slope = base ** (power - 1)
        # For α = 2, 0^0 = 1 would count entries outside the support.
        slope = torch.where(base > 0, slope, 0)
        total = (slope * base).sum(-1, keepdim=True)
        step = (
            (epsilon * total.log()).expm1() / epsilon * total ** (1 - epsilon) / slope.sum(-1, keepdim=True)
        )
        shift = shift + step
        if step.abs().max() <= tolerance:
            break
    scaled = epsilon * (distance - shift)
    inside = scaled > -1
    log_base = torch.where(inside, scaled, 0).log1p()
    weights = torch.where(inside, torch.exp(log_base * power), 0)
    slopes = torch.where(inside, torch.exp(log_base * (power - 1)), 0)
    # Rescaled so that the weights sum to 1 despite rounding.
    return weights / weights.sum(-1, keepdim=True), slopes


def _alpha_derivative(weights: Tensor, slopes: Tensor, epsilon: Tensor) -> Tensor:
    """∂p/∂α without cancellation as α → 1.

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
        epsilon = (alpha - 1).clamp_min(_LEAST_EPSILON)
        top = scores.amax(-1, keepdim=True)
        empty = top == -torch.inf
        # A fully masked row is solved as a row of zeros, then zeroed.
        weights, slopes = _solve(torch.where(empty, 0, scores - torch.where(empty, 0, top)), epsilon)
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


class PlainKernels:
    """The operations in plain torch, with torch's gradients; see `RingInput` and `StarInput` for the letters."""

    name = "plain"
    # Whether the time for a text is independent of the longest text in its batch.
    ragged = False

    @full_precision
    def entmax(self, scores: Tensor, alpha: Tensor) -> Tensor:
        """Compute α-entmax along the last axis; −inf is masked, a fully masked row gives zeros.

        Args:
            scores: float, … × K.
            alpha: of the same dtype, in [1, 2], broadcasts against `scores` with a last axis of 1.

        Returns:
            float, … × K.
        """
        if not alpha.requires_grad and bool((alpha == 1).all()):
            return torch.where(scores.amax(-1, keepdim=True) == -torch.inf, 0, torch.softmax(scores, -1))
        return _Entmax.apply(scores, alpha)

    @full_precision
    def ring(self, ring: RingInput) -> Tensor:
        """Compute the ring's attention.

        Returns:
            float, tokens × I: per head the values, weighted by the α-entmax of query · key.
        """
        qkv, rows, token, token_rows, relay, starts, alpha, window = ring
        heads = len(alpha)
        lengths = starts.diff()
        text = torch.repeat_interleave(torch.arange(len(lengths), device=starts.device), lengths)  # (tokens,)
        position = torch.arange(len(text), device=starts.device) - starts[text]  # (tokens,), within the text
        per_token = qkv if rows is None else qkv[rows]  # (tokens, 3I)
        # Each (tokens, H, d).
        query, key, value = (_split(part, heads) for part in per_token.chunk(3, -1))
        relay_key, relay_value = (_split(part, heads)[text] for part in relay.chunk(2, -1))
        token_key, token_value = key, value
        if token is not None:
            of_token = token if token_rows is None else token[token_rows]
            token_key, token_value = (_split(part, heads) for part in of_token.chunk(2, -1))
        scores = []
        for offset in range(-window, window + 1):
            neighbor = position + offset
            exists = (neighbor >= 0) & (neighbor < lengths[text])
            scores.append((query * _shift(key, offset)).sum(-1).masked_fill(~exists[:, None], -torch.inf))
        scores += [(query * token_key).sum(-1), (query * relay_key).sum(-1)]
        weights = self.entmax(torch.stack(scores, -1), alpha[:, None])  # (tokens, H, 2 · window + 3)
        context = weights[..., -2, None] * token_value + weights[..., -1, None] * relay_value
        for column, offset in enumerate(range(-window, window + 1)):
            context = context + weights[..., column, None] * _shift(value, offset)
        return context.flatten(1)

    @full_precision
    def norm(
        self, x: Tensor, weight: Tensor, bias: Tensor, dropout: float, numbers: Tensor | None = None
    ) -> Tensor:
        """Compute LeakyReLU(LayerNorm(dropout(x))) with torch's constants.

        Args:
            x: float, tokens × D.
            weight: float, D.
            bias: float, D.
            dropout: probability that a number becomes 0.
            numbers: int64, tokens: numbers that the mask depends on; None: 0, 1, …

        Returns:
            float, tokens × D.
        """
        if dropout:
            mask = dropout_mask(len(x), x.shape[1], dropout, draw_seed(dropout), x.device, numbers)
            x = torch.where(mask, x * (1 / (1 - dropout)), 0)
        return F.leaky_relu(F.layer_norm(x, x.shape[-1:], weight, bias))

    @full_precision
    def star(self, star: StarInput) -> tuple[Tensor, Tensor, Tensor]:
        """Compute the star's attention.

        Returns:
            mixture, float, H × texts × D: weighted sum of the relay and satellites of each text;
            maximum, float, texts × D: over the satellites of each text;
            weights, float, tokens × H: without gradient.
        """
        lengths = star.starts.diff()
        padded, mask = pad_tokens(star.satellites, lengths)  # (texts, longest, D), (texts, longest)
        if star.folded is not None:
            assert star.shift is not None
            keys = star.folded.permute(1, 2, 0)  # (texts, D, H)
            scores = padded @ keys + star.shift[:, None]
            relay_scores = (star.relay[:, None] @ keys).squeeze(1) + star.shift
        else:
            assert star.scores is not None
            assert star.relay_scores is not None
            scores, relay_scores = pad_tokens(star.scores, lengths)[0], star.relay_scores
        outside = ~mask[..., None]
        every = torch.cat([relay_scores[:, None], scores.masked_fill(outside, -torch.inf)], 1)
        weights = self.entmax(every.transpose(1, 2), star.alpha[:, None])  # (texts, H, 1 + longest)
        mixture = weights[..., 1:] @ padded + weights[..., :1] * star.relay[:, None]  # (texts, H, D)
        maximum = padded.masked_fill(outside, -torch.inf).amax(1)
        return mixture.transpose(0, 1), maximum, weights[..., 1:].transpose(1, 2)[mask].detach()


def _split(flat: Tensor, heads: int) -> Tensor:
    return flat.view(len(flat), heads, -1)


def _shift(x: Tensor, offset: int) -> Tensor:
    """Row i becomes row i + offset; rows from beyond the ends are zero (callers mask them)."""
    if offset == 0:
        return x
    size = min(abs(offset), len(x))
    gap = x.new_zeros(size, *x.shape[1:])
    return torch.cat([x[size:], gap]) if offset > 0 else torch.cat([gap, x[: len(x) - size]])
