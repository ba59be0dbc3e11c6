"""Star attention in Triton: three products between tokens and per-text vectors of each head, and α-entmax per text.

The backward pass uses the same products: `_products` for the gradients of the weights, `_mixtures` for those of the
folded queries. No two programs write to the same location, so no atomics are needed and results are reproducible bit
by bit.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from linker.modules.kernels.inputs import StarInput
from linker.modules.kernels.triton.newton import gradient_row, solve_row, steps_of, tiny_of
from linker.modules.kernels.triton.ring import text_of

# Tokens and columns of a block, both at least the minimum of tl.dot.
_TOKENS = 32
_COLUMNS = 32


@triton.jit(do_not_specialize=["texts"])
def _products(
    x: tl.tensor,
    per_text: tl.tensor,
    shift: tl.tensor,
    starts: tl.tensor,
    output: tl.tensor,
    texts: tl.tensor,
    HAS_SHIFT: tl.constexpr,
    HEADS: tl.constexpr,
    D: tl.constexpr,
    BT: tl.constexpr,
    BH: tl.constexpr,
    BD: tl.constexpr,
) -> None:
    """output[token, h] = x[token] · per_text[h, text] (+ shift[text, h]) for a block of tokens."""
    token = tl.program_id(0) * BT + tl.arange(0, BT)
    head = tl.arange(0, BH)
    touched = text_of(token, starts, texts)
    for text in range(tl.min(touched, 0), tl.max(touched, 0) + 1):
        mine = (token >= tl.load(starts + text)) & (token < tl.load(starts + text + 1))
        total = tl.zeros([BT, BH], x.dtype.element_ty)
        for d0 in range(0, D, BD):
            d = d0 + tl.arange(0, BD)
            v = tl.load(
                x + token.to(tl.int64)[:, None] * D + d[None, :],
                mask=mine[:, None] & (d < D)[None, :],
                other=0.0,
            )
            f = tl.load(
                per_text + (head.to(tl.int64) * texts + text)[None, :] * D + d[:, None],
                mask=(head < HEADS)[None, :] & (d < D)[:, None],
                other=0.0,
            )
            total = tl.dot(v, f, total, input_precision="ieee", out_dtype=x.dtype.element_ty)
        if HAS_SHIFT:
            total += tl.load(shift + text * HEADS + head, mask=head < HEADS, other=0.0)[None, :]
        at = token.to(tl.int64)[:, None] * HEADS + head[None, :]
        tl.store(output + at, total, mask=mine[:, None] & (head < HEADS)[None, :])


@triton.jit(do_not_specialize=["texts"])
def _mixtures(
    x: tl.tensor,
    relay: tl.tensor,
    starts: tl.tensor,
    weights: tl.tensor,
    own_weights: tl.tensor,
    mixture: tl.tensor,
    maximum: tl.tensor,
    where: tl.tensor,
    texts: tl.tensor,
    HAS_MAXIMUM: tl.constexpr,
    HEADS: tl.constexpr,
    D: tl.constexpr,
    BT: tl.constexpr,
    BH: tl.constexpr,
    BD: tl.constexpr,
) -> None:
    """mixture[h, text] = Σ weight · x over a text's tokens and its relay, and the maximum and where it is."""
    text = tl.program_id(0)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    head = tl.arange(0, BH)
    first, end = tl.load(starts + text), tl.load(starts + text + 1)
    s = tl.load(relay + text.to(tl.int64) * D + d, mask=d < D, other=0.0)
    own = tl.load(own_weights + text * HEADS + head, mask=head < HEADS, other=0.0)
    total = own[:, None] * s[None, :]
    best = tl.full([BD], float("-inf"), x.dtype.element_ty)
    best_at = tl.zeros([BD], tl.int64) + first
    for start in range(first, end, BT):
        token = start + tl.arange(0, BT).to(tl.int64)
        there = token < end
        v = tl.load(x + token[:, None] * D + d[None, :], mask=there[:, None] & (d < D)[None, :], other=0.0)
        w = tl.load(
            weights + token[None, :] * HEADS + head[:, None],
            mask=there[None, :] & (head < HEADS)[:, None],
            other=0.0,
        )
        total = tl.dot(w, v, total, input_precision="ieee", out_dtype=x.dtype.element_ty)
        if HAS_MAXIMUM:
            v = tl.where(there[:, None], v, float("-inf"))
            top = tl.max(v, 0)
            # The first of equals: within a block the smallest token, and later blocks must exceed it.
            place = tl.min(tl.where(v == top[None, :], token[:, None], end), 0)
            best_at = tl.where(top > best, place, best_at)
            best = tl.maximum(best, top)
    at = (head.to(tl.int64) * texts + text)[:, None] * D + d[None, :]
    tl.store(mixture + at, total, mask=(head < HEADS)[:, None] & (d < D)[None, :])
    if HAS_MAXIMUM:
        tl.store(maximum + text.to(tl.int64) * D + d, best, mask=d < D)
        tl.store(where + text.to(tl.int64) * D + d, best_at, mask=d < D)


