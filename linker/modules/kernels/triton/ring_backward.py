"""Gradients of ring attention in Triton.

Each token gathers the gradients from its neighbors, so no atomics are needed and results are reproducible bit by bit.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from linker.modules.kernels.inputs import RingInput
from linker.modules.kernels.triton.newton import gradient_tile, tiny_of
from linker.modules.kernels.triton.ring import given_tables, head_of, put, ring_sizes, row_of, text_of


@triton.jit(do_not_specialize=["tokens", "texts"])
def _backward_queries(
    gradient: tl.tensor,
    weights: tl.tensor,
    qkv: tl.tensor,
    rows: tl.tensor,
    own: tl.tensor,
    own_rows: tl.tensor,
    relay: tl.tensor,
    starts: tl.tensor,
    alpha: tl.tensor,
    for_scores: tl.tensor,
    for_qkv: tl.tensor,
    for_own: tl.tensor,
    for_alpha: tl.tensor,
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
    TINY: tl.constexpr,
) -> None:
    """Compute the gradients of the attending token: scores, queries, own keys and values, α (a sum per block)."""
    INNER: tl.constexpr = HEADS * DIM
    WIDTH: tl.constexpr = 2 * WINDOW + 3
    token = tl.program_id(0) * BT + tl.arange(0, BT)
    head = tl.program_id(1)
    there = token < tokens
    text = text_of(token, starts, texts).to(tl.int64)
    first, end = tl.load(starts + text), tl.load(starts + text + 1)
    row = row_of(token, there, rows, HAS_ROWS)
    key, value = qkv + INNER + head * DIM, qkv + 2 * INNER + head * DIM
    column = tl.arange(0, BW)[None, :]
    g = head_of(gradient + head * DIM, token.to(tl.int64), there, INNER, DIM, BD)
    for_weights = tl.zeros([BT, BW], qkv.dtype.element_ty)
    for j in range(2 * WINDOW + 1):
        other = token + (j - WINDOW)
        exists = there & (other >= first) & (other < end)
        near_v = head_of(value, row_of(other, exists, rows, HAS_ROWS), exists, 3 * INNER, DIM, BD)
        for_weights = tl.where(column == j, tl.sum(g * near_v, 1)[:, None], for_weights)
    if HAS_OWN:
        own_row = row_of(token, there, own_rows, HAS_OWN_ROWS)
        k = head_of(own + head * DIM, own_row, there, 2 * INNER, DIM, BD)
        v = head_of(own + INNER + head * DIM, own_row, there, 2 * INNER, DIM, BD)
    else:
        k = head_of(key, row, there, 3 * INNER, DIM, BD)
        v = head_of(value, row, there, 3 * INNER, DIM, BD)
    relay_k = head_of(relay + head * DIM, text, there, 2 * INNER, DIM, BD)
    relay_v = head_of(relay + INNER + head * DIM, text, there, 2 * INNER, DIM, BD)
    for_weights = tl.where(column == WIDTH - 2, tl.sum(g * v, 1)[:, None], for_weights)
    for_weights = tl.where(column == WIDTH - 1, tl.sum(g * relay_v, 1)[:, None], for_weights)
    at = (token.to(tl.int64) * HEADS + head)[:, None] * WIDTH + column
    inside = there[:, None] & (column < WIDTH)
    p = tl.load(weights + at, mask=inside, other=0.0)
    a = tl.load(alpha + head + token * 0)
    s, of_alpha = gradient_tile(p, for_weights, a, TINY)
    tl.store(for_scores + at, s, mask=inside)
    tl.store(for_alpha + tl.program_id(0) * HEADS + head, tl.sum(of_alpha, 0))
    own_s = tl.sum(tl.where(column == WIDTH - 2, s, 0.0), 1)[:, None]
    for_q = own_s * k + tl.sum(tl.where(column == WIDTH - 1, s, 0.0), 1)[:, None] * relay_k
    for j in range(2 * WINDOW + 1):
        other = token + (j - WINDOW)
        exists = there & (other >= first) & (other < end)
        near_k = head_of(key, row_of(other, exists, rows, HAS_ROWS), exists, 3 * INNER, DIM, BD)
        for_q += tl.sum(tl.where(column == j, s, 0.0), 1)[:, None] * near_k
    put(for_qkv + head * DIM, token.to(tl.int64), there, 3 * INNER, for_q, DIM, BD)
    if HAS_OWN:
        q = head_of(qkv + head * DIM, row, there, 3 * INNER, DIM, BD)
        own_p = tl.sum(tl.where(column == WIDTH - 2, p, 0.0), 1)[:, None]
        put(for_own + head * DIM, token.to(tl.int64), there, 2 * INNER, own_s * q, DIM, BD)
        put(for_own + INNER + head * DIM, token.to(tl.int64), there, 2 * INNER, own_p * g, DIM, BD)


@triton.jit(do_not_specialize=["tokens", "texts"])
def _backward_keys(
    gradient: tl.tensor,
    weights: tl.tensor,
    for_scores: tl.tensor,
    qkv: tl.tensor,
    rows: tl.tensor,
    starts: tl.tensor,
    for_qkv: tl.tensor,
    tokens: tl.tensor,
    texts: tl.tensor,
    HAS_ROWS: tl.constexpr,
    HAS_OWN: tl.constexpr,
    HEADS: tl.constexpr,
    DIM: tl.constexpr,
    WINDOW: tl.constexpr,
    BT: tl.constexpr,
    BD: tl.constexpr,
) -> None:
    """Compute the gradients of the attended token: its key and value, summed over the tokens that attend to it."""
    INNER: tl.constexpr = HEADS * DIM
    WIDTH: tl.constexpr = 2 * WINDOW + 3
    token = tl.program_id(0) * BT + tl.arange(0, BT)
    head = tl.program_id(1)
    there = token < tokens
    text = text_of(token, starts, texts)
    first, end = tl.load(starts + text), tl.load(starts + text + 1)
    for_k = tl.zeros([BT, BD], qkv.dtype.element_ty)
    for_v = tl.zeros([BT, BD], qkv.dtype.element_ty)
    # The last step is the token that attends to itself as own token, if its own vectors are the satellites'.
    for j in range(2 * WINDOW + 1 if HAS_OWN else 2 * WINDOW + 2):
        other = token + tl.where(j <= 2 * WINDOW, WINDOW - j, 0)
        looks = there & (other >= first) & (other < end)
        at = (other.to(tl.int64) * HEADS + head) * WIDTH + j
        s = tl.load(for_scores + at, mask=looks, other=0.0)
        p = tl.load(weights + at, mask=looks, other=0.0)
        row = row_of(other, looks, rows, HAS_ROWS)
        for_k += s[:, None] * head_of(qkv + head * DIM, row, looks, 3 * INNER, DIM, BD)
        for_v += p[:, None] * head_of(gradient + head * DIM, other.to(tl.int64), looks, INNER, DIM, BD)
    put(for_qkv + INNER + head * DIM, token.to(tl.int64), there, 3 * INNER, for_k, DIM, BD)
    put(for_qkv + 2 * INNER + head * DIM, token.to(tl.int64), there, 3 * INNER, for_v, DIM, BD)


@triton.jit
def _backward_relay(
    gradient: tl.tensor,
    weights: tl.tensor,
    for_scores: tl.tensor,
    qkv: tl.tensor,
    rows: tl.tensor,
    starts: tl.tensor,
    for_relay: tl.tensor,
    HAS_ROWS: tl.constexpr,
    HEADS: tl.constexpr,
    DIM: tl.constexpr,
    WINDOW: tl.constexpr,
    BT: tl.constexpr,
    BD: tl.constexpr,
) -> None:
    """Compute the gradients of the relay's key and value, summed over the tokens of its text."""
    INNER: tl.constexpr = HEADS * DIM
    WIDTH: tl.constexpr = 2 * WINDOW + 3
    text, head = tl.program_id(0), tl.program_id(1)
    first, end = tl.load(starts + text), tl.load(starts + text + 1)
    for_k = tl.zeros([BD], qkv.dtype.element_ty)
    for_v = tl.zeros([BD], qkv.dtype.element_ty)
    for start in range(first, end, BT):
        token = start + tl.arange(0, BT).to(tl.int64)
        there = token < end
        at = (token * HEADS + head) * WIDTH + (WIDTH - 1)
        s = tl.load(for_scores + at, mask=there, other=0.0)
        p = tl.load(weights + at, mask=there, other=0.0)
        row = row_of(token, there, rows, HAS_ROWS)
        q = head_of(qkv + head * DIM, row, there, 3 * INNER, DIM, BD)
        g = head_of(gradient + head * DIM, token, there, INNER, DIM, BD)
        for_k += tl.sum(s[:, None] * q, 0)
        for_v += tl.sum(p[:, None] * g, 0)
    d = tl.arange(0, BD)
    at_relay = text.to(tl.int64) * (2 * INNER) + head * DIM + d
    tl.store(for_relay + at_relay, for_k, mask=d < DIM)
    tl.store(for_relay + at_relay + INNER, for_v, mask=d < DIM)


