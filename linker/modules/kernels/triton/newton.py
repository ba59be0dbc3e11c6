"""α-entmax inside Triton kernels: Newton's method and both gradients, by the formulas of `reference.py`.

The interpreter lacks log1p and expm1. Both are computed from log and exp with Kahan's correction, which divides out the
rounding error of 1 + x.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

# Closer to α = 1 the result equals softmax in float32; α = 1 itself is softmax.
LEAST_EPSILON = tl.constexpr(1e-6)
SERIES_END = tl.constexpr(0.05)

_LIMITS = {
    torch.float32: {"STEPS": 10, "TOLERANCE": 4 * 2.0**-23, "TINY": 2.0**-126},
    torch.float64: {"STEPS": 40, "TOLERANCE": 4 * 2.0**-52, "TINY": 2.0**-1022},
}


def steps_of(dtype: torch.dtype) -> dict[str, float]:
    """Return the constants of `solve_tile` and `solve_row` for a dtype."""
    return {name: _LIMITS[dtype][name] for name in ("STEPS", "TOLERANCE")}


def tiny_of(dtype: torch.dtype) -> float:
    """Return the smallest normal number of a dtype, below which a GPU may flush to zero."""
    return _LIMITS[dtype]["TINY"]


@triton.jit
def log1p(x: tl.tensor) -> tl.tensor:
    """Compute log(1 + x) for x > −1."""
    u = 1 + x
    d = u - 1
    exact = d == 0
    return tl.where(exact, x, tl.log(u) * (x / tl.where(exact, 1.0, d)))


@triton.jit
def expm1(x: tl.tensor) -> tl.tensor:
    """Compute exp(x) − 1 for x that do not overflow."""
    u = tl.exp(x)
    d = u - 1
    plain = (d == 0) | (u == 0)
    return tl.where(plain, tl.where(u == 0, -1.0, x), d * (x / tl.log(tl.where(plain, 2.0, u))))


@triton.jit
def powers(distance: tl.tensor, shift: tl.tensor, epsilon: tl.tensor) -> tl.tensor:
    """Compute p = [1 + ε(y − t)]₊^(1/ε) and its slope p^(2 − α)."""
    scaled = epsilon * (distance - shift)
    inside = scaled > -1
    log_base = log1p(tl.where(inside, scaled, 0.0))
    log_p = log_base / epsilon
    return tl.where(inside, tl.exp(log_p), 0.0), tl.where(inside, tl.exp(log_p - log_base), 0.0)


@triton.jit
def weight_of(distance: tl.tensor, shift: tl.tensor, epsilon: tl.tensor, soft: tl.tensor) -> tl.tensor:
    """Compute p, or where `soft` the unnormalized softmax."""
    p, _ = powers(distance, shift, epsilon)
    return tl.where(soft, tl.exp(distance), p)


@triton.jit
def newton_step(total: tl.tensor, slopes: tl.tensor, epsilon: tl.tensor) -> tl.tensor:
    """Compute the step of t from Σp and Σp^(2 − α): Newton's method on the norm form, which never overshoots."""
    log_total = tl.log(total)
    return expm1(epsilon * log_total) / epsilon * tl.exp((1 - epsilon) * log_total) / slopes


@triton.jit
def solve_tile(
    scores: tl.tensor, alpha: tl.tensor, STEPS: tl.constexpr, TOLERANCE: tl.constexpr
) -> tl.tensor:
    """Compute the weights of rows × columns scores in registers, with one α per row; a row of −∞ gives zeros.

    Each row stops by its own tolerance, so that its bits do not depend on the other rows.
    """
    top = tl.max(scores, 1)
    empty = top == float("-inf")
    distance = tl.where(empty[:, None], 0.0, scores - tl.where(empty, 0.0, top)[:, None])
    epsilon = tl.maximum(alpha - 1, LEAST_EPSILON)
    shift = tl.zeros_like(top)
    going = shift == 0
    count = 0
    active = 1
    while (count < STEPS) & (active > 0):
        p, slope = powers(distance, shift[:, None], epsilon[:, None])
        step = tl.where(going, newton_step(tl.sum(p, 1), tl.sum(slope, 1), epsilon), 0.0)
        shift += step
        going = going & (tl.abs(step) > TOLERANCE * tl.maximum(shift, 1.0))
        active = tl.max(going.to(tl.int32), 0)
        count += 1
    p = weight_of(distance, shift[:, None], epsilon[:, None], (alpha == 1)[:, None])
    return tl.where(empty[:, None], 0.0, p / tl.sum(p, 1)[:, None])


@triton.jit
def derivative_parts(p: tl.tensor, alpha: tl.tensor, TINY: tl.constexpr) -> tl.tensor:
    """Compute p^(2 − α), L, expm1(−εL)/ε and (expm1(−εL)/ε + L)/ε for every p, with L = log p and ε = α − 1.

    All are finite down to α = 1; the first two are 0 where p is 0.
    """
    epsilon = tl.maximum(alpha - 1, LEAST_EPSILON)
    log = tl.where(p > 0, tl.log(tl.maximum(p, TINY)), 0.0)
    slope = tl.where(p > 0, tl.exp((2 - alpha) * log), 0.0)
    x = -epsilon * log
    grown = expm1(x)
    series = 1 + x / 6 * (1 + x / 7 * (1 + x / 8))
    series = 0.5 + x / 6 * (1 + x / 4 * (1 + x / 5 * series))
    beyond = x > SERIES_END
    apart = tl.where(beyond, x, 1.0)
    quotient = tl.where(beyond, (grown - x) / (apart * apart), series)
    return slope, log, grown / epsilon, log * log * quotient


