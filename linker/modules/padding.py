"""Texts on one token axis, and padded to equal lengths."""

import torch
from torch import Tensor


def offsets_of(lengths: Tensor) -> Tensor:
    """Return the start of each text on the token axis, and the end of the last one: int64, texts + 1."""
    return torch.nn.functional.pad(lengths.cumsum(0), (1, 0))


def pad_tokens(tokens: Tensor, lengths: Tensor, minimum: int = 1) -> tuple[Tensor, Tensor]:
    """Pad concatenated token vectors.

    Args:
        tokens: float, tokens × dim.
        lengths: int64, texts.
        minimum: minimum length of the padded axis.

    Returns:
        values, texts × longest × dim, zero at padding; mask, bool, texts × longest, true at tokens.
    """
    longest = max(int(lengths.max()), minimum)
    mask = torch.arange(longest, device=lengths.device) < lengths[:, None]
    padded = tokens.new_zeros(len(lengths), longest, tokens.shape[-1])
    padded[mask] = tokens
    return padded, mask
