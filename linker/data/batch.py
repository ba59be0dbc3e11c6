"""Ragged batches of token ids as tensors, the input of embedders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from linker.data.token_axis import token_axis
from linker.data.vocabulary import EncodedText


class TokenBatch(NamedTuple):
    """A batch of texts on one token axis: the fields of `TokenAxis` as int64 tensors."""

    words: Tensor
    rows: Tensor
    lengths: Tensor
    subwords: Tensor
    subword_offsets: Tensor

    def to(self, device: torch.device | str) -> TokenBatch:
        """Return the batch on another device."""
        return TokenBatch(*(tensor.to(device) for tensor in self))


def collate(texts: Sequence[EncodedText], vocabulary_size: int) -> TokenBatch:
    """Concatenate texts that were encoded by a vocabulary of `vocabulary_size` words."""
    return TokenBatch(*map(torch.from_numpy, token_axis(texts, vocabulary_size)))