def ring_backward(
    gradient: Tensor, weights: Tensor, ring: RingInput
) -> tuple[Tensor, Tensor | None, Tensor, Tensor]:
    """Implement `RawKernels.ring_backward`."""
    qkv, rows, own, own_rows, relay, starts, alpha, window = ring
    tokens, texts, heads = len(weights), len(relay), len(alpha)
    sizes = ring_sizes(qkv, alpha, window)
    blocks = triton.cdiv(tokens, sizes["BT"])
    for_scores, for_relay = torch.empty_like(weights), torch.empty_like(relay)
    for_qkv, for_alpha = qkv.new_empty(tokens, qkv.shape[1]), qkv.new_empty(blocks, heads)
    for_own = None if own is None else own.new_empty(tokens, own.shape[1])
    tables, given = given_tables(rows, own, own_rows, qkv)
    answers = (for_scores, for_qkv, qkv if for_own is None else for_own, for_alpha)
    columns, tiny = triton.next_power_of_2(2 * window + 3), tiny_of(qkv.dtype)
    _backward_queries[(blocks, heads)](
        gradient, weights, qkv, *tables, relay, starts, alpha, *answers, tokens, texts,
        BW=columns, TINY=tiny, **given, **sizes,
    )  # fmt: skip
    seen = (gradient, weights, for_scores, qkv, tables[0], starts)
    has_rows, has_own = given["HAS_ROWS"], given["HAS_OWN"]
    _backward_keys[(blocks, heads)](
        *seen, for_qkv, tokens, texts, HAS_ROWS=has_rows, HAS_OWN=has_own, **sizes
    )
    _backward_relay[(texts, heads)](*seen, for_relay, HAS_ROWS=has_rows, **sizes)
    return for_qkv, for_own, for_relay, for_alpha.sum(0)
