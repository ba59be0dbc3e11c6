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
    numbers: dict[str, int] = {}
    lengths = np.array([len(text.ids) for text in texts], dtype=np.int64)
    ids = np.concatenate([text.ids for text in texts]).astype(np.int64) if texts else np.zeros(0, np.int64)
    ends = lengths.cumsum()
    for i, text in enumerate(texts):
        if text.unknown:
            own = ids[ends[i] - lengths[i] : ends[i]]
            here = np.array([numbers.setdefault(word, len(numbers)) for word in text.unknown])
            outside = own >= vocabulary_size
            own[outside] = vocabulary_size + here[own[outside] - vocabulary_size]
    words, rows = _distinct(ids, vocabulary_size + len(numbers))
    hashes = [subword_hashes(word) for word in numbers]
    starts = np.concatenate([[0], np.cumsum([len(h) for h in hashes])])[:-1] if hashes else np.zeros(0)
    return TokenBatch(
        words=torch.from_numpy(words),
        rows=torch.from_numpy(rows),
        lengths=torch.from_numpy(lengths),
        subwords=torch.tensor([h for word in hashes for h in word], dtype=torch.int64),
        subword_offsets=torch.from_numpy(starts.astype(np.int64)),
    )


def _distinct(ids: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ids, ascending, and each id's place among them; `np.unique` without sorting."""
    place = np.zeros(size, dtype=np.int64)
    place[ids] = 1
    words = np.flatnonzero(place)
    place[words] = np.arange(len(words))
    return words, place[ids]
