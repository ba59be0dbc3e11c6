"""The one place that decides which kernels compute.

`LINKER_KERNELS` chooses: `auto` (the default: native code on the CPU, Triton on a GPU, plain torch where neither is
there), or one of `plain`, `native`, `triton`, which then must be there.
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
    """Within this block `name` counts instead of LINKER_KERNELS."""
    _forced.append(name)
    try:
        yield
    finally:
        _forced.pop()


def kernels_for(x: Tensor) -> Kernels:
    """The kernels for tensors of this device.

    Raises:
        LinkerError: LINKER_KERNELS names kernels that do not exist, are not installed, or are not for this device.
    """
    choice = _forced[-1] if _forced else os.environ.get(VARIABLE, "auto")
    if choice not in CHOICES:
        raise LinkerError(f"{VARIABLE} is {choice!r}; it can be {', '.join(CHOICES)}")
    if choice == "plain":
        return PLAIN
    if choice == "native" and x.device.type != "cpu":
        raise LinkerError(f"{VARIABLE} is 'native', but the tensors are on {x.device}, not on the CPU")
    wanted = choice if choice != "auto" else ("native" if x.device.type == "cpu" else "triton")
    found, problem = available(wanted)
    if found is not None:
        return found
    if choice != "auto":
        raise LinkerError(f"{VARIABLE} is {choice!r}, but {problem}")
    return PLAIN


@cache
def available(name: str) -> tuple[FusedKernels | None, str]:
    """The kernels of that name, or None and why they cannot be used."""
    if name == "native":
        from linker.modules.kernels import native as module
    else:
        from linker.modules.kernels.triton import backend as module  # type: ignore[no-redef]
    problem = module.problem()
    return (None, problem) if problem else (FusedKernels(name, cast(RawKernels, module)), "")
