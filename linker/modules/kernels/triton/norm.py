"""LeakyReLU(LayerNorm(dropout(x))) in Triton, with one pass over memory forward and one backward."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from linker.modules.kernels import dropout as hashing
from linker.modules.kernels.triton.ring import row_of

SPREAD = tl.constexpr(hashing.SPREAD)
FIRST = tl.constexpr(hashing.FIRST)
SECOND = tl.constexpr(hashing.SECOND)

# Count of numbers that a program holds at once, and of tokens that a program of the backward pass sums over.
_TILE = 2048
_STRIP = 64


@triton.jit
def _dropped(
    x: tl.tensor,
    number: tl.tensor,
    column: tl.tensor,
    D: tl.constexpr,
    KEEP: tl.constexpr,
    LIMIT: tl.constexpr,
    seed: tl.tensor,
) -> tl.tensor:
    """Compute x / KEEP where the hash of the position (see `dropout.kept`) is at least LIMIT, else 0."""
    place = number[:, None] * D + column[None, :]
    bits = place.to(tl.uint32) * SPREAD + seed.to(tl.uint32)
    bits = (bits ^ (bits >> 16)) * FIRST
    bits = (bits ^ (bits >> 13)) * SECOND
    bits = bits ^ (bits >> 16)
    return tl.where((bits >> 8) >= LIMIT, x * (1 / KEEP), 0.0)


@triton.jit(do_not_specialize=["tokens", "seed"])
def _forward(
    x: tl.tensor,
    weight: tl.tensor,
    bias: tl.tensor,
    output: tl.tensor,
    statistics: tl.tensor,
    tokens: tl.tensor,
    seed: tl.tensor,
    numbers: tl.tensor,
    D: tl.constexpr,
    KEEP: tl.constexpr,
    LIMIT: tl.constexpr,
    HAS_NUMBERS: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
) -> None:
    token = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    there, inside = token < tokens, (column < D)[None, :]
    at = token.to(tl.int64)[:, None] * D + column[None, :]
    v = tl.load(x + at, mask=there[:, None] & inside, other=0.0)
    if LIMIT > 0:
        v = _dropped(v, row_of(token, there, numbers, HAS_NUMBERS), column, D, KEEP, LIMIT, seed)
    mean = tl.sum(v, 1) / D
    centred = tl.where(inside, v - mean[:, None], 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 1) / D + 1e-5)
    w = tl.load(weight + column, mask=column < D, other=0.0)
    b = tl.load(bias + column, mask=column < D, other=0.0)
    y = centred * scale[:, None] * w[None, :] + b[None, :]
    tl.store(output + at, tl.where(y > 0, y, y * 0.01), mask=there[:, None] & inside)
    tl.store(statistics + 2 * token, mean, mask=there)
    tl.store(statistics + 2 * token + 1, scale, mask=there)


@triton.jit(do_not_specialize=["tokens", "seed"])
def _backward(
    gradient: tl.tensor,
    output: tl.tensor,
    x: tl.tensor,
    statistics: tl.tensor,
    weight: tl.tensor,
    for_x: tl.tensor,
    for_weight: tl.tensor,
    for_bias: tl.tensor,
    tokens: tl.tensor,
    seed: tl.tensor,
    numbers: tl.tensor,
    D: tl.constexpr,
    KEEP: tl.constexpr,
    LIMIT: tl.constexpr,
    HAS_NUMBERS: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    STRIP: tl.constexpr,
) -> None:
    column = tl.arange(0, COLUMNS)
    inside = (column < D)[None, :]
    w = tl.load(weight + column, mask=column < D, other=0.0)[None, :]
    # Each program sums over a strip of tokens in order, and the strips are summed afterwards, without atomics.
    weight_sum = tl.zeros([COLUMNS], x.dtype.element_ty)
    bias_sum = tl.zeros([COLUMNS], x.dtype.element_ty)
    for start in range(0, STRIP, ROWS):
        token = tl.program_id(0) * STRIP + start + tl.arange(0, ROWS)
        there = token < tokens
        at = token.to(tl.int64)[:, None] * D + column[None, :]
        both = there[:, None] & inside
        v = tl.load(x + at, mask=both, other=0.0)
        if LIMIT > 0:
            v = _dropped(v, row_of(token, there, numbers, HAS_NUMBERS), column, D, KEEP, LIMIT, seed)
        mean = tl.load(statistics + 2 * token, mask=there, other=0.0)
        scale = tl.load(statistics + 2 * token + 1, mask=there, other=0.0)[:, None]
        normed = tl.where(inside, (v - mean[:, None]) * scale, 0.0)
        g = tl.load(gradient + at, mask=both, other=0.0)
        positive = tl.load(output + at, mask=both, other=0.0) > 0
        g = tl.where(positive, g, g * 0.01)
        weight_sum += tl.sum(g * normed, 0)
        bias_sum += tl.sum(g, 0)
        g = g * w
        of_x = scale * (g - (tl.sum(g, 1) / D)[:, None] - normed * (tl.sum(g * normed, 1) / D)[:, None])
        if LIMIT > 0:
            of_x = _dropped(of_x, row_of(token, there, numbers, HAS_NUMBERS), column, D, KEEP, LIMIT, seed)
        tl.store(for_x + at, of_x, mask=both)
    at_sum = tl.program_id(0).to(tl.int64) * D + column
    tl.store(for_weight + at_sum, weight_sum, mask=column < D)
    tl.store(for_bias + at_sum, bias_sum, mask=column < D)


def _sizes(dim: int, dropout: float) -> dict[str, float]:
    columns = triton.next_power_of_2(dim)
    rows = min(_STRIP, max(1, _TILE // columns))
    limit = int(dropout * 2**24)
    return {"D": dim, "KEEP": 1 - dropout, "LIMIT": limit, "ROWS": rows, "COLUMNS": columns}


def norm_forward(
    x: Tensor, weight: Tensor, bias: Tensor, dropout: float, seed: int, numbers: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Implement `RawKernels.norm_forward`."""
    output, statistics = torch.empty_like(x), x.new_empty(len(x), 2)
    sizes = _sizes(x.shape[1], dropout)
    grid = (triton.cdiv(len(x), sizes["ROWS"]),)
    _forward[grid](
        x, weight, bias, output, statistics, len(x), seed, numbers, HAS_NUMBERS=numbers is not None, **sizes
    )
    return output, statistics


def norm_backward(
    gradient: Tensor,
    output: Tensor,
    x: Tensor,
    statistics: Tensor,
    weight: Tensor,
    dropout: float,
    seed: int,
    numbers: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Implement `RawKernels.norm_backward`."""
    strips = triton.cdiv(len(x), _STRIP)
    for_x = torch.empty_like(x)
    for_weight, for_bias = x.new_empty(strips, x.shape[1]), x.new_empty(strips, x.shape[1])
    _backward[(strips,)](
        gradient,
        output,
        x,
        statistics,
        weight,
        for_x,
        for_weight,
        for_bias,
        len(x),
        seed,
        numbers,
        HAS_NUMBERS=numbers is not None,
        STRIP=_STRIP,
        **_sizes(x.shape[1], dropout),
    )
    return for_x, for_weight.sum(0), for_bias.sum(0)
