"""The operations of the star transformer in plain torch: on any device, in any float type, with torch's gradients."""

import torch
from torch import Tensor
from torch.nn import functional as F

from linker.modules.dropout import draw_seed, dropout_mask
from linker.modules.kernels.inputs import RingInput, StarInput
from linker.modules.padding import pad_tokens
from linker.modules.precision import full_precision

_STEPS = 40
_TOLERANCE = 4 * torch.finfo(torch.float64).eps
# Closer to α = 1 the result equals softmax up to rounding.
_LEAST_EPSILON = 1e-6
# Masked scores, −∞, in finite numbers: their weight is 0 for every α.
_FARTHEST = -1e4


def _weights(distance: Tensor, epsilon: Tensor, threshold: Tensor) -> Tensor:
    """[1 + ε (z − τ)]₊^(1/ε), exact near ε = 0."""
    scaled = epsilon * (distance - threshold)
    inside = scaled > -1
    return torch.where(inside, torch.exp(torch.where(inside, scaled, 0).log1p() / epsilon), 0)


def _slopes(weights: Tensor, epsilon: Tensor) -> Tensor:
    """Minus the derivative of the weights' sum by the threshold: Σ p^(2 − α)."""
    return torch.where(weights > 0, weights ** (1 - epsilon), 0).sum(-1, keepdim=True)


@torch.no_grad()
def _threshold(distance: Tensor, epsilon: Tensor) -> Tensor:
    """Find the τ for which the weights sum to 1, by Newton's method on ‖[1 + ε (z − τ)]₊‖_(1/ε) = 1."""
    threshold = torch.zeros_like(distance[..., :1])
    for _ in range(_STEPS):
        weights = _weights(distance, epsilon, threshold)
        total = weights.sum(-1, keepdim=True)
        step = (epsilon * total.log()).expm1() / epsilon * total ** (1 - epsilon) / _slopes(weights, epsilon)
        threshold += step
        if step.abs().max() <= _TOLERANCE:
            break
    return threshold


class PlainKernels:
    """The operations in plain torch, with torch's gradients; see `RingInput` and `StarInput` for the letters."""

    name = "plain"
    # Whether the time for a text is independent of the longest text in its batch.
    ragged = False

    @full_precision
    def entmax(self, scores: Tensor, alpha: Tensor) -> Tensor:
        """Compute α-entmax along the last axis; −inf is masked. In float64: near α = 1, gradients divide by (α − 1)².

        Args:
            scores: float, … × K, at least one of each K not masked.
            alpha: in [1, 2], broadcasts against `scores` with a last axis of 1.

        Returns:
            float, … × K.
        """
        if not alpha.requires_grad and bool((alpha == 1).all()):
            return torch.softmax(scores, -1)
        wide, epsilon = scores.double(), (alpha.double() - 1).clamp_min(_LEAST_EPSILON)
        distance = (wide - wide.amax(-1, keepdim=True)).clamp_min(_FARTHEST)
        threshold = _threshold(distance, epsilon)
        # One more step of Newton's method, from the root, has the root's gradient.
        weights = _weights(distance, epsilon, threshold)
        threshold = threshold + (weights.sum(-1, keepdim=True) - 1) / _slopes(weights, epsilon).detach()
        return _weights(distance, epsilon, threshold).to(scores.dtype)

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
