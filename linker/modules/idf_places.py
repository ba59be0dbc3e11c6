"""Which place a token takes in its text when the words are sorted by idf."""

from __future__ import annotations

import torch
from torch import Tensor

# The idf of words without a vector: they take no part in their text.
NO_VECTOR = -torch.inf


def idf_places(idf: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Sort every text's tokens by idf, highest first; among equals the earlier token comes first.

    Args:
        idf: float, sum of lengths; `NO_VECTOR` for tokens that do not count.
        lengths: int64, one entry ≥ 1 per text.

    Returns:
        places, int64, sum of lengths, from 0; those that do not count come last.
        counts, int64, sum of lengths: how many tokens of the token's text do count.
    """
    texts = torch.arange(len(lengths), device=idf.device).repeat_interleave(lengths)
    order = idf.sort(descending=True, stable=True).indices
    order = order[texts[order].sort(stable=True).indices]
    starts = lengths.cumsum(0) - lengths
    places = torch.empty_like(order)
    places[order] = torch.arange(len(idf), device=idf.device) - starts.repeat_interleave(lengths)
    counts = torch.zeros_like(lengths).index_add_(0, texts, (idf > NO_VECTOR).long())
    return places, counts[texts]
