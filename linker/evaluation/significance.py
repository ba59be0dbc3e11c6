"""Is one model better than another, or were they lucky with these articles?

Articles are what is drawn at random: the tests resample articles, never single pairs, and always take the
values of both models on the same articles (paired).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_AT_ONCE = 1000


def randomisation_test(differences: np.ndarray, resamples: int = 10_000, seed: int = 0) -> np.ndarray:
    """Two-sided paired randomisation (permutation) test, as Smucker, Allan and Carterette 2007 advise for
    retrieval.

    If two models were equal, their values on an article could be swapped, so every difference could as well
    have the other sign.

    Args:
        differences: articles × metrics, the value of one model minus that of the other.
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
    as_far = np.ones(differences.shape[1])
    for start in range(0, resamples, _AT_ONCE):
        signs = random.choice((-1.0, 1.0), size=(min(_AT_ONCE, resamples - start), len(differences)))
        as_far += (np.abs(signs @ differences) >= observed).sum(axis=0)
    return as_far / (resamples + 1)


def bootstrap_weights(articles: int, resamples: int, seed: int = 0) -> np.ndarray:
    """How often each article is drawn (with replacement) into each sample: resamples × articles."""
    return np.random.default_rng(seed).multinomial(articles, np.full(articles, 1 / articles), size=resamples)


def percentile_interval(samples: np.ndarray, confidence: float = 0.95) -> tuple[float, float]:
    """The middle `confidence` of bootstrap samples (percentile method); NaN drops out."""
    tail = (1 - confidence) / 2
    low, high = np.nanquantile(samples, (tail, 1 - tail))
    return float(low), float(high)


def bootstrap_p_value(samples: np.ndarray, articles: int) -> float:
    """Two-sided p-value of samples of a difference: twice the share on the rarer side of 0, at most 1.

    Few articles resampled still look alike, so it is never below 2 ** (1 - articles), the least that a sign
    test on that many articles can reach: one article proves nothing.
    """
    defined = samples[~np.isnan(samples)]
    rarer = min((defined <= 0).sum(), (defined >= 0).sum())
    return float(min(1.0, max(2 * (rarer + 1) / (len(defined) + 1), 2.0 ** (1 - articles))))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction (1979) for several comparisons, in the order given.

    The chance that any of them falls below a level by luck is then at most that level.
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[index]))
        corrected[index] = highest
    return corrected
