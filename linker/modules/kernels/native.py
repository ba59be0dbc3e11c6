"""`autograd.RawKernels` on the CPU, in C++ (`cpp/`); tensors are passed as pointers."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

import torch
from torch import Tensor

from linker.modules.kernels import library
from linker.modules.kernels.inputs import RingInput, StarInput

# From malloc.h of the GNU C library.
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
_KEPT = 2**31 - 1


@cache
def keep_buffers() -> bool:
    """Make the C library keep up to 2 GiB of freed memory, for the whole process.

    By default every large buffer is mapped again, and the system zeroes its pages on first access, which took a sixth
    of the time of the arithmetic in a training step of the star transformer.

    Returns:
        Whether the C library supports it (the GNU one on Linux does).
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:
        return False
    return bool(mallopt(_MMAP_MAX, 0) and mallopt(_TRIM_THRESHOLD, _KEPT))


def problem() -> str:
    """Return why these kernels cannot be used; empty if they can."""
    try:
        library.load()
    except library.LibraryProblem as error:
        return str(error)
    keep_buffers()
    return ""


def entmax_forward(scores: Tensor, alpha: Tensor) -> Tensor:
    """Implement `RawKernels.entmax_forward`."""
    weights = torch.empty_like(scores)
    _call("entmax_forward", scores, alpha, *scores.shape, weights)
    return weights


def entmax_backward(weights: Tensor, gradient: Tensor, alpha: Tensor) -> tuple[Tensor, Tensor]:
    """Implement `RawKernels.entmax_backward`."""
    by_scores, by_alpha = torch.empty_like(weights), torch.empty_like(alpha)
    _call("entmax_backward", weights, gradient, alpha, *weights.shape, by_scores, by_alpha)
    return by_scores, by_alpha


def ring_forward(ring: RingInput) -> tuple[Tensor, Tensor]:
    """Implement `RawKernels.ring_forward`."""
    *tensors, window = ring
    qkv, starts = ring.qkv, ring.starts
    heads, inner, tokens = len(ring.alpha), qkv.shape[1] // 3, int(starts[-1])
    context = qkv.new_empty(tokens, inner)
    # Blocks of eight tokens of a text; without `own` the satellite is both neighbor 0 and own token, one entry.
    entries = 2 * window + (2 if ring.own is None else 3)
    weights = qkv.new_empty(int(((starts.diff() + 7) // 8).sum()), heads, entries, 8)
    sizes = (len(ring.relay), heads, inner // heads, window)
    _call("ring_forward", *tensors, *sizes, context, weights)
    return context, weights


def ring_backward(
    gradient: Tensor, weights: Tensor, ring: RingInput
) -> tuple[Tensor, Tensor | None, Tensor, Tensor]:
    """Implement `RawKernels.ring_backward`."""
    *tensors, window = ring
    (tokens, inner), heads = gradient.shape, len(ring.alpha)
    by_qkv = gradient.new_empty(tokens, 3 * inner)
    by_own = None if ring.own is None else gradient.new_empty(tokens, 2 * inner)
    by_relay, by_alpha = torch.empty_like(ring.relay), torch.empty_like(ring.alpha)
    sizes = (len(ring.relay), heads, inner // heads, window)
    _call("ring_backward", *tensors, *sizes, gradient, weights, by_qkv, by_own, by_relay, by_alpha)
    return by_qkv, by_own, by_relay, by_alpha


def norm_forward(
    x: Tensor, weight: Tensor, bias: Tensor, dropout: float, seed: int, numbers: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Implement `RawKernels.norm_forward`."""
    output, statistics = torch.empty_like(x), x.new_empty(len(x), 2)
    _call("norm_forward", x, weight, bias, *x.shape, dropout, seed, numbers, output, statistics)
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
    by_x, by_weight, by_bias = torch.empty_like(x), torch.empty_like(weight), torch.empty_like(weight)
    inputs = (gradient, output, x, statistics, weight)
    _call("norm_backward", *inputs, *x.shape, dropout, seed, numbers, by_x, by_weight, by_bias)
    return by_x, by_weight, by_bias


def star_forward(star: StarInput) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Implement `RawKernels.star_forward`."""
    satellites, heads, texts = star.satellites, len(star.alpha), len(star.relay)
    tokens, dim = satellites.shape
    mixture = satellites.new_empty(heads, texts, dim)
    weights, own_weights = satellites.new_empty(tokens, heads), satellites.new_empty(texts, heads)
    maximum = satellites.new_empty(texts, dim)
    where = torch.empty(texts, dim, dtype=torch.int64)
    outputs = (mixture, weights, own_weights, maximum, where)
    _call("star_forward", *star, texts, heads, dim, *outputs)
    return outputs


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
    by_satellites, by_relay = torch.empty_like(satellites), torch.empty_like(relay)
    by_folded = None if folded is None else torch.empty_like(folded)
    by_scores, by_own, by_alpha = (torch.empty_like(x) for x in (weights, own_weights, alpha))
    sizes = (len(relay), len(alpha), satellites.shape[1])
    incoming = (gradient, maximum_gradient, where, weights, own_weights)
    answers = (by_satellites, by_relay, by_folded, by_scores, by_own, by_alpha)
    _call("star_backward", satellites, relay, starts, alpha, folded, *sizes, *incoming, *answers)
    return answers


def _call(name: str, *arguments: Tensor | int | float | None) -> None:
    """Call a function of the library with the threads that torch uses."""
    given = next(a for a in arguments if isinstance(a, Tensor) and a.is_floating_point())
    for tensor in arguments:
        if isinstance(tensor, Tensor):
            assert tensor.is_contiguous(), f"{name}: a tensor is not contiguous"
            assert not tensor.is_floating_point() or tensor.dtype == given.dtype, f"{name}: mixed types"
    suffix = "f32" if given.dtype == torch.float32 else "f64"
    function = getattr(library.load(), f"linker_{name}_{suffix}")
    function(*map(_c, arguments), _c(torch.get_num_threads()))


def _c(argument: Tensor | int | float | None) -> ctypes.c_void_p | ctypes.c_int64 | ctypes.c_double:
    if argument is None or isinstance(argument, Tensor):
        return ctypes.c_void_p(None if argument is None else argument.data_ptr())
    return ctypes.c_int64(argument) if isinstance(argument, int) else ctypes.c_double(argument)
