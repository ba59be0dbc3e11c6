"""`autograd.RawKernels` in Triton: on a GPU, or on any machine in Triton's interpreter.

This module can be imported without Triton. `TRITON_INTERPRET=1` must be set before the first import.
"""

from __future__ import annotations

import importlib.util
import os
import re

import torch

# Older versions lack products of float64 matrices, or crash on these kernels.
LEAST = (3, 5)


def _installed() -> tuple[int, ...]:
    if importlib.util.find_spec("triton") is None:
        return ()
    import triton

    return tuple(int(number) for number in re.findall(r"\d+", triton.__version__)[:2])


INSTALLED = _installed()

if INSTALLED >= LEAST:
    from linker.modules.kernels.triton.entmax import entmax_backward as entmax_backward
    from linker.modules.kernels.triton.entmax import entmax_forward as entmax_forward
    from linker.modules.kernels.triton.norm import norm_backward as norm_backward
    from linker.modules.kernels.triton.norm import norm_forward as norm_forward
    from linker.modules.kernels.triton.ring import ring_forward as ring_forward
    from linker.modules.kernels.triton.ring_backward import ring_backward as ring_backward
    from linker.modules.kernels.triton.star import star_backward as star_backward
    from linker.modules.kernels.triton.star import star_forward as star_forward


def problem() -> str:
    """Return why these kernels cannot be used; empty if they can."""
    if not INSTALLED:
        return "Triton is not installed (pip install triton)"
    if INSTALLED < LEAST:
        least, found = (".".join(map(str, version)) for version in (LEAST, INSTALLED))
        return f"Triton {found} is older than {least} (upgrade torch, which installs it)"
    if os.environ.get("TRITON_INTERPRET") == "1" or torch.cuda.is_available():
        return ""
    return "torch finds no GPU (TRITON_INTERPRET=1 runs Triton's kernels without one, slowly)"
