"""Ragged batches of token ids as tensors, the input of embedders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from linker.data.token_axis import token_axis
from linker.data.vocabulary import EncodedText


@dataclass
class TokenBatch:
    """A batch of texts on one token axis: the fields of `TokenAxis` as int64 tensors."""

    words: Tensor
    rows: Tensor
    lengths: Tensor
    subwords: Tensor
    subword_offsets: Tensor

    def to(self, device: torch.device | str) -> TokenBatch:
        """Return the batch on another device."""
        return TokenBatch(
            self.words.to(device),
            self.rows.to(device),
            self.lengths.to(device),
            self.subwords.to(device),
            self.subword_offsets.to(device),
        )


def collate(texts: Sequence[EncodedText], vocabulary_size: int) -> TokenBatch:
    """Concatenate texts that were encoded by a vocabulary of `vocabulary_size` words."""
    return TokenBatch(*map(torch.from_numpy, token_axis(texts, vocabulary_size)))
