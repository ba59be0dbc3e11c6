"""TF-IDF as De Boom et al. 2016 have it: raw counts times ln(N / (1 + df)), N and df of the training texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from linker.data.vocabulary import idf_of


class WordTfidf:
    """TF-IDF over the words of some training texts.

    Args:
        texts: tokenized.
    """

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        words = sorted({word for text in texts for word in text})
        self._column = {word: i for i, word in enumerate(words)}
        self._idf = idf_of(words, texts).astype(np.float64)

    def vectors(self, texts: Sequence[Sequence[str]]) -> sparse.csr_matrix:
        """Unit vectors, or zeros where no word was among the training texts': float64, texts × words."""
        counts = [
            (i, self._column[word], count)
            for i, text in enumerate(texts)
            for word, count in Counter(text).items()
            if word in self._column
        ]
        rows, columns, values = np.array(counts, dtype=np.int64).reshape(-1, 3).T
        matrix = sparse.csr_matrix(
            (values, (rows, columns)), shape=(len(texts), len(self._column)), dtype=float
        )
        return normalize(matrix @ sparse.diags(self._idf))
