"""Texts as token ids, one behind the other on a single axis: NumPy only."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

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


class TokenAxis(NamedTuple):
    """Several texts on one token axis; int64 arrays.

    Attributes:
        words: the distinct words of the texts, ascending. An id below the vocabulary's size is a word of it; the
            others count on from there through the distinct unknown words.
        rows: sum of lengths: each token's place in `words`.
        lengths: one entry ≥ 1 per text.
        subwords: the subword hashes of all distinct unknown words, one word behind the other.
        subword_offsets: where each unknown word's hashes start in `subwords`.
    """

    words: np.ndarray
    rows: np.ndarray
    lengths: np.ndarray
    subwords: np.ndarray
    subword_offsets: np.ndarray


def token_axis(texts: Sequence[EncodedText], vocabulary_size: int) -> TokenAxis:
    """Lay texts one behind the other, words and unknown words numbered through all of them."""
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
    subwords = np.array([h for word in hashes for h in word], dtype=np.int64)
    return TokenAxis(words, rows, lengths, subwords, starts.astype(np.int64))


def _distinct(ids: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ids, ascending, and each id's place among them; `np.unique` without sorting."""
    place = np.zeros(size, dtype=np.int64)
    place[ids] = 1
    words = np.flatnonzero(place)
    place[words] = np.arange(len(words))
    return words, place[ids]
