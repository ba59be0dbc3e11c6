"""Inverted index of the posts of a shard, for BM25 and TF-IDF."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linker.corpus.indexes.id_set import keys_of
from linker.models.lexical import lexical_words

WORDS = "plain-words."


def words_of(texts: Sequence[str], stop_words: str) -> dict[str, np.ndarray]:
    """Return the postings of some posts, the arrays of a `Segment`; about 3 bytes per word and post.

    Words are identified by 64-bit hashes.

    Args:
        texts: the texts of the posts.
        stop_words: as for `lexical_words`.
    """
    ids: dict[str, int] = {}
    flat: list[int] = []
    lengths = np.empty(len(texts), dtype=np.int64)
    for i, text in enumerate(texts):
        words = lexical_words(text, stop_words)
        lengths[i] = len(words)
        flat.extend([ids.setdefault(word, len(ids)) for word in words])
    keys = keys_of(list(ids))[:, 0]
    rank = np.empty(len(ids), dtype=np.int64)
    order = np.argsort(keys)
    rank[order] = np.arange(len(ids))
    pairs = rank[flat] * len(texts) + np.repeat(np.arange(len(texts)), lengths) if flat else np.zeros(0, int)
    pairs, counts = np.unique(pairs, return_counts=True)
    which, places = np.divmod(pairs, max(len(texts), 1))
    repeated = np.flatnonzero(counts > 1)
    return {
        "words": keys[order],
        "ends": _narrow(np.searchsorted(which, np.arange(len(ids)), side="right")),
        "places": _narrow(places),
        "repeated": _narrow(repeated),
        "counts": _narrow(counts[repeated]),
        "lengths": _narrow(lengths),
    }


def _narrow(numbers: np.ndarray) -> np.ndarray:
    """Return numbers ≥ 0 in the narrowest type of `uint16` and `uint32` that holds them."""
    return numbers.astype(np.uint16 if numbers.max(initial=0) < 1 << 16 else np.uint32)


def words_file(stop_words: str) -> str:
    """Return the name of the file of words without these `stop_words` of `lexical_words`."""
    return WORDS + stop_words
