"""Map scores to probabilities, and measure how reliable these are."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linker.common.errors import LinkerError
from linker.common.stats import effective_counts, proportion_interval

_FOLDS = 5
_BINS = 10


@dataclass(frozen=True)
class Bin:
    """Pairs with probabilities in [low, high), and up to `high` in the last bin.

    Attributes:
        low: lower edge.
        high: upper edge.
        count: number of pairs, 1 or more.
        predicted: mean probability.
        observed: share of relevant pairs.
        observed_low: lower end of the 95 % interval of `observed`, for other articles.
        observed_high: upper end.
    """

    low: float
    high: float
    count: int
    predicted: float
    observed: float
    observed_low: float
    observed_high: float


@dataclass(frozen=True)
class Reliability:
    """Reliability of probabilities.

    Attributes:
        bins: the pairs by their probability.
        calibration_error: expected calibration error: mean of |predicted − observed|, bins weighted by their pairs.
        brier_score: mean squared difference between probability and truth; 0 is perfect.
    """

    bins: list[Bin]
    calibration_error: float
    brier_score: float


def cross_validated_probabilities(
    scores: np.ndarray, relevant: np.ndarray, groups: np.ndarray, seed: int = 13
) -> np.ndarray:
    """Return the probability of relevance of each pair, by isotonic regression on the pairs of other groups.

    Args:
        scores: float, one per pair, finite.
        relevant: bool, one per pair.
        groups: int, group of each pair, from 0.
        seed: random seed of the five folds.

    Returns:
        float64, one per pair, in [0, 1].

    Raises:
        LinkerError: if there are fewer relevant or irrelevant pairs than folds.
    """
    positives = int(relevant.sum())
    if min(positives, len(relevant) - positives) < _FOLDS:
        raise LinkerError(
            f"{positives} relevant and {len(relevant) - positives} irrelevant pairs: {_FOLDS} folds need at least "
            f"{_FOLDS} of each"
        )
    fold = np.random.default_rng(seed).permutation(groups.max() + 1)[groups] % _FOLDS
    probabilities = np.empty(len(scores))
    for number in np.unique(fold):
        held_out = fold == number
        probabilities[held_out] = isotonic(scores[~held_out], relevant[~held_out])(scores[held_out])
    return probabilities


def platt(scores: np.ndarray, relevant: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Fit a logistic curve from scores to probabilities (Platt 1999)."""
    from sklearn.linear_model import LogisticRegression

    positives, negatives = int(relevant.sum()), int((~relevant).sum())
    # Never quite 1 or 0, so that separable scores do not give an infinitely steep curve.
    targets = np.where(relevant, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    middle, spread = scores.mean(), scores.std() or 1.0
    column = ((scores - middle) / spread)[:, None]
    curve = LogisticRegression(C=1e8, max_iter=1000, tol=1e-8).fit(
        np.concatenate([column, column]),
        np.repeat([True, False], len(scores)),
        sample_weight=np.concatenate([targets, 1 - targets]),
    )
    return lambda new: curve.predict_proba(((new - middle) / spread)[:, None])[:, 1]


def isotonic(scores: np.ndarray, relevant: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Fit a rising curve from scores to probabilities by isotonic regression."""
    from sklearn.isotonic import IsotonicRegression

    curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    curve.fit(scores, relevant.astype(float))
    return lambda new: np.asarray(curve.predict(new))


def rising(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the nearest numbers that do not fall, by isotonic regression; their weighted sum is that of `values`.

    Args:
        values: numbers in ascending order of their scores.
        weights: number of pairs of each, > 0.
    """
    from sklearn.isotonic import isotonic_regression

    return np.asarray(isotonic_regression(np.asarray(values, np.float64), sample_weight=weights))


def smoothed_rates(relevant: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return rising shares of relevant pairs in bins: float64, one per bin, within (0, 1).

    Isotonic regression pools bins; to each pool, half a relevant pair and half another one are added. Added to single
    bins, these halves would be most of the relevant pairs among low scores.

    Args:
        relevant: number of relevant pairs in each bin.
        pairs: number of pairs in each bin.
    """
    filled = pairs > 1e-6  # bootstrap samples leave bins empty: they get the rate of the next lower one
    relevant, pairs = relevant[filled], pairs[filled]
    rates = rising(relevant / pairs, pairs)
    pools = np.concatenate([[0], np.cumsum(np.diff(rates) > 1e-12)])
    sums, counts = np.bincount(pools, relevant), np.bincount(pools, pairs)
    rates = rising((sums + 0.5) / (counts + 1), counts + 1)[pools]
    return np.asarray(rates[np.maximum(np.cumsum(filled) - 1, 0)])


def reliability_of(probabilities: np.ndarray, relevant: np.ndarray, groups: np.ndarray) -> Reliability:
    """Compare probabilities with the truth in ten equal-width bins, without empty bins.

    Pairs of an article are alike: intervals are of as many independent pairs as say as much (`effective_counts`).

    Args:
        probabilities: float, one per pair, in [0, 1].
        relevant: bool, one per pair.
        groups: int, article of each pair.
    """
    edges = np.linspace(0, 1, _BINS + 1)
    bin_of = np.minimum(np.searchsorted(edges, probabilities, side="right") - 1, _BINS - 1)
    filled = []
    for number in np.unique(bin_of):
        inside = bin_of == number
        count, hits = int(inside.sum()), int(relevant[inside].sum())
        predicted = float(probabilities[inside].mean())
        low, high = edges[number : number + 2].round(12).tolist()
        interval = proportion_interval(*effective_counts(relevant[inside], groups[inside], alike=False))
        filled.append(Bin(low, high, count, predicted, hits / count, *interval))
    error = sum(b.count * abs(b.predicted - b.observed) for b in filled) / len(probabilities)
    return Reliability(filled, error, float(np.mean((probabilities - relevant.astype(float)) ** 2)))
