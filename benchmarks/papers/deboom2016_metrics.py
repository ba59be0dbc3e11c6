"""Metrics of related and unrelated pairs, and the paper's TF-IDF (De Boom et al. 2016, section 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.spatial.distance import jensenshannon
from sklearn.preprocessing import normalize

from linker.common.errors import LinkerError
from linker.data.vocabulary import idf_of

BINS = 100


@dataclass(frozen=True)
class PairDistances:
    """Distances of pairs of texts, float, of any scale; smaller is more similar."""

    related: np.ndarray
    unrelated: np.ndarray

    def __post_init__(self) -> None:
        for name, values in (("related", self.related), ("unrelated", self.unrelated)):
            if not len(values):
                raise LinkerError(f"no {name} pairs to measure")
            if not np.isfinite(values).all():
                raise LinkerError(f"a distance of a pair ({name}) is not finite")


@dataclass
class Result:
    """One method on the test pairs."""

    error: float
    divergence: float
    distances: PairDistances
    threshold: float


def best_threshold(distances: PairDistances) -> float:
    """Return the distance up to which pairs are called related with the fewest errors.

    Each kind counts half, whatever its number of pairs. Of equal thresholds the lowest; −∞ if it is best to call
    nothing related.
    """
    related, unrelated = np.sort(distances.related), np.sort(distances.unrelated)
    candidates = np.concatenate([[-np.inf], np.unique(np.concatenate([related, unrelated]))])
    missed = 1 - np.searchsorted(related, candidates, "right") / len(related)
    wrong = np.searchsorted(unrelated, candidates, "right") / len(unrelated)
    best = int(np.argmin(missed + wrong))
    if best in (0, len(candidates) - 1):
        return float(candidates[best])
    # Halfway to the next distance, so that rounding moves no pair across.
    return float((candidates[best] + candidates[best + 1]) / 2)


def split_error(distances: PairDistances, threshold: float) -> float:
    """Return the share of pairs on the wrong side of a threshold chosen on other pairs; each kind counts half."""
    return float(np.mean(distances.related > threshold) + np.mean(distances.unrelated <= threshold)) / 2


def jensen_shannon(distances: PairDistances, bins: int = BINS) -> float:
    """Return the Jensen–Shannon divergence between the two kinds' distances, in bits: 0 if equal, 1 if disjoint.

    Args:
        distances: binned into equal widths over the range of both kinds.
        bins: number of bins; with n pairs of each kind, chance alone yields about bins / (6 n) bits.
    """
    edges = np.histogram_bin_edges(np.concatenate([distances.related, distances.unrelated]), bins)
    p = np.histogram(distances.related, edges)[0] / len(distances.related)
    q = np.histogram(distances.unrelated, edges)[0] / len(distances.unrelated)
    # scipy returns its square root.
    return float(jensenshannon(p, q, base=2)) ** 2


class WordTfidf:
    """TF-IDF over the words of training texts: raw counts times ln(N / (1 + df)), N and df of these texts.

    Args:
        texts: training texts, tokenized.
    """

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        words = sorted({word for text in texts for word in text})
        self._column = {word: i for i, word in enumerate(words)}
        self._idf = idf_of(words, texts).astype(np.float64)

    def vectors(self, texts: Sequence[Sequence[str]]) -> sparse.csr_matrix:
        """Return unit vectors, zeros for a text without a word of the training texts: float64, texts × words."""
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