@triton.jit
def gradient_tile(p: tl.tensor, gradient: tl.tensor, alpha: tl.tensor, TINY: tl.constexpr) -> tl.tensor:
    """Compute the gradients of the scores (rows × columns) and of α (rows) from the weights and their gradient."""
    slope, log, first, second = derivative_parts(p, alpha[:, None], TINY)
    total = tl.sum(slope, 1)
    total = tl.where(total > 0, total, 1.0)
    mean = tl.sum(gradient * slope, 1) / total
    for_scores = slope * (gradient - mean[:, None])
    entropy = -tl.sum(p * log, 1)
    mean_first, mean_second = tl.sum(p * first, 1), tl.sum(p * second, 1)
    inner = mean_second[:, None] - second - log * mean_first[:, None] - entropy[:, None] * first
    return for_scores, tl.sum(gradient * p * inner, 1) / total


@triton.jit
def solve_row(
    scores: tl.tensor,
    stride: tl.tensor,
    size: tl.tensor,
    own: tl.tensor,
    alpha: tl.tensor,
    weights: tl.tensor,
    BLOCK: tl.constexpr,
    STEPS: tl.constexpr,
    TOLERANCE: tl.constexpr,
) -> tl.tensor:
    """Compute the weights of one row of any length and store them at `weights`; returns the weight of the score `own`.

    Both pointers have the stride `stride`; `own` is an additional score, −∞ if there is none.
    """
    top = own
    for start in range(0, size, BLOCK):
        place = start + tl.arange(0, BLOCK)
        z = tl.load(scores + place.to(tl.int64) * stride, mask=place < size, other=float("-inf"))
        top = tl.maximum(top, tl.max(z, 0))
    empty = top == float("-inf")
    top = tl.where(empty, 0.0, top)
    epsilon = tl.maximum(alpha - 1, LEAST_EPSILON)
    shift = top * 0.0
    count = 0
    active = tl.where(empty, 0, 1)
    while (count < STEPS) & (active > 0):
        total, slopes = powers(own - top, shift, epsilon)
        for start in range(0, size, BLOCK):
            place = start + tl.arange(0, BLOCK)
            z = tl.load(scores + place.to(tl.int64) * stride, mask=place < size, other=float("-inf"))
            p, slope = powers(z - top, shift, epsilon)
            total += tl.sum(p, 0)
            slopes += tl.sum(slope, 0)
        step = newton_step(total, slopes, epsilon)
        shift += step
        active = tl.where(tl.abs(step) > TOLERANCE * tl.maximum(shift, 1.0), 1, 0)
        count += 1
    soft = alpha == 1
    own_weight = weight_of(own - top, shift, epsilon, soft)
    total = own_weight
    for start in range(0, size, BLOCK):
        place = start + tl.arange(0, BLOCK)
        z = tl.load(scores + place.to(tl.int64) * stride, mask=place < size, other=float("-inf"))
        total += tl.sum(weight_of(z - top, shift, epsilon, soft), 0)
    # Rescaled so that the weights sum to 1 despite rounding.
    total = tl.where(empty, 1.0, total)
    for start in range(0, size, BLOCK):
        place = start + tl.arange(0, BLOCK)
        z = tl.load(scores + place.to(tl.int64) * stride, mask=place < size, other=float("-inf"))
        p = weight_of(z - top, shift, epsilon, soft) / total
        tl.store(weights + place.to(tl.int64) * stride, p, mask=place < size)
    return own_weight / total


@triton.jit
def gradient_row(
    weights: tl.tensor,
    gradient: tl.tensor,
    stride: tl.tensor,
    size: tl.tensor,
    own_weight: tl.tensor,
    own_gradient: tl.tensor,
    alpha: tl.tensor,
    for_scores: tl.tensor,
    BLOCK: tl.constexpr,
    TINY: tl.constexpr,
) -> tl.tensor:
    """Compute `gradient_tile` for one row of any length, stored at `for_scores`; returns those of own score and α."""
    slope, log, first, second = derivative_parts(own_weight, alpha, TINY)
    total, weighted = slope, slope * own_gradient
    entropy, mean_first, mean_second = -own_weight * log, own_weight * first, own_weight * second
    for start in range(0, size, BLOCK):
        place = start + tl.arange(0, BLOCK)
        at = place.to(tl.int64) * stride
        p = tl.load(weights + at, mask=place < size, other=0.0)
        g = tl.load(gradient + at, mask=place < size, other=0.0)
        s, part_log, part_first, part_second = derivative_parts(p, alpha, TINY)
        total += tl.sum(s, 0)
        weighted += tl.sum(s * g, 0)
        entropy -= tl.sum(p * part_log, 0)
        mean_first += tl.sum(p * part_first, 0)
        mean_second += tl.sum(p * part_second, 0)
    total = tl.where(total > 0, total, 1.0)
    mean = weighted / total
    own_inner = mean_second - second - log * mean_first - entropy * first
    for_alpha = own_gradient * own_weight * own_inner
    for_own = slope * (own_gradient - mean)
    for start in range(0, size, BLOCK):
        place = start + tl.arange(0, BLOCK)
        at = place.to(tl.int64) * stride
        p = tl.load(weights + at, mask=place < size, other=0.0)
        g = tl.load(gradient + at, mask=place < size, other=0.0)
        s, part_log, part_first, part_second = derivative_parts(p, alpha, TINY)
        tl.store(for_scores + at, s * (g - mean), mask=place < size)
        inner = mean_second - part_second - part_log * mean_first - entropy * part_first
        for_alpha += tl.sum(g * p * inner, 0)
    return for_own, for_alpha / total
