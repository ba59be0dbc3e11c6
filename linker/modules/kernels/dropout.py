"""Dropout whose mask is a function of a seed and the place, so that every path drops the same numbers.

Nothing is stored between forward and backward: the mask is computed anew (the counter-based generators of Salmon
et al. 2011, with the finaliser of MurmurHash3 as function).
"""

from __future__ import annotations

import torch
from torch import Tensor

SPREAD, FIRST, SECOND = 0x9E3779B1, 0x85EBCA6B, 0xC2B2AE35
CHUNK = 2048


def draw_seed(dropout: float) -> int:
    """32 bits from torch's generator; 0, and nothing drawn, where nothing is dropped."""
    return int(torch.randint(2**31, (), dtype=torch.int64)) if dropout else 0


def kept(rows: int, columns: int, dropout: float, seed: int, device: torch.device) -> Tensor:
    """bool, rows × columns: which numbers stay.

    The number at place i = row · columns + column is hashed in 32-bit arithmetic: x = i · SPREAD + seed, then
    x ^= x >> 16, x *= FIRST, x ^= x >> 13, x *= SECOND, x ^= x >> 16; it stays where x >> 8 ≥ dropout · 2^24.
    """
    answer = torch.empty(rows, columns, dtype=torch.bool, device=device)
    limit = int(dropout * 2**24)
    for start in range(0, rows, CHUNK):
        end = min(start + CHUNK, rows)
        x = torch.arange(start * columns, end * columns, dtype=torch.int64, device=device).to(torch.int32)
        x = x.mul_(_signed(SPREAD)).add_(_signed(seed))
        x ^= (x >> 16) & 0xFFFF
        x *= _signed(FIRST)
        x ^= (x >> 13) & 0x7FFFF
        x *= _signed(SECOND)
        x ^= (x >> 16) & 0xFFFF
        answer[start:end] = (((x >> 8) & 0xFFFFFF) >= limit).view(-1, columns)
    return answer


def _signed(x: int) -> int:
    """The 32-bit number with the same bits."""
    x &= 0xFFFFFFFF
    return x - (1 << 32) if x >= 1 << 31 else x
