"""Autograd nodes over hand-written kernels: one node per operation of the star transformer.

A set of kernels (`RawKernels`) is a module of functions on tensors without autograd. `reference.py` defines what each
operation computes; the kernels are tested against it. All float tensors of a call have one dtype. Texts are
concatenated along the token axis, text i from starts[i] to starts[i + 1].
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor

from linker.modules.kernels.dropout import draw_seed
from linker.modules.kernels.inputs import RingInput, StarInput
from linker.modules.precision import full_precision


class RawKernels(Protocol):
    """Forward and backward passes for H heads of size d, I = H · d, and satellites of length D.

    All tensors are contiguous.
    """

    def entmax_forward(self, scores: Tensor, alpha: Tensor) -> Tensor:
        """Map scores (rows × K, −inf if masked) and α (rows) to weights (rows × K); fully masked rows are zero."""
        ...

    def entmax_backward(self, weights: Tensor, gradient: Tensor, alpha: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients of the scores (rows × K) and of α (rows)."""
        ...

    def ring_forward(
        self,
        ring: RingInput,
    ) -> tuple[Tensor, Tensor]:
        """Return the context (tokens × I) and the weights in the layout that `ring_backward` takes."""
        ...

    def ring_backward(
        self,
        gradient: Tensor,
        weights: Tensor,
        ring: RingInput,
    ) -> tuple[Tensor, Tensor | None, Tensor, Tensor]:
        """Return gradients of qkv (tokens × 3I) and own (tokens × 2I) per token, of relay (texts × 2I) and of α (H)."""
        ...

    def norm_forward(
        self, x: Tensor, weight: Tensor, bias: Tensor, dropout: float, seed: int, numbers: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Compute LeakyReLU(LayerNorm(dropout(x))) of x (tokens × D).

        Returns:
            The output, tokens × D, and each row's mean and 1 / standard deviation, tokens × 2.
        """
        ...

    def norm_backward(
        self,
        gradient: Tensor,
        output: Tensor,
        x: Tensor,
        statistics: Tensor,
        weight: Tensor,
        dropout: float,
        seed: int,
        numbers: Tensor | None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the gradients of x (tokens × D), weight (D) and bias (D).

        Args:
            gradient: gradient of the output, tokens × D.
            output: output of `norm_forward`, tokens × D.
            x: its input, tokens × D.
            statistics: its second result, tokens × 2.
            weight: of the layer norm, D.
            dropout: as in `norm_forward`.
            seed: as in `norm_forward`.
            numbers: as in `norm_forward`.
        """
        ...

    def star_forward(
        self,
        star: StarInput,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Compute the star's attention.

        Returns:
            Mixture (H × texts × D), the satellites' weights (tokens × H), the relay's (texts × H), the maximum
            (texts × D) and the token that has it (int64, texts × D; the first of equals).
        """
        ...

    def star_backward(
        self,
        gradient: Tensor,
        maximum_gradient: Tensor,
        where: Tensor,
        weights: Tensor,
        own_weights: Tensor,
        star: StarInput,
    ) -> tuple[Tensor, Tensor, Tensor | None, Tensor, Tensor, Tensor]:
        """Return the gradients of satellites, relay, folded (None without it), token scores, own scores and α.

        Args:
            gradient: gradient of the mixture, H × texts × D.
            maximum_gradient: gradient of the maximum, texts × D.
            where: result of `star_forward`, texts × D.
            weights: result of `star_forward`, tokens × H.
            own_weights: result of `star_forward`, texts × H.
            star: input of `star_forward`, without scores.
        """
        ...


class _Entmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, raw: RawKernels, scores: Tensor, alpha: Tensor) -> Tensor:
        weights = raw.entmax_forward(scores, alpha)
        ctx.raw = raw
        ctx.save_for_backward(weights, alpha)
        return weights

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        weights, alpha = ctx.saved_tensors
        return None, *ctx.raw.entmax_backward(weights, gradients[0].contiguous(), alpha)


class _Ring(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, raw: RawKernels, *fields: Any) -> Tensor:
        ring = RingInput(*fields)
        context, weights = raw.ring_forward(ring)
        ctx.raw, ctx.window = raw, ring.window
        ctx.save_for_backward(weights, *ring[:-1])
        return context

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        weights = ctx.saved_tensors[0]
        ring = RingInput._make((*ctx.saved_tensors[1:], ctx.window))
        found = ctx.raw.ring_backward(gradients[0].contiguous(), weights, ring)
        for_qkv, for_own, for_relay, for_alpha = found
        for_qkv = _sum_by_row(for_qkv, ring.rows, len(ring.qkv))
        if ring.own is not None:
            for_own = _sum_by_row(for_own, ring.own_rows, len(ring.own))
        return None, for_qkv, None, for_own, None, for_relay, None, for_alpha, None


def _sum_by_row(gradient: Tensor, rows: Tensor | None, count: int) -> Tensor:
    """Sum gradients per token to gradients per row of the table that the tokens were read from, in token order."""
    if rows is None:
        return gradient
    return torch.ops.aten.embedding_dense_backward(gradient, rows, count, -1, False)


class _Norm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        raw: RawKernels,
        x: Tensor,
        weight: Tensor,
        bias: Tensor,
        numbers: Tensor | None,
        dropout: float,
        seed: int,
    ) -> Tensor:
        output, statistics = raw.norm_forward(x, weight, bias, dropout, seed, numbers)
        ctx.raw, ctx.dropout, ctx.seed = raw, dropout, seed
        ctx.save_for_backward(output, x, statistics, weight, numbers)
        return output

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        output, x, statistics, weight, numbers = ctx.saved_tensors
        found = ctx.raw.norm_backward(
            gradients[0].contiguous(), output, x, statistics, weight, ctx.dropout, ctx.seed, numbers
        )
        return None, *found, None, None, None


class _Star(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, raw: RawKernels, *fields: Any) -> tuple[Tensor, Tensor, Tensor]:
        star = StarInput(*fields)
        mixture, weights, own_weights, maximum, where = raw.star_forward(star)
        ctx.raw = raw
        # Scores are not needed in the backward pass.
        ctx.save_for_backward(where, weights, own_weights, *fields[:5])
        ctx.mark_non_differentiable(weights)
        return mixture, maximum, weights

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        where, weights, own_weights, *tensors = ctx.saved_tensors
        star = StarInput(*tensors)
        for_satellites, for_relay, for_folded, for_scores, for_own, for_alpha = ctx.raw.star_backward(
            gradients[0].contiguous(), gradients[1].contiguous(), where, weights, own_weights, star
        )
        if for_folded is None:
            return None, for_satellites, for_relay, None, for_alpha, None, None, for_scores, for_own
        # The shift of a text is a summand of all its scores.
        lengths = star.starts.diff()
        for_shift = for_own + torch.segment_reduce(for_scores, "sum", lengths=lengths, unsafe=True)
        return None, for_satellites, for_relay, None, for_alpha, for_folded, for_shift, None, None


class FusedKernels:
    """The operations of `reference.PlainKernels` over a set of raw kernels."""

    ragged = True

    def __init__(self, name: str, raw: RawKernels) -> None:
        self.name, self._raw = name, raw

    @full_precision
    def entmax(self, scores: Tensor, alpha: Tensor) -> Tensor:
        """Compute what `PlainKernels.entmax` does."""
        flat = scores.reshape(-1, scores.shape[-1]).contiguous()
        per_row = alpha.expand(*scores.shape[:-1], 1).reshape(-1).contiguous()
        return _Entmax.apply(self._raw, flat, per_row).view(scores.shape)

    @full_precision
    def ring(self, ring: RingInput) -> Tensor:
        """Compute what `PlainKernels.ring` does."""
        return _Ring.apply(self._raw, *_contiguous(ring))

    @full_precision
    def norm(
        self, x: Tensor, weight: Tensor, bias: Tensor, dropout: float, numbers: Tensor | None = None
    ) -> Tensor:
        """Compute what `PlainKernels.norm` does."""
        return _Norm.apply(self._raw, *_contiguous((x, weight, bias, numbers)), dropout, draw_seed(dropout))

    @full_precision
    def star(self, star: StarInput) -> tuple[Tensor, Tensor, Tensor]:
        """Compute what `PlainKernels.star` does."""
        return _Star.apply(self._raw, *_contiguous(star))


def _contiguous(fields: tuple[Any, ...]) -> list[Any]:
    return [x.contiguous() if isinstance(x, Tensor) else x for x in fields]
