"""Ring attention in Triton: a program computes one head of a block of tokens, across texts."""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl
from torch import Tensor

from linker.modules.kernels.inputs import RingInput
from linker.modules.kernels.triton.newton import solve_tile, steps_of


@triton.jit
def text_of(token: tl.tensor, starts: tl.tensor, texts: tl.tensor) -> tl.tensor:
    """Find the text with starts[text] ≤ token < starts[text + 1] by bisection; the last one for tokens past the end."""
    low = token * 0
    high = token * 0 + texts
    width = texts
    while width > 1:
        middle = (low + high) // 2
        right = tl.load(starts + middle) <= token
        low = tl.where(right, middle, low)
        high = tl.where(right, high, middle)
        # Rounded up, so that this number of steps suffices for every token.
        width = (width + 1) // 2
    return low


# Count of numbers in the queries of a block of tokens.
_TILE = 1024


@triton.jit
def row_of(token: tl.tensor, there: tl.tensor, rows: tl.tensor, HAS_ROWS: tl.constexpr) -> tl.tensor:
    """Return each token's row in its table."""
    row = token.to(tl.int64)
    if HAS_ROWS:
        row = tl.load(rows + row, mask=there, other=0)
    return row


@triton.jit
def head_of(
    table: tl.tensor, row: tl.tensor, there: tl.tensor, width: tl.tensor, DIM: tl.constexpr, BD: tl.constexpr
) -> tl.tensor:
    """Load one head's part of a table with `width` columns: rows × BD; `table` points to the head's part of row 0."""
    d = tl.arange(0, BD)
    mask = there[:, None] & (d < DIM)[None, :]
    return tl.load(table + row[:, None] * width + d[None, :], mask=mask, other=0.0)


@triton.jit
def put(
    table: tl.tensor,
    row: tl.tensor,
    there: tl.tensor,
    width: tl.tensor,
    value: tl.tensor,
    DIM: tl.constexpr,
    BD: tl.constexpr,
) -> None:
    """Store what `head_of` loads."""
    d = tl.arange(0, BD)
    mask = there[:, None] & (d < DIM)[None, :]
    tl.store(table + row[:, None] * width + d[None, :], value, mask=mask)


