"""The operations of the star transformer on the CPU, in C++ (`cpp/`): one autograd node each.

`plain.py` defines what each operation computes. Tensors are passed as pointers, contiguous and of one dtype per call.
Gradients have the shapes of their inputs. Below, H heads of size d, I = H · d, and satellites of length D.
"""

import ctypes
import sys
from functools import cache
from typing import Any

import torch
from torch import Tensor

from linker.modules.dropout import draw_seed
from linker.modules.kernels import library
from linker.modules.kernels.inputs import RingInput, StarInput
from linker.modules.precision import full_precision

# From malloc.h of the GNU C library.
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
_RETAINED = 2**31 - 1


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
    return bool(mallopt(_MMAP_MAX, 0) and mallopt(_TRIM_THRESHOLD, _RETAINED))


@cache
def problem() -> str:
    """Return why these kernels cannot be used; empty if they can."""
    try:
        library.load()
    except library.LibraryProblem as error:
        return str(error)
    keep_buffers()
    return ""


class _Ring(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *fields: Any) -> Tensor:
        ring = RingInput(*fields)
        qkv, starts, heads = ring.qkv, ring.starts, len(ring.alpha)
        context = qkv.new_empty(int(starts[-1]), qkv.shape[1] // 3)  # (tokens, I)
        # Blocks of eight tokens of a text; without `token` the satellite is both neighbor 0 and token, one entry.
        entries = 2 * ring.window + (2 if ring.token is None else 3)
        weights = qkv.new_empty(int(((starts.diff() + 7) // 8).sum()), heads, entries, 8)
        sizes = (len(ring.relay), heads, context.shape[1] // heads, ring.window)
        _call("ring_forward", *ring[:-1], *sizes, context, weights)
        ctx.sizes = sizes
        ctx.save_for_backward(weights, *ring[:-1])
        return context

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        weights, *tensors = ctx.saved_tensors
        qkv, rows, token, token_rows, relay, _, alpha = tensors
        gradient = gradients[0].contiguous()
        tokens, inner = gradient.shape
        by_qkv = gradient.new_empty(tokens, 3 * inner)
        by_token = None if token is None else gradient.new_empty(tokens, 2 * inner)
        by_relay, by_alpha = torch.empty_like(relay), torch.empty_like(alpha)
        outputs = (by_qkv, by_token, by_relay, by_alpha)
        _call("ring_backward", *tensors, *ctx.sizes, gradient, weights, *outputs)
        by_qkv = _sum_by_row(by_qkv, rows, len(qkv))
        by_token = None if by_token is None else _sum_by_row(by_token, token_rows, len(token))
        return by_qkv, None, by_token, None, by_relay, None, by_alpha, None


def _sum_by_row(gradient: Tensor, rows: Tensor | None, count: int) -> Tensor:
    """Sum gradients per token to gradients per row of the table that the tokens were read from, in token order."""
    if rows is None:
        return gradient
    return torch.ops.aten.embedding_dense_backward(gradient, rows, count, -1, False)


class _Norm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, numbers: Tensor | None, dropout: float, seed: int
    ) -> Tensor:
        # Mean and 1 / standard deviation of each row.
        output, statistics = torch.empty_like(x), x.new_empty(len(x), 2)
        _call("norm_forward", x, weight, bias, *x.shape, dropout, seed, numbers, output, statistics)
        ctx.dropout, ctx.seed = dropout, seed
        ctx.save_for_backward(output, x, statistics, weight, numbers)
        return output

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        *tensors, numbers = ctx.saved_tensors
        _, x, _, weight = tensors
        outputs = by_x, by_weight, by_bias = (
            torch.empty_like(x),
            torch.empty_like(weight),
            torch.empty_like(weight),
        )
        inputs = (gradients[0].contiguous(), *tensors, *x.shape, ctx.dropout, ctx.seed, numbers)
        _call("norm_backward", *inputs, *outputs)
        return by_x, by_weight, by_bias, None, None, None


class _Star(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *fields: Any) -> tuple[Tensor, Tensor, Tensor]:
        star = StarInput(*fields)
        satellites, texts, heads = star.satellites, len(star.relay), len(star.alpha)
        tokens, dim = satellites.shape
        mixture = satellites.new_empty(heads, texts, dim)
        weights, relay_weights = satellites.new_empty(tokens, heads), satellites.new_empty(texts, heads)
        maximum = satellites.new_empty(texts, dim)
        where = torch.empty(texts, dim, dtype=torch.int64)  # the token that has the maximum
        outputs = (mixture, weights, relay_weights, maximum, where)
        _call("star_forward", *star, texts, heads, dim, *outputs)
        # Scores are not needed in the backward pass.
        ctx.save_for_backward(where, weights, relay_weights, *fields[:5])
        ctx.mark_non_differentiable(weights)
        return mixture, maximum, weights

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        where, weights, relay_weights, *tensors = ctx.saved_tensors
        satellites, relay, starts, alpha, folded = tensors
        by_satellites, by_relay = torch.empty_like(satellites), torch.empty_like(relay)
        by_folded = None if folded is None else torch.empty_like(folded)
        by_scores, by_relay_scores, by_alpha = (torch.empty_like(x) for x in (weights, relay_weights, alpha))
        sizes = (len(relay), len(alpha), satellites.shape[1])
        inputs = (gradients[0].contiguous(), gradients[1].contiguous(), where, weights, relay_weights)
        outputs = (by_satellites, by_relay, by_folded, by_scores, by_relay_scores, by_alpha)
        _call("star_backward", *tensors, *sizes, *inputs, *outputs)
        if by_folded is None:
            return by_satellites, by_relay, None, by_alpha, None, None, by_scores, by_relay_scores
        # The shift of a text is a summand of all its scores.
        by_shift = by_relay_scores + torch.segment_reduce(
            by_scores, "sum", lengths=starts.diff(), unsafe=True
        )
        return by_satellites, by_relay, None, by_alpha, by_folded, by_shift, None, None


class NativeKernels:
    """The operations of `PlainKernels` in C++."""

    name = "native"
    ragged = True

    @full_precision
    def ring(self, ring: RingInput) -> Tensor:
        """Compute what `PlainKernels.ring` does."""
        return _Ring.apply(*_contiguous(ring))

    @full_precision
    def norm(
        self, x: Tensor, weight: Tensor, bias: Tensor, dropout: float, numbers: Tensor | None = None
    ) -> Tensor:
        """Compute what `PlainKernels.norm` does."""
        return _Norm.apply(*_contiguous((x, weight, bias, numbers)), dropout, draw_seed(dropout))

    @full_precision
    def star(self, star: StarInput) -> tuple[Tensor, Tensor, Tensor]:
        """Compute what `PlainKernels.star` does."""
        return _Star.apply(*_contiguous(star))


def _contiguous(fields: tuple[Any, ...]) -> list[Any]:
    return [x.contiguous() if isinstance(x, Tensor) else x for x in fields]


def _call(name: str, *arguments: Tensor | int | float | None) -> None:
    """Call a function of the library with the threads that torch uses."""
    dtype = next(x.dtype for x in arguments if isinstance(x, Tensor) and x.is_floating_point())
    for tensor in arguments:
        if isinstance(tensor, Tensor):
            assert tensor.is_contiguous(), f"{name}: a tensor is not contiguous"
            assert not tensor.is_floating_point() or tensor.dtype == dtype, f"{name}: mixed types"
    suffix = "f32" if dtype == torch.float32 else "f64"
    function = getattr(library.load(), f"linker_{name}_{suffix}")
    function(*map(_c, arguments), _c(torch.get_num_threads()))


def _c(argument: Tensor | int | float | None) -> ctypes.c_void_p | ctypes.c_int64 | ctypes.c_double:
    if argument is None or isinstance(argument, Tensor):
        return ctypes.c_void_p(None if argument is None else argument.data_ptr())
    return ctypes.c_int64(argument) if isinstance(argument, int) else ctypes.c_double(argument)
