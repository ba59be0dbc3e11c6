"""Inverse document frequency: how rare a word is among the training texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np


def idf_of(words: Sequence[str], texts: Iterable[Iterable[str]]) -> np.ndarray:
    """ln(N / (1 + df)) of each word, N texts, df of them with the word (De Boom et al. 2016, equation 1).

    A word of all texts lies a little under 0; one of no text has ln N.

    Returns:
        float32, one entry per word.
    """
    containing: Counter[str] = Counter()
    count = 0
    for text in texts:
        containing.update(set(text))
        count += 1
    frequencies = np.array([containing[word] for word in words], dtype=np.float64)
    return np.log(max(count, 1) / (1 + frequencies)).astype(np.float32)
