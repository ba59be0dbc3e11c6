"""α-entmax of rows × K scores in Triton: short rows as tiles in registers, long ones block by block."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from linker.modules.kernels.triton.newton import (
    gradient_row,
    gradient_tile,
    solve_row,
    solve_tile,
    steps_of,
    tiny_of,
)

# Number of scores that a program holds at once.
_TILE = 1024


@triton.jit(do_not_specialize=["rows"])
def _forward_tile(
    scores: tl.tensor,
    alpha: tl.tensor,
    weights: tl.tensor,
    rows: tl.tensor,
    size: tl.tensor,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    STEPS: tl.constexpr,
    TOLERANCE: tl.constexpr,
) -> None:
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    inside = (row < rows)[:, None] & (column < size)[None, :]
    at = row.to(tl.int64)[:, None] * size + column[None, :]
    z = tl.load(scores + at, mask=inside, other=float("-inf"))
    a = tl.load(alpha + row, mask=row < rows, other=2.0)
    tl.store(weights + at, solve_tile(z, a, STEPS, TOLERANCE), mask=inside)


@triton.jit
def _forward_row(
    scores: tl.tensor,
    alpha: tl.tensor,
    weights: tl.tensor,
    size: tl.tensor,
    BLOCK: tl.constexpr,
    STEPS: tl.constexpr,
    TOLERANCE: tl.constexpr,
) -> None:
    row = tl.program_id(0)
    at = row.to(tl.int64) * size
    a = tl.load(alpha + row)
    nothing = a * 0 + float("-inf")
    solve_row(scores + at, 1, size, nothing, a, weights + at, BLOCK, STEPS, TOLERANCE)


@triton.jit(do_not_specialize=["rows"])
def _backward_tile(
    weights: tl.tensor,
    gradient: tl.tensor,
    alpha: tl.tensor,
    for_scores: tl.tensor,
    for_alpha: tl.tensor,
    rows: tl.tensor,
    size: tl.tensor,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    TINY: tl.constexpr,
) -> None:
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    inside = (row < rows)[:, None] & (column < size)[None, :]
    at = row.to(tl.int64)[:, None] * size + column[None, :]
    p = tl.load(weights + at, mask=inside, other=0.0)
    g = tl.load(gradient + at, mask=inside, other=0.0)
    a = tl.load(alpha + row, mask=row < rows, other=2.0)
    of_scores, of_alpha = gradient_tile(p, g, a, TINY)
    tl.store(for_scores + at, of_scores, mask=inside)
    tl.store(for_alpha + row, of_alpha, mask=row < rows)


@triton.jit
def _backward_row(
    weights: tl.tensor,
    gradient: tl.tensor,
    alpha: tl.tensor,
    for_scores: tl.tensor,
    for_alpha: tl.tensor,
    size: tl.tensor,
    BLOCK: tl.constexpr,
    TINY: tl.constexpr,
) -> None:
    row = tl.program_id(0)
    at = row.to(tl.int64) * size
    a = tl.load(alpha + row)
    zero = a * 0
    _, of_alpha = gradient_row(
        weights + at, gradient + at, 1, size, zero, zero, a, for_scores + at, BLOCK, TINY
    )
    tl.store(for_alpha + row, of_alpha)


def _tile(size: int) -> tuple[int, int]:
    """Rows and columns of a tile."""
    columns = triton.next_power_of_2(size)
    return max(1, _TILE // columns), columns


def entmax_forward(scores: Tensor, alpha: Tensor) -> Tensor:
    """Implement `RawKernels.entmax_forward`."""
    rows, size = scores.shape
    weights = torch.empty_like(scores)
    if not scores.numel():
        return weights
    steps = steps_of(scores.dtype)
    if size <= _TILE:
        block, columns = _tile(size)
        grid = (triton.cdiv(rows, block),)
        _forward_tile[grid](scores, alpha, weights, rows, size, ROWS=block, COLUMNS=columns, **steps)
    else:
        _forward_row[(rows,)](scores, alpha, weights, size, BLOCK=_TILE, **steps)
    return weights


def entmax_backward(weights: Tensor, gradient: Tensor, alpha: Tensor) -> tuple[Tensor, Tensor]:
    """Implement `RawKernels.entmax_backward`."""
    rows, size = weights.shape
    for_scores, for_alpha = torch.empty_like(weights), torch.zeros_like(alpha)
    if not weights.numel():
        return for_scores, for_alpha
    answers, tiny = (for_scores, for_alpha), tiny_of(weights.dtype)
    if size <= _TILE:
        block, columns = _tile(size)
        grid = (triton.cdiv(rows, block),)
        _backward_tile[grid](
            weights, gradient, alpha, *answers, rows, size, ROWS=block, COLUMNS=columns, TINY=tiny
        )
    else:
        _backward_row[(rows,)](weights, gradient, alpha, *answers, size, BLOCK=_TILE, TINY=tiny)
    return for_scores, for_alpha
