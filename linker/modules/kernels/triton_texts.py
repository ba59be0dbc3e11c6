"""Which text a token belongs to, found inside the kernels: no map of tokens is built, no length goes to the host."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def text_of(token: tl.tensor, starts: tl.tensor, texts: tl.tensor) -> tl.tensor:
    """The text with starts[text] ≤ token < starts[text + 1], by halving; the last for tokens beyond the end."""
    low = token * 0
    high = token * 0 + texts
    width = texts
    while width > 1:
        middle = (low + high) // 2
        right = tl.load(starts + middle) <= token
        low = tl.where(right, middle, low)
        high = tl.where(right, high, middle)
        # The wider half, so that every token is found by then.
        width = (width + 1) // 2
    return low
