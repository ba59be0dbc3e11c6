"""Paired significance tests between models.

The tests resample articles, or posts where these are the queries, never single pairs, and compare both models on the
same ones.
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from linker.evaluation.metrics.pairwise import THRESHOLDS, top_pairs

_GROUPS_AT_ONCE = 512
_CELLS_AT_ONCE = 4_000_000


def resample_pair_metrics(
    scores: np.ndarray,
    relevance: np.ndarray,
    article_ids: Sequence[str],
    post_ids: Sequence[str],
    weights: np.ndarray,
) -> dict[str, np.ndarray]:
    """Return the metrics of `linker.evaluation.metrics.pairwise` on every bootstrap sample.

    Args:
        scores: articles × posts.
        relevance: articles × posts.
        article_ids: ids of the rows; they break ties.
        post_ids: ids of the columns; they break ties.
        weights: how often each sample contains each article: samples × articles.

    Returns:
        Name of the metric → one value per sample, NaN if the sample has no relevant (for AUC: no
        irrelevant) pair.
    """
    relevant = relevance > 0
    thresholds = [r for r in THRESHOLDS if r <= weights.sum(axis=1).min() * relevance.shape[1]]
    samples: dict[str, np.ndarray] = {}
    if thresholds:
        precisions = _r_precisions(scores, relevant, article_ids, post_ids, weights, thresholds)
        samples = {f"r_precision@{r}": column for r, column in zip(thresholds, precisions.T)}
        samples["mRP"] = precisions.mean(axis=1)
    samples["pair AP"], area = _average_precision_and_auc(scores, relevant, weights.astype(np.float64))
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
        copies = weights[start : start + step].take(rows, axis=1)  # row by row in memory: sums are fast
        positions, hits = copies.cumsum(axis=1), (copies * hit).cumsum(axis=1)
        each = np.arange(len(copies))
        for column, r in enumerate(thresholds):
            reached = (positions < r).sum(axis=1)
            beyond = np.where(hit[reached], positions[each, reached] - r, 0)
            result[start : start + step, column] = (hits[each, reached] - beyond) / r
    return result


def _average_precision_and_auc(
    scores: np.ndarray, relevant: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Both of every sample. Pairs with equal scores form one group, as in scikit-learn."""
    values, group = np.unique(-scores[relevant], return_inverse=True)
    rows = np.nonzero(relevant)[0]
    by_group = sparse.csr_matrix((np.ones(len(rows)), (rows, group)), shape=(len(scores), len(values)))
    found_in_group = np.asarray((by_group.T @ weights.T).T)
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


_AT_ONCE = 1000
# Up to this number of articles, all patterns of signs are tried: 16,384.
_EXACT = 15


def sign_patterns(count: int) -> np.ndarray:
    """Return all patterns of `count` signs, 1 or -1, of which the first is 1: patterns × signs.

    Patterns with the opposite signs differ in nothing that two-sided tests see.
    """
    return 1.0 - 2.0 * ((np.arange(2 ** (count - 1))[:, None] >> np.arange(count)[::-1]) % 2)


def randomization_test(differences: np.ndarray, resamples: int = 10_000, seed: int = 0) -> np.ndarray:
    """Two-sided paired randomization (permutation) test, as Smucker, Allan and Carterette 2007 advise for
    retrieval.

    Null hypothesis: on each article, the values of the models could be swapped, so every difference could as well have
    the other sign; not that means are equal while differences are skewed. Exact up to 15 articles: then all patterns of
    signs are tried.

    Args:
        differences: articles (or posts) × metrics, the value of one model minus that of the other.
        resamples: how many random sign patterns are tried.
        seed: the same seed gives the same p-values.

    Returns:
        For each metric, the share of sign patterns whose mean is at least as far from 0 as the observed one
        (the observed pattern counts as one of them, so that no p-value is 0).
    """
    random = np.random.default_rng(seed)
    observed = np.abs(differences.sum(axis=0))
    # Sums of the same numbers in another order differ by rounding: what is equal must count as equal.
    observed -= 1e-9 * np.abs(differences).sum(axis=0)
    if len(differences) <= _EXACT:
        sums = np.abs(sign_patterns(len(differences)) @ differences)
        return np.asarray((sums >= observed).mean(axis=0))
    as_far = np.ones(differences.shape[1])
    step = _samples_at_once(len(differences))
    for start in range(0, resamples, step):
        signs = random.choice((-1.0, 1.0), size=(min(step, resamples - start), len(differences)))
        as_far += (np.abs(signs @ differences) >= observed).sum(axis=0)
    return as_far / (resamples + 1)


