"""The metrics over all pairs on bootstrap samples of the articles, without sorting anything a second time.

A sample that holds an article w times holds each of its pairs w times. So a sample is a vector of weights,
and each metric is a sum over the places where relevant pairs stand in the one ranking of all pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from linker.evaluation.pairs import THRESHOLDS, top_pairs

_GROUPS_AT_ONCE = 512
_CELLS_AT_ONCE = 4_000_000


def resample_pair_metrics(
    scores: np.ndarray,
    relevance: np.ndarray,
    article_ids: Sequence[str],
    post_ids: Sequence[str],
    weights: np.ndarray,
) -> dict[str, np.ndarray]:
    """The metrics of `linker.evaluation.pairs` on every bootstrap sample.

    Args:
        scores: articles × posts.
        relevance: articles × posts.
        article_ids: they and `post_ids` break ties.
        post_ids: see above.
        weights: how often each sample holds each article, samples × articles.

    Returns:
        Name of the metric → one value a sample, NaN where the sample holds no relevant (for AUC: no
        irrelevant) pair.
    """
    relevant = relevance > 0
    thresholds = [r for r in THRESHOLDS if r <= relevance.size]
    samples: dict[str, np.ndarray] = {}
    if thresholds:
        precisions = _r_precisions(scores, relevant, article_ids, post_ids, weights, thresholds)
        samples = {f"r_precision@{r}": column for r, column in zip(thresholds, precisions.T)}
        samples["mRP"] = precisions.mean(axis=1)
    samples["mAP"], area = _average_precision_and_auc(scores, relevant, weights.astype(np.float64))
    if not relevant.all():
        samples["AUC"] = area
    return samples


def _r_precisions(
    scores: np.ndarray,
    relevant: np.ndarray,
    article_ids: Sequence[str],
    post_ids: Sequence[str],
    weights: np.ndarray,
    thresholds: list[int],
) -> np.ndarray:
    """Samples × thresholds. Copies of a pair stand next to each other; the r-th place may fall among them."""
    count = 2 * thresholds[-1]
    while True:
        best = top_pairs(scores, article_ids, post_ids, count)
        rows, hit = best // scores.shape[1], relevant.ravel()[best]
        depth = weights @ np.bincount(rows, minlength=len(scores))
        if count >= scores.size or depth.min() >= thresholds[-1]:
            break
        count *= 4
    result = np.empty((len(weights), len(thresholds)))
    step = max(1, _CELLS_AT_ONCE // len(best))
    for start in range(0, len(weights), step):
        copies = weights[start : start + step, rows]
        places, hits = copies.cumsum(axis=1), (copies * hit).cumsum(axis=1)
        each = np.arange(len(copies))
        for column, r in enumerate(thresholds):
            reached = (places < r).sum(axis=1)
            beyond = np.where(hit[reached], places[each, reached] - r, 0)
            result[start : start + step, column] = (hits[each, reached] - beyond) / r
    return result


def _average_precision_and_auc(
    scores: np.ndarray, relevant: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Both of every sample. Pairs with equal scores form one group, as in scikit-learn."""
    values, group = np.unique(-scores[relevant], return_inverse=True)
    rows = np.nonzero(relevant)[0]
    found = sparse.csr_matrix((np.ones(len(rows)), (rows, group)), shape=(len(scores), len(values)))
    found_in_group = np.asarray((found.T @ weights.T).T)
    found_so_far = found_in_group.cumsum(axis=1)
    ascending = np.sort(scores, axis=1)
    precision_sum, irrelevant_before = np.zeros(len(weights)), np.zeros(len(weights))
    for start in range(0, len(values), _GROUPS_AT_ONCE):
        groups = slice(start, start + _GROUPS_AT_ONCE)
        above, at_least = (weights @ counts for counts in _counts(ascending, -values[groups]))
        hits, so_far = found_in_group[:, groups], found_so_far[:, groups]
        precision_sum += (
            hits * np.divide(so_far, at_least, out=np.zeros_like(so_far), where=at_least > 0)
        ).sum(axis=1)
        irrelevant_above, irrelevant_at_least = above - (so_far - hits), at_least - so_far
        irrelevant_before += (hits * (irrelevant_above + irrelevant_at_least) / 2).sum(axis=1)
    total = found_so_far[:, -1]
    irrelevant = scores.size - total
    with np.errstate(invalid="ignore", divide="ignore"):
        return precision_sum / total, 1 - irrelevant_before / (total * irrelevant)


def _counts(ascending: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many of each article's scores are above, and not below, each value: two of articles × values."""
    above, at_least = np.empty((2, len(ascending), len(values)))
    for row, scores in enumerate(ascending):
        above[row] = len(scores) - np.searchsorted(scores, values, side="right")
        at_least[row] = len(scores) - np.searchsorted(scores, values, side="left")
    return above, at_least
