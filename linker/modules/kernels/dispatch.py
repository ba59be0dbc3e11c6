"""Selection of the kernels.

The environment variable `LINKER_KERNELS` is `auto` (default: C++ on the CPU if it was compiled, else plain torch),
`plain` or `native`.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor

from linker.common.errors import LinkerError
from linker.modules.kernels import native
from linker.modules.kernels.native import NativeKernels
from linker.modules.kernels.plain import PlainKernels

Kernels = PlainKernels | NativeKernels

VARIABLE = "LINKER_KERNELS"
CHOICES = ("auto", "plain", "native")
PLAIN, NATIVE = PlainKernels(), NativeKernels()

_forced: list[str] = []


@contextmanager
def use_kernels(name: str) -> Iterator[None]:
    """Use the kernels `name` within this block, whatever LINKER_KERNELS is."""
    _forced.append(name)
    try:
        yield
    finally:
        _forced.pop()


def kernels_for(x: Tensor) -> Kernels:
    """Return the kernels for the device of a tensor.

    Raises:
        LinkerError: if LINKER_KERNELS names kernels that are unknown, not compiled, or not for this device.
    """
    choice = _forced[-1] if _forced else os.environ.get(VARIABLE, "auto")
    if choice not in CHOICES:
        raise LinkerError(f"{VARIABLE}: unknown kernels {choice!r}; use {', '.join(CHOICES)}")
    if choice == "plain":
        return PLAIN
    problem = why_plain(x)
    if not problem:
        return NATIVE
    if choice == "native":
        raise LinkerError(f"{VARIABLE}: 'native' kernels are not available: {problem}")
    return PLAIN


def why_plain(x: Tensor) -> str:
    """Return why the native kernels cannot be used for a tensor; empty if they can."""
    return native.problem() if x.device.type == "cpu" else f"they need the CPU, and tensors are on {x.device}"