@triton.jit(do_not_specialize=["texts"])
def _spread(
    weights: tl.tensor,
    gradient: tl.tensor,
    for_scores: tl.tensor,
    folded: tl.tensor,
    maximum_gradient: tl.tensor,
    where: tl.tensor,
    starts: tl.tensor,
    output: tl.tensor,
    texts: tl.tensor,
    HAS_FOLDED: tl.constexpr,
    HEADS: tl.constexpr,
    D: tl.constexpr,
    BT: tl.constexpr,
    BH: tl.constexpr,
    BD: tl.constexpr,
) -> None:
    """Gradient of a block of satellites: by the mixture, by their scores, and by the maximum."""
    token = tl.program_id(0) * BT + tl.arange(0, BT)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    head = tl.arange(0, BH)
    of_head, of_d = head < HEADS, d < D
    touched = text_of(token, starts, texts)
    for text in range(tl.min(touched, 0), tl.max(touched, 0) + 1):
        mine = (token >= tl.load(starts + text)) & (token < tl.load(starts + text + 1))
        at = token.to(tl.int64)[:, None] * HEADS + head[None, :]
        at_text = (head.to(tl.int64) * texts + text)[:, None] * D + d[None, :]
        inside, both = mine[:, None] & of_head[None, :], of_head[:, None] & of_d[None, :]
        at_maximum = tl.cast(text, tl.int64) * D + d
        top = tl.load(maximum_gradient + at_maximum, mask=of_d, other=0.0)
        place = tl.load(where + at_maximum, mask=of_d, other=-1)
        total = tl.where(token[:, None] == place[None, :], top[None, :], 0.0)
        p = tl.load(weights + at, mask=inside, other=0.0)
        g = tl.load(gradient + at_text, mask=both, other=0.0)
        total = tl.dot(p, g, total, input_precision="ieee", out_dtype=gradient.dtype.element_ty)
        if HAS_FOLDED:
            s = tl.load(for_scores + at, mask=inside, other=0.0)
            f = tl.load(folded + at_text, mask=both, other=0.0)
            total = tl.dot(s, f, total, input_precision="ieee", out_dtype=gradient.dtype.element_ty)
        at_token = token.to(tl.int64)[:, None] * D + d[None, :]
        tl.store(output + at_token, total, mask=mine[:, None] & of_d[None, :])


@triton.jit
def _solve(
    scores: tl.tensor,
    own_scores: tl.tensor,
    starts: tl.tensor,
    alpha: tl.tensor,
    weights: tl.tensor,
    own_weights: tl.tensor,
    HEADS: tl.constexpr,
    BLOCK: tl.constexpr,
    STEPS: tl.constexpr,
    TOLERANCE: tl.constexpr,
) -> None:
    text, head = tl.program_id(0), tl.program_id(1)
    first, end = tl.load(starts + text), tl.load(starts + text + 1)
    at, at_own = first * HEADS + head, text * HEADS + head
    own, a = tl.load(own_scores + at_own), tl.load(alpha + head)
    size = (end - first).to(tl.int32)
    p = solve_row(scores + at, HEADS, size, own, a, weights + at, BLOCK, STEPS, TOLERANCE)
    tl.store(own_weights + at_own, p)


@triton.jit
def _solve_backward(
    weights: tl.tensor,
    own_weights: tl.tensor,
    gradient: tl.tensor,
    own_gradient: tl.tensor,
    starts: tl.tensor,
    alpha: tl.tensor,
    for_scores: tl.tensor,
    for_own: tl.tensor,
    for_alpha: tl.tensor,
    HEADS: tl.constexpr,
    BLOCK: tl.constexpr,
    TINY: tl.constexpr,
) -> None:
    text, head = tl.program_id(0), tl.program_id(1)
    first, end = tl.load(starts + text), tl.load(starts + text + 1)
    at, at_own = first * HEADS + head, text * HEADS + head
    own, own_g, a = tl.load(own_weights + at_own), tl.load(own_gradient + at_own), tl.load(alpha + head)
    size = (end - first).to(tl.int32)
    of_own, of_alpha = gradient_row(
        weights + at, gradient + at, HEADS, size, own, own_g, a, for_scores + at, BLOCK, TINY
    )
    tl.store(for_own + at_own, of_own)
    tl.store(for_alpha + at_own, of_alpha)


