"""Estimate thresholds on unlabeled posts, by a calibration on other articles and posts."""

from __future__ import annotations

import numpy as np

from linker.calibration.calibration import Calibration, shares_above
from linker.calibration.probabilities import prior_by_em
from linker.calibration.thresholds import Share, Thresholds
from linker.models.score_scale import UNSCALED, ScoreScale

_SEED = 13


class CalibratedThresholds(Thresholds):
    """Thresholds on unlabeled posts, by a calibration on other articles and posts.

    The share of relevant posts is estimated from their scores, under the assumption that relevant and irrelevant posts
    score as in the dev set. Without labels this cannot be checked, and it mostly fails for posts found by keywords. The
    intervals are of averages over as many other articles.

    Args:
        calibration: the calibration.
        scores: raw scores of all posts.
        scale: the map from raw scores to those that thresholds are given on.

    Raises:
        LinkerError: if there are no scores.
    """

    def __init__(self, calibration: Calibration, scores: np.ndarray, scale: ScoreScale = UNSCALED) -> None:
        super().__init__(scores, "", scale)
        self._calibration = calibration
        self._recalls, self._falls = shares_above(calibration.relevant), shares_above(calibration.others)
        bins = np.searchsorted(calibration.edges.astype(np.float32), self._descending, side="right")
        counts = np.bincount(bins, minlength=len(calibration.edges) + 1).astype(np.float64)
        rng = np.random.default_rng(_SEED)
        drawn = rng.poisson(counts, (len(calibration.relevant), len(counts))).astype(np.float64)
        drawn[0] = counts
        ratios = calibration.ratios()
        self._priors = prior_by_em(ratios, np.maximum(drawn, 1e-12))
        odds = ratios[0] * self._priors[0] / (1 - self._priors[0])
        self._probabilities = odds / (1 + odds)
        share = Share.elsewhere(self._priors)
        self.basis = (
            f"by a calibration on {calibration.articles:,} articles and {calibration.posts:,} posts, of whose pairs "
            f"{100 * calibration.prior:.2g} % were relevant; by the scores, {share} of these posts are. That is an "
            "average for articles and posts like those; of posts found by keywords it takes far too many for relevant. "
            "Labels of some of these posts are more reliable (--labels)"
        )

    def of_raw(self, scores: np.ndarray) -> np.ndarray:
        """Return probabilities by the dev set's rising curve, with the estimated share of relevant posts."""
        edges = self._calibration.edges.astype(np.float32)
        return np.asarray(
            self._probabilities[np.searchsorted(edges, np.asarray(scores, np.float32), side="right")]
        )

    def _shares(self, kept: int, raw: float) -> tuple[Share, Share]:
        recall, fall = (_at(self._calibration.edges, shares, raw) for shares in (self._recalls, self._falls))
        hits, misses = self._priors * recall, (1 - self._priors) * fall
        precision = np.divide(hits, hits + misses, out=np.ones_like(hits), where=hits + misses > 0)
        # Binomial sampling error of the kept posts.
        chance = np.random.default_rng(_SEED).binomial(kept, np.clip(precision, 0, 1)) / kept - precision
        chance[0] = 0
        return Share.elsewhere(np.clip(precision + chance, 0, 1)), Share.elsewhere(recall)


def _at(edges: np.ndarray, above: np.ndarray, score: float) -> np.ndarray:
    """Return the share of pairs with this score or a higher one, per sample, interpolated between edges."""
    score = float(np.float32(score))
    place = int(np.searchsorted(edges, score, side="left"))
    if place >= len(edges):
        return above[:, -1]
    if place == 0:
        return above[:, 0] if score < edges[0] else above[:, 1]
    low, high = edges[place - 1], edges[place]
    part = (score - low) / (high - low)
    return np.asarray((1 - part) * above[:, place] + part * above[:, place + 1])
