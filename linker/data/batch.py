"""Texts as token ids, one behind the other on a single axis, ready for the modules."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from linker.data.vocabulary import EncodedText

SUBWORD_LENGTHS = range(3, 7)


@lru_cache(maxsize=200_000)
def subword_hashes(word: str) -> tuple[int, ...]:
    """Hashes of the character n-grams (3 to 6, word ends marked) of a word, and of the whole word.

    The scheme of Bojanowski et al. 2017, section 3.2, with CRC-32 as hash function: the same everywhere.
    """
    marked = f"<{word}>"
    grams = [marked[i : i + n] for n in SUBWORD_LENGTHS for i in range(len(marked) - n + 1)]
    return tuple(zlib.crc32(gram.encode("utf-8", "surrogatepass")) for gram in [*grams, marked])


@dataclass
class TokenBatch:
    """A batch of texts on one token axis.

    Attributes:
        ids: int64, sum of lengths. An id below the vocabulary's size is a word of it; the others count on from
            there through the batch's distinct unknown words.
        lengths: int64, one entry ≥ 1 per text.
        subwords: int64, the subword hashes of all distinct unknown words, one word behind the other.
        subword_offsets: int64, where each unknown word's hashes start in `subwords`.
    """

    ids: Tensor
    lengths: Tensor
    subwords: Tensor
    subword_offsets: Tensor

    def to(self, device: torch.device | str) -> TokenBatch:
        """The same batch on another device."""
        return TokenBatch(
            self.ids.to(device),
            self.lengths.to(device),
            self.subwords.to(device),
            self.subword_offsets.to(device),
        )


def collate(texts: Sequence[EncodedText], vocabulary_size: int) -> TokenBatch:
    """Lay texts one behind the other, unknown words numbered through the batch."""
    numbers: dict[str, int] = {}
    parts = []
    for text in texts:
        ids = text.ids.astype(np.int64)
        if text.unknown:
            own = np.array([numbers.setdefault(word, len(numbers)) for word in text.unknown])
            outside = ids >= vocabulary_size
            ids[outside] = vocabulary_size + own[ids[outside] - vocabulary_size]
        parts.append(ids)
    hashes = [subword_hashes(word) for word in numbers]
    starts = np.concatenate([[0], np.cumsum([len(h) for h in hashes])])[:-1] if hashes else np.zeros(0)
    return TokenBatch(
        ids=torch.from_numpy(np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)),
        lengths=torch.tensor([len(text.ids) for text in texts], dtype=torch.int64),
        subwords=torch.tensor([h for word in hashes for h in word], dtype=torch.int64),
        subword_offsets=torch.from_numpy(starts.astype(np.int64)),
    )
