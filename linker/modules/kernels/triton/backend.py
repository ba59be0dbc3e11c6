"""The Triton kernels: the star transformer's operations on a GPU, or anywhere in Triton's interpreter.

The kernels are in `triton_entmax.py`, `triton_ring.py`, `triton_norm.py` and `triton_star.py`; this file can be
imported where Triton is not installed. `TRITON_INTERPRET=1` must be set before the first import.
"""

from __future__ import annotations

import importlib.util
import os
import re

import torch

# Older ones have no product of float64 matrices, or crash on these kernels.
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
    """Why these kernels cannot be used; empty where they can."""
    if not INSTALLED:
        return "Triton is not installed (pip install triton)"
    if INSTALLED < LEAST:
        least, found = (".".join(map(str, version)) for version in (LEAST, INSTALLED))
        return f"Triton {found} is older than {least} (it comes with torch: a newer torch brings a newer one)"
    if os.environ.get("TRITON_INTERPRET") == "1" or torch.cuda.is_available():
        return ""
    return "torch finds no GPU (TRITON_INTERPRET=1 runs Triton's kernels without one, slowly)"
