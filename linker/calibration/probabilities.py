"""From scores to probabilities, and whether they can be taken at their word."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from linker.common.errors import LinkerError

Method = Literal["platt", "isotonic"]


@dataclass(frozen=True)
class Bin:
    """Pairs with probabilities in [low, high), and up to `high` in the last bin.

    Attributes:
        low: see above.
        high: see above.
        count: how many pairs; at least one.
        predicted: the mean of their probabilities.
        observed: the share of them that is relevant.
        observed_low: the lower end of the 95 % Wilson interval of `observed`.
        observed_high: the upper end.
    """

    low: float
    high: float
    count: int
    predicted: float
    observed: float
    observed_low: float
    observed_high: float


def cross_validated_probabilities(
    scores: np.ndarray,
    relevant: np.ndarray,
    method: Method = "platt",
    folds: int = 5,
    seed: int = 13,
    groups: np.ndarray | None = None,
) -> np.ndarray:
    """The probability of each pair to be relevant, by a curve that was fitted without it.

    Args:
        scores: float, one per pair, finite.
        relevant: bool, one per pair.
        method: `platt`: a logistic curve (Platt 1999, with his smoothed targets); `isotonic`: any rising curve.
        folds: of the stratified cross-validation.
        seed: decides who is in which fold.
        groups: a number for each pair; pairs with the same one stay together, in folds that are not stratified then.

    Returns:
        float64, one per pair, in [0, 1].

    Raises:
        LinkerError: scores that are not finite, or a kind of which there are fewer than folds.
    """
    from sklearn.model_selection import PredefinedSplit, StratifiedKFold

    scores, relevant = np.asarray(scores, dtype=np.float64), np.asarray(relevant, dtype=bool)
    if not np.isfinite(scores).all():
        raise LinkerError("scores must be finite to be calibrated")
    fewest = min(int(relevant.sum()), int((~relevant).sum()))
    if fewest < folds:
        raise LinkerError(
            f"{int(relevant.sum())} relevant and {int((~relevant).sum())} other pairs: {folds} folds need "
            "as many of each at least"
        )
    fit = platt if method == "platt" else isotonic
    probabilities = np.empty(len(scores))
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    if groups is not None:
        _, own = np.unique(groups, return_inverse=True)
        splitter = PredefinedSplit(np.random.default_rng(seed).permutation(own.max() + 1)[own] % folds)
    for train, held_out in splitter.split(scores, relevant):
        probabilities[held_out] = fit(scores[train], relevant[train])(scores[held_out])
    return probabilities


def platt(scores: np.ndarray, relevant: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The logistic curve from scores to probabilities, fitted to both kinds of pairs (Platt 1999)."""
    from sklearn.linear_model import LogisticRegression

    positives, negatives = int(relevant.sum()), int((~relevant).sum())
    # Never quite 1 or 0, so that kinds that do not overlap give no infinitely steep curve.
    targets = np.where(relevant, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    middle, spread = scores.mean(), scores.std() or 1.0
    column = ((scores - middle) / spread)[:, None]
    curve = LogisticRegression(C=1e8, max_iter=1000, tol=1e-8).fit(
        np.concatenate([column, column]),
        np.repeat([True, False], len(scores)),
        sample_weight=np.concatenate([targets, 1 - targets]),
    )
    return lambda new: curve.predict_proba(((new - middle) / spread)[:, None])[:, 1]


def isotonic(
    scores: np.ndarray, relevant: np.ndarray, weights: np.ndarray | None = None
) -> Callable[[np.ndarray], np.ndarray]:
    """The rising curve from scores to probabilities that is nearest to both kinds of pairs.

    `relevant` may also hold shares, of as many pairs as `weights` says.
    """
    from sklearn.isotonic import IsotonicRegression

    curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    curve.fit(scores, relevant.astype(float), sample_weight=weights)
    return lambda new: np.asarray(curve.predict(new))


def prior_by_em(ratios: np.ndarray, counts: np.ndarray, start: float = 0.1) -> np.ndarray:
    """The share of relevant posts among others than those a curve was fitted to (Saerens et al. 2002).

    It holds if relevant posts score alike in both, and the others do, too: if only their share differs.

    Args:
        ratios: how much likelier each score is for a relevant post than for another one, fits × bins.
        counts: how many of the posts have it, fits × bins.
        start: the first guess.

    Returns:
        The share by each fit, between 0 and 1.
    """
    total = counts.sum(axis=1)
    share = np.full(len(ratios), start)
    for _ in range(1000):
        odds = ratios * (share / (1 - share))[:, None]
        new = np.clip((counts * (odds / (1 + odds))).sum(axis=1) / total, 1e-9, 1 - 1e-9)
        done = np.abs(np.log(new / share)).max() < 1e-4
        share = new
        if done:
            break
    return share


def reliability_bins(probabilities: np.ndarray, relevant: np.ndarray, bins: int = 10) -> list[Bin]:
    """The pairs in so many bins of equal width; empty ones are left out."""
    edges = np.linspace(0, 1, bins + 1)
    places = np.minimum(np.searchsorted(edges, probabilities, side="right") - 1, bins - 1)
    found = []
    for place in range(bins):
        inside = places == place
        if count := int(inside.sum()):
            hits = int(relevant[inside].sum())
            found.append(
                Bin(
                    round(float(edges[place]), 12),
                    round(float(edges[place + 1]), 12),
                    count,
                    float(probabilities[inside].mean()),
                    hits / count,
                    *wilson_interval(hits, count),
                )
            )
    return found


def calibration_error(bins: list[Bin]) -> float:
    """Expected calibration error: the mean of |predicted − observed| over all pairs, by their bins."""
    return sum(one.count * abs(one.predicted - one.observed) for one in bins) / sum(one.count for one in bins)


def brier_score(probabilities: np.ndarray, relevant: np.ndarray) -> float:
    """The mean squared difference between probability and truth; 0 is perfect."""
    return float(np.mean((probabilities - np.asarray(relevant, dtype=float)) ** 2))


def wilson_interval(hits: int, count: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """The interval of a share (Wilson 1927), of 95 % by default."""
    share, square = hits / count, z * z / count
    middle = share + square / 2
    reach = z * math.sqrt(share * (1 - share) / count + square / (4 * count))
    return max(0.0, (middle - reach) / (1 + square)), min(1.0, (middle + reach) / (1 + square))
