"""Selection of the kernels.

The environment variable `LINKER_KERNELS` is `auto` (default: C++ on the CPU, Triton on a GPU, plain torch if these are
not available), `plain`, `native` or `triton`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import cast

from torch import Tensor

from linker.common.errors import LinkerError
from linker.modules.kernels.autograd import FusedKernels, RawKernels
from linker.modules.kernels.reference import PlainKernels

Kernels = PlainKernels | FusedKernels

VARIABLE = "LINKER_KERNELS"
CHOICES = ("auto", "plain", "native", "triton")
PLAIN = PlainKernels()

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
        LinkerError: if LINKER_KERNELS names kernels that are unknown, not installed, or not for this device.
    """
    choice = _forced[-1] if _forced else os.environ.get(VARIABLE, "auto")
    if choice not in CHOICES:
        raise LinkerError(f"{VARIABLE}: unknown kernels {choice!r}; use {', '.join(CHOICES)}")
    if choice == "plain":
        return PLAIN
    if choice == "native" and x.device.type != "cpu":
        raise LinkerError(
            f"{VARIABLE}: 'native' kernels need the CPU, but the tensors are on {x.device}; use auto"
        )
    wanted = choice if choice != "auto" else ("native" if x.device.type == "cpu" else "triton")
    found, problem = available(wanted)
    if found is not None:
        return found
    if choice != "auto":
        raise LinkerError(f"{VARIABLE}: {choice!r} kernels are not available: {problem}")
    return PLAIN


@cache
def available(name: str) -> tuple[FusedKernels | None, str]:
    """Return the kernels `native` or `triton`, or None and the reason why they are not available."""
    if name == "native":
        from linker.modules.kernels import native as module
    else:
        from linker.modules.kernels.triton import backend as module  # type: ignore[no-redef]
    problem = module.problem()
    return (None, problem) if problem else (FusedKernels(name, cast(RawKernels, module)), "")
