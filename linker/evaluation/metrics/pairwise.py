"""Metrics over all (article, post) pairs in one ranking: the protocol of Danovitch 2020, section 4.

Scores and relevance are arrays of articles × posts; a pair is relevant where relevance is above 0. These
metrics ask more than those of `per_article`: scores of different articles must be comparable with each other.
"""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

THRESHOLDS = (50, 100, 200, 500, 1000, 2000, 3000)
"""The r of the paper's r-Precision."""


def top_pairs(
    scores: np.ndarray, article_ids: Sequence[str], post_ids: Sequence[str], count: int
) -> np.ndarray:
    """Return flat indices of the `count` best pairs, best first (all of them if there are fewer).

    Ties are ordered by a hash of article id and post id. The ids alone decide, never the order of the input.
    Their alphabetical order could agree with relevance by accident: posts are often numbered article by
    article, so the first article's posts would come first and a constant scorer would gain.
    """
    flat = np.asarray(scores).ravel()
    count = min(count, flat.size)
    if count == 0:
        return np.empty(0, dtype=np.int64)
    lowest = np.partition(flat, flat.size - count)[flat.size - count]
    candidates = np.flatnonzero(flat >= lowest)
    rows, columns = np.divmod(candidates, scores.shape[1])
    order = np.lexsort((_pair_hashes(article_ids, post_ids, rows, columns), -flat[candidates]))
    return candidates[order[:count]]


def _pair_hashes(
    article_ids: Sequence[str], post_ids: Sequence[str], rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """Return a 64-bit hash of every pair (row, column), the same on every machine."""
    mixed = _id_hashes(article_ids)[rows] * np.uint64(0x9E3779B97F4A7C15) + _id_hashes(post_ids)[columns]
    # The finalizer of splitmix64: without it, equal differences between id hashes would give equal orders.
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _id_hashes(ids: Sequence[str]) -> np.ndarray:
    digests = b"".join(blake2b(i.encode("utf-8", "surrogatepass"), digest_size=8).digest() for i in ids)
    return np.frombuffer(digests, dtype="<u8")


def r_precision_at(
    scores: np.ndarray,
    relevance: np.ndarray,
    article_ids: Sequence[str],
    post_ids: Sequence[str],
    thresholds: Sequence[int] = THRESHOLDS,
) -> dict[int, float]:
    """r → share of relevant pairs among the r best pairs. An r above the number of pairs is left out.

    This is the paper's use of the word; the retrieval field's R-precision is `per_article.r_precision`.
    """
    reached = [r for r in thresholds if r <= relevance.size]
    best = top_pairs(scores, article_ids, post_ids, max(reached, default=0))
    hits = np.cumsum(relevance.ravel()[best] > 0)
    return {r: float(hits[r - 1]) / r for r in reached}


def average_precision(scores: np.ndarray, relevance: np.ndarray) -> float:
    """Pair AP, the paper's mAP: scikit-learn's `average_precision_score` over all pairs, Σ (Rₙ − Rₙ₋₁) Pₙ.

    Tied pairs enter as one group, so a constant scorer gets the share of relevant pairs.
    """
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(relevance.ravel() > 0, scores.ravel()))


def auc(scores: np.ndarray, relevance: np.ndarray) -> float:
    """AUC-ROC over all pairs (scikit-learn): the chance that a relevant pair scores above an irrelevant one.

    Ties count one half. Both kinds of pairs must occur.
    """
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(relevance.ravel() > 0, scores.ravel()))