@triton.jit(do_not_specialize=["tokens", "texts"])
def _forward(
    qkv: tl.tensor,
    rows: tl.tensor,
    own: tl.tensor,
    own_rows: tl.tensor,
    relay: tl.tensor,
    starts: tl.tensor,
    alpha: tl.tensor,
    context: tl.tensor,
    weights: tl.tensor,
    tokens: tl.tensor,
    texts: tl.tensor,
    HAS_ROWS: tl.constexpr,
    HAS_OWN: tl.constexpr,
    HAS_OWN_ROWS: tl.constexpr,
    HEADS: tl.constexpr,
    DIM: tl.constexpr,
    WINDOW: tl.constexpr,
    BT: tl.constexpr,
    BD: tl.constexpr,
    BW: tl.constexpr,
    STEPS: tl.constexpr,
    TOLERANCE: tl.constexpr,
) -> None:
    INNER: tl.constexpr = HEADS * DIM
    WIDTH: tl.constexpr = 2 * WINDOW + 3
    token = tl.program_id(0) * BT + tl.arange(0, BT)
    head = tl.program_id(1)
    there = token < tokens
    text = text_of(token, starts, texts).to(tl.int64)
    first, end = tl.load(starts + text), tl.load(starts + text + 1)
    row = row_of(token, there, rows, HAS_ROWS)
    query, key, value = qkv + head * DIM, qkv + INNER + head * DIM, qkv + 2 * INNER + head * DIM
    q = head_of(query, row, there, 3 * INNER, DIM, BD)
    column = tl.arange(0, BW)[None, :]
    scores = tl.full([BT, BW], float("-inf"), qkv.dtype.element_ty)
    for j in range(2 * WINDOW + 1):
        other = token + (j - WINDOW)
        exists = there & (other >= first) & (other < end)
        k = head_of(key, row_of(other, exists, rows, HAS_ROWS), exists, 3 * INNER, DIM, BD)
        score = tl.where(exists, tl.sum(q * k, 1), float("-inf"))
        scores = tl.where(column == j, score[:, None], scores)
    if HAS_OWN:
        own_row = row_of(token, there, own_rows, HAS_OWN_ROWS)
        k = head_of(own + head * DIM, own_row, there, 2 * INNER, DIM, BD)
        v = head_of(own + INNER + head * DIM, own_row, there, 2 * INNER, DIM, BD)
    else:
        k = head_of(key, row, there, 3 * INNER, DIM, BD)
        v = head_of(value, row, there, 3 * INNER, DIM, BD)
    relay_k = head_of(relay + head * DIM, text, there, 2 * INNER, DIM, BD)
    scores = tl.where(column == WIDTH - 2, tl.sum(q * k, 1)[:, None], scores)
    scores = tl.where(column == WIDTH - 1, tl.sum(q * relay_k, 1)[:, None], scores)
    a = tl.load(alpha + head + token * 0)
    p = solve_tile(scores, a, STEPS, TOLERANCE)
    at = (token.to(tl.int64) * HEADS + head)[:, None] * WIDTH + column
    tl.store(weights + at, p, mask=there[:, None] & (column < WIDTH))
    relay_v = head_of(relay + INNER + head * DIM, text, there, 2 * INNER, DIM, BD)
    total = tl.sum(tl.where(column == WIDTH - 2, p, 0.0), 1)[:, None] * v
    total += tl.sum(tl.where(column == WIDTH - 1, p, 0.0), 1)[:, None] * relay_v
    for j in range(2 * WINDOW + 1):
        other = token + (j - WINDOW)
        exists = there & (other >= first) & (other < end)
        near_v = head_of(value, row_of(other, exists, rows, HAS_ROWS), exists, 3 * INNER, DIM, BD)
        total += tl.sum(tl.where(column == j, p, 0.0), 1)[:, None] * near_v
    put(context + head * DIM, token.to(tl.int64), there, INNER, total, DIM, BD)


def ring_sizes(qkv: Tensor, alpha: Tensor, window: int) -> dict[str, Any]:
    """Return the constants that all kernels of the ring are compiled for."""
    heads = len(alpha)
    dim = qkv.shape[1] // (3 * heads)
    columns = triton.next_power_of_2(dim)
    block = max(1, min(64, _TILE // max(columns, triton.next_power_of_2(2 * window + 3))))
    return {"HEADS": heads, "DIM": dim, "WINDOW": window, "BT": block, "BD": columns}


def given_tables(
    rows: Tensor | None, own: Tensor | None, own_rows: Tensor | None, other: Tensor
) -> tuple[tuple[Tensor, ...], dict[str, bool]]:
    """Return the tables, with an unused tensor in place of None, and flags for those that are set."""
    given = (rows, own, own_rows)
    names = ("HAS_ROWS", "HAS_OWN", "HAS_OWN_ROWS")
    return (
        tuple(other if x is None else x for x in given),
        {name: x is not None for name, x in zip(names, given)},
    )


def ring_forward(ring: RingInput) -> tuple[Tensor, Tensor]:
    """Implement `RawKernels.ring_forward`."""
    qkv, rows, own, own_rows, relay, starts, alpha, window = ring
    tokens, texts, heads = len(qkv) if rows is None else len(rows), len(relay), len(alpha)
    sizes = ring_sizes(qkv, alpha, window)
    width = 2 * window + 3
    context, weights = qkv.new_empty(tokens, qkv.shape[1] // 3), qkv.new_empty(tokens, heads, width)
    tables, given = given_tables(rows, own, own_rows, qkv)
    grid = (triton.cdiv(tokens, sizes["BT"]), heads)
    columns = triton.next_power_of_2(width)
    steps = steps_of(qkv.dtype)
    _forward[grid](
        qkv,
        *tables,
        relay,
        starts,
        alpha,
        context,
        weights,
        tokens,
        texts,
        BW=columns,
        **given,
        **sizes,
        **steps,
    )
    return context, weights
