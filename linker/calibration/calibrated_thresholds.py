"""Thresholds on a pile without labels, from a calibration on other articles and posts."""

from __future__ import annotations

import numpy as np

from linker.calibration.calibration import Calibration, shares_above
from linker.calibration.probabilities import prior_by_em
from linker.calibration.thresholds import Share, Thresholds

_SEED = 13


class CalibratedThresholds(Thresholds):
    """Thresholds on a pile without labels, from a calibration by other articles.

    The share of relevant posts in the pile is estimated from its scores, given that its relevant posts score as in the
    dev set and its others do, too. Nobody can tell without labels whether they do; posts that were found by keywords
    mostly do not. The intervals are of what holds on average for as many other articles.

    Args:
        calibration: what scores mean.
        scores: of all posts of the pile.

    Raises:
        LinkerError: no scores.
    """

    def __init__(self, calibration: Calibration, scores: np.ndarray) -> None:
        super().__init__(scores, "")
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
            f"{100 * calibration.prior:.2g} % were relevant; by the scores it guesses that {share} of these posts are. "
            "That holds on average, for articles and posts like those: of posts gathered by keywords far too many pass "
            "for relevant. Labels of some of these very posts tell (--labels)"
        )

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """By a rising curve through the dev set, with the pile's own share of relevant posts."""
        edges = self._calibration.edges.astype(np.float32)
        return np.asarray(
            self._probabilities[np.searchsorted(edges, np.asarray(scores, np.float32), side="right")]
        )

    def _shares(self, kept: int, score: float) -> tuple[Share, Share]:
        recall, fall = (_at(self._calibration.edges, one, score) for one in (self._recalls, self._falls))
        hits, misses = self._priors * recall, (1 - self._priors) * fall
        precision = np.divide(hits, hits + misses, out=np.ones_like(hits), where=hits + misses > 0)
        # Even a known share of the kept posts is relevant by chance.
        chance = np.random.default_rng(_SEED).binomial(kept, np.clip(precision, 0, 1)) / kept - precision
        chance[0] = 0
        return Share.elsewhere(np.clip(precision + chance, 0, 1)), Share.elsewhere(recall)


def _at(edges: np.ndarray, above: np.ndarray, score: float) -> np.ndarray:
    """The share of pairs with a score or a higher one, one per sample: between edges in proportion."""
    score = float(np.float32(score))
    place = int(np.searchsorted(edges, score, side="left"))
    if place >= len(edges):
        return above[:, -1]
    if place == 0:
        return above[:, 0] if score < edges[0] else above[:, 1]
    low, high = edges[place - 1], edges[place]
    part = (score - low) / (high - low)
    return np.asarray((1 - part) * above[:, place] + part * above[:, place + 1])
