"""Ragged batches of token ids: texts concatenated along one token axis; NumPy only."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from linker.data.vocabulary import EncodedText

SUBWORD_LENGTHS = range(3, 7)
# Longer words are hashed by their beginning: megabytes without a space would take gigabytes.
_LONGEST_WORD = 1_000


@lru_cache(maxsize=50_000)
def subword_hashes(word: str) -> array[int]:
    """Hash the character n-grams (lengths 3 to 6, with word boundaries) of a word, and the whole word.

    Bojanowski et al. 2017, section 3.2, with CRC-32 as the hash function, which is the same on every platform. Of a
    word of more than 1,000 characters, only the first 1,000 count.
    """
    marked = f"<{word[:_LONGEST_WORD]}>"
    grams = [marked[i : i + n] for n in SUBWORD_LENGTHS for i in range(len(marked) - n + 1)]
    # As numbers of 4 bytes, since tuples take five times the memory.
    return array("I", [zlib.crc32(gram.encode("utf-8", "surrogatepass")) for gram in [*grams, marked]])


class TokenAxis(NamedTuple):
    """Texts concatenated along one token axis; all arrays are int64.

    Attributes:
        words: (distinct words,) ids, ascending. Ids below the vocabulary's size are its words; ids from there on number
            the distinct unknown words.
        rows: (tokens,) each token's index in `words`.
        lengths: (texts,) number of tokens per text, ≥ 1.
        subwords: the concatenated subword hashes of the distinct unknown words.
        subword_offsets: (distinct unknown words,) start of each word's hashes in `subwords`.
    """

    words: np.ndarray
    rows: np.ndarray
    lengths: np.ndarray
    subwords: np.ndarray
    subword_offsets: np.ndarray


def token_axis(texts: Sequence[EncodedText], vocabulary_size: int) -> TokenAxis:
    """Concatenate texts; unknown words are numbered across all of them.

    Args:
        texts: encoded by a vocabulary of `vocabulary_size` words.
        vocabulary_size: the first id of unknown words.
    """
    unknown: dict[str, int] = {}
    lengths = np.array([len(text.ids) for text in texts], dtype=np.int64)
    ids = np.concatenate([text.ids for text in texts]).astype(np.int64) if texts else np.zeros(0, np.int64)
    ends = lengths.cumsum()
    for i, text in enumerate(texts):
        if text.unknown:
            text_ids = ids[ends[i] - lengths[i] : ends[i]]  # a view: renumbered in place
            numbers = np.array([unknown.setdefault(word, len(unknown)) for word in text.unknown])
            outside = text_ids >= vocabulary_size
            text_ids[outside] = vocabulary_size + numbers[text_ids[outside] - vocabulary_size]
    words, rows = _distinct(ids, vocabulary_size + len(unknown))
    hashes = [subword_hashes(word) for word in unknown]
    starts = np.concatenate([[0], np.cumsum([len(h) for h in hashes])])[:-1] if hashes else np.zeros(0)
    subwords = np.array([h for word in hashes for h in word], dtype=np.int64)
    return TokenAxis(words, rows, lengths, subwords, starts.astype(np.int64))


def _distinct(ids: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ids, ascending, and each id's index among them; `np.unique` without sorting."""
    index = np.zeros(size, dtype=np.int64)
    index[ids] = 1
    words = np.flatnonzero(index)
    index[words] = np.arange(len(words))
    return words, index[ids]


def token_batches(texts: Iterable[EncodedText], min_tokens: int) -> Iterator[list[EncodedText]]:
    """Split texts into batches, in order; each ends with the text that brings it to `min_tokens` tokens."""
    batch: list[EncodedText] = []
    tokens = 0
    for text in texts:
        batch.append(text)
        tokens += len(text.ids)
        if tokens >= min_tokens:
            yield batch
            batch, tokens = [], 0
    if batch:
        yield batch


def length_buckets(lengths: Sequence[int], budget: int, equal: bool = False) -> Iterator[list[int]]:
    """Split texts into batches of similar length, so that short posts are not padded to the length of articles.

    Args:
        lengths: number of tokens of each text.
        budget: maximum of longest × count in a batch, unless a single text exceeds it.
        equal: whether all texts of a batch have the same number of tokens, so that none is padded.

    Yields:
        Indices of the texts of a batch, by length; its longest text has at most twice the tokens of its shortest, plus
        8, unless all are equal.
    """
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        longest = lengths[i]
        most = 0 if not batch else lengths[batch[0]] if equal else 2 * lengths[batch[0]] + 8
        if batch and (longest * (len(batch) + 1) > budget or longest > most):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch
