"""Texts as tensors of token ids, one behind the other on a single axis, ready for the modules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from linker.data.token_axis import token_axis
from linker.data.vocabulary import EncodedText


@dataclass
class TokenBatch:
    """A batch of texts on one token axis.

    Attributes:
        words: int64, the batch's distinct words, ascending. An id below the vocabulary's size is a word of it; the
            others count on from there through the batch's distinct unknown words.
        rows: int64, sum of lengths: each token's place in `words`.
        lengths: int64, one entry ≥ 1 per text.
        subwords: int64, the subword hashes of all distinct unknown words, one word behind the other.
        subword_offsets: int64, where each unknown word's hashes start in `subwords`.
    """

    words: Tensor
    rows: Tensor
    lengths: Tensor
    subwords: Tensor
    subword_offsets: Tensor

    def to(self, device: torch.device | str) -> TokenBatch:
        """The same batch on another device."""
        return TokenBatch(
            self.words.to(device),
            self.rows.to(device),
            self.lengths.to(device),
            self.subwords.to(device),
            self.subword_offsets.to(device),
        )


def collate(texts: Sequence[EncodedText], vocabulary_size: int) -> TokenBatch:
    """Lay texts one behind the other, words and unknown words numbered through the batch."""
    return TokenBatch(*map(torch.from_numpy, token_axis(texts, vocabulary_size)))