def bootstrap_weights(articles: int, resamples: int, seed: int | np.random.Generator = 0) -> np.ndarray:
    """How often each article is drawn (with replacement) into each sample: resamples × articles."""
    shares = np.full(articles, 1 / articles)
    return np.random.default_rng(seed).multinomial(articles, shares, size=resamples)


def mean_intervals(values: np.ndarray) -> np.ndarray:
    """Return 95 % intervals of means of differences: Student's t with two more values.

    These are the median plus and minus the farthest distance from it. Where few of the articles differ, the others
    could have differed, too: without these values, intervals hold far too rarely. Agresti and Caffo (2000) add a
    success and a failure to shares for the same reason.

    Args:
        values: articles (or posts) × metrics, finite.

    Returns:
        Lower and upper ends: 2 × metrics.
    """
    from scipy.stats import t  # takes half a second to import

    median = np.median(values, axis=0)
    farthest = np.abs(values - median).max(axis=0)
    values = np.vstack([values, median - farthest, median + farthest])
    half = values.std(axis=0, ddof=1) * t.ppf(0.975, len(values) - 1) / len(values) ** 0.5
    return np.stack([values.mean(axis=0) - half, values.mean(axis=0) + half])


def _samples_at_once(count: int) -> int:
    return max(1, min(_AT_ONCE, _CELLS_AT_ONCE // max(count, 1)))


def percentile_interval(samples: np.ndarray) -> tuple[float, float]:
    """The middle 95 % of bootstrap samples (percentile method); NaN drops out."""
    low, high = np.nanquantile(samples, (0.025, 0.975))
    return float(low), float(high)


def bootstrap_p_value(samples: np.ndarray) -> float:
    """Two-sided p-value of samples of a difference: twice the share on the rarer side of 0, at most 1.

    It is too small for few articles: use `swapped_p_values` for fewer than 30.
    """
    defined = samples[~np.isnan(samples)]
    rarer = min((defined <= 0).sum(), (defined >= 0).sum())
    return float(min(1.0, 2 * (rarer + 1) / (len(defined) + 1)))


def swapped_p_values(
    scores: np.ndarray,
    reference: np.ndarray,
    relevance: np.ndarray,
    article_ids: Sequence[str],
    post_ids: Sequence[str],
    seed: int = 0,
) -> dict[str, float]:
    """Two-sided p-values of the metrics of `linker.evaluation.metrics.pairwise`, by a randomization test.

    Null hypothesis: on each article, the scores of the models could be swapped, but for the scales that they are on. So
    both are compared by ranks among all their pairs. Ranks take location and width of a scale from these articles, like
    two parameters of a fit, and swapped differences are too small by a factor of √(1 − 2/articles), as its residuals
    are; the observed difference is reduced likewise. Without that, up to 7.6 % of p-values of equal models were ≤ 0.05.

    Args:
        scores: articles × posts, by one model.
        reference: likewise, by the other.
        relevance: articles × posts.
        article_ids: ids of the rows; they break ties.
        post_ids: ids of the columns; they break ties.
        seed: the same seed gives the same p-values.

    Returns:
        Name of the metric → p-value; exact up to 12 articles, else of 2,000 random patterns of swaps.
    """
    from scipy.stats import rankdata  # takes half a second to import

    swaps = np.random.default_rng(seed).random((2001, len(scores))) < 0.5
    if len(scores) <= 12:
        swaps = sign_patterns(len(scores)) < 0
    swaps[0] = False  # as observed
    both = np.concatenate([rankdata(scores).reshape(scores.shape), rankdata(reference).reshape(scores.shape)])
    relevant, ids = np.concatenate([relevance, relevance]), [*article_ids, *article_ids]
    first, second = (
        resample_pair_metrics(both, relevant, ids, post_ids, np.hstack([~flips, flips]).astype(np.int64))
        for flips in (swaps, ~swaps)
    )
    differences = {metric: np.abs(first[metric] - second[metric]) for metric in first}
    shrunk = max(0, 1 - 2 / len(scores)) ** 0.5
    # R-precision has few values: of swaps, the next lower one counts.
    least = {metric: of[of <= shrunk * of[0] + 1e-12].max(initial=0) for metric, of in differences.items()}
    return {metric: float((of >= least[metric] - 1e-12).mean()) for metric, of in differences.items()}


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction (1979) for several comparisons, in the order given.

    The chance that any of them falls below a level by luck is then at most that level.
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for position, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - position) * p_values[index]))
        corrected[index] = highest
    return corrected