def _sizes(heads: int, dim: int) -> dict[str, int]:
    columns = min(_COLUMNS, max(16, triton.next_power_of_2(dim)))
    return {
        "HEADS": heads,
        "D": dim,
        "BT": _TOKENS,
        "BH": max(16, triton.next_power_of_2(heads)),
        "BD": columns,
    }


def _row_block(tokens: int, texts: int) -> tuple[int, int]:
    """Number of scores that a program of α-entmax takes at once, by the mean length; and its number of warps."""
    block = min(1024, max(32, triton.next_power_of_2(2 * triton.cdiv(tokens, texts))))
    return block, max(1, min(4, block // 128))


def _token_products(
    x: Tensor, per_text: Tensor, shift: Tensor | None, starts: Tensor, sizes: dict[str, int]
) -> Tensor:
    output = x.new_empty(len(x), sizes["HEADS"])
    some = per_text if shift is None else shift
    grid = (triton.cdiv(len(x), sizes["BT"]),)
    texts = len(starts) - 1
    _products[grid](x, per_text, some, starts, output, texts, HAS_SHIFT=shift is not None, **sizes)
    return output


def _relay_products(relay: Tensor, per_text: Tensor) -> Tensor:
    """Products of each relay with its text's vector per head: texts × H."""
    return (per_text * relay).sum(-1).t()


def star_forward(star: StarInput) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Implement `RawKernels.star_forward`."""
    satellites, relay, starts, alpha, folded, shift, scores, own_scores = star
    (tokens, dim), texts, heads = satellites.shape, len(relay), len(alpha)
    sizes = _sizes(heads, dim)
    if folded is not None:
        assert shift is not None
        scores = _token_products(satellites, folded, shift, starts, sizes)
        own_scores = _relay_products(relay, folded) + shift
    assert scores is not None
    assert own_scores is not None
    own_scores = own_scores.contiguous()
    weights, own_weights = torch.empty_like(scores), torch.empty_like(own_scores)
    block, warps = _row_block(tokens, texts)
    _solve[(texts, heads)](
        scores, own_scores, starts, alpha, weights, own_weights,
        HEADS=heads, BLOCK=block, num_warps=warps, **steps_of(scores.dtype),
    )  # fmt: skip
    mixture, maximum = relay.new_empty(heads, texts, dim), torch.empty_like(relay)
    where = torch.empty(texts, dim, dtype=torch.int64, device=relay.device)
    _mixtures[(texts, triton.cdiv(dim, sizes["BD"]))](
        satellites, relay, starts, weights, own_weights, mixture, maximum, where, texts,
        HAS_MAXIMUM=True, **sizes,
    )  # fmt: skip
    return mixture, weights, own_weights, maximum, where


def star_backward(
    gradient: Tensor,
    maximum_gradient: Tensor,
    where: Tensor,
    weights: Tensor,
    own_weights: Tensor,
    star: StarInput,
) -> tuple[Tensor, Tensor, Tensor | None, Tensor, Tensor, Tensor]:
    """Implement `RawKernels.star_backward`."""
    satellites, relay, starts, alpha, folded = star[:5]
    (tokens, dim), texts, heads = satellites.shape, len(relay), len(alpha)
    sizes = _sizes(heads, dim)
    for_weights = _token_products(satellites, gradient, None, starts, sizes)
    for_own_weights = _relay_products(relay, gradient).contiguous()
    for_scores, for_own = torch.empty_like(weights), torch.empty_like(own_weights)
    for_alpha = torch.empty_like(own_weights)
    block, warps = _row_block(tokens, texts)
    _solve_backward[(texts, heads)](
        weights, own_weights, for_weights, for_own_weights, starts, alpha, for_scores, for_own, for_alpha,
        HEADS=heads, BLOCK=block, num_warps=warps, TINY=tiny_of(weights.dtype),
    )  # fmt: skip
    for_satellites = torch.empty_like(satellites)
    for_relay = (own_weights.t()[..., None] * gradient).sum(0)
    for_folded = None
    columns = triton.cdiv(dim, sizes["BD"])
    if folded is not None:
        for_relay += (for_own.t()[..., None] * folded).sum(0)
        for_folded = torch.empty_like(folded)
        _mixtures[(texts, columns)](
            satellites, relay, starts, for_scores, for_own, for_folded, relay, where, texts,
            HAS_MAXIMUM=False, **sizes,
        )  # fmt: skip
    _spread[(triton.cdiv(tokens, sizes["BT"]), columns)](
        weights, gradient, for_scores, gradient if folded is None else folded,
        maximum_gradient, where, starts, for_satellites, texts,
        HAS_FOLDED=folded is not None, **sizes,
    )  # fmt: skip
    return for_satellites, for_relay, for_folded, for_scores, for_own, for_alpha.sum(0)
