"""Estimate thresholds on unlabeled posts, by a calibration on other articles and posts."""

import numpy as np

from linker.calibration.calibration import Calibration
from linker.calibration.thresholds import Share, Thresholds, percent
from linker.models.score_scale import UNSCALED, ScoreScale

_SEED = 13


class CalibratedThresholds(Thresholds):
    """Thresholds on unlabeled posts, by a calibration on other articles and posts.

    A score has the probability that it had in the dev set, whichever other posts are ranked. So the estimates hold
    where as large a share of the posts is relevant as in the dev set, which cannot be checked without labels. The
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
        self._edges = calibration.edges.astype(np.float32)
        self._of_bins = calibration.probabilities()
        self._bins = self._bins_of(self._descending)
        counts = np.bincount(self._bins, minlength=self._of_bins.shape[1])
        self._totals = self._of_bins @ counts  # expected relevant posts: (samples,)
        self.basis = (
            f"by a calibration on {calibration.articles:,} articles and {calibration.posts:,} posts, of whose pairs "
            f"{100 * calibration.prior:.2g} % were relevant, an average for articles and posts like those: by their "
            f"scores, {percent(float(self._totals[0]) / len(self))} % of these posts are relevant. Labels of some of "
            "these posts are more reliable (--labels), above all where posts were collected for the article"
        )

    def of_raw(self, scores: np.ndarray) -> np.ndarray:
        """Return probabilities by the dev set's rising curve."""
        return np.asarray(self._of_bins[0, self._bins_of(scores)])

    def _bins_of(self, scores: np.ndarray) -> np.ndarray:
        return np.searchsorted(self._edges, np.asarray(scores, np.float32), side="right")

    def _shares(self, size: int, precision: float, recall: float) -> tuple[Share, Share]:
        of_kept = self._of_bins @ np.bincount(self._bins[:size], minlength=self._of_bins.shape[1])
        rest = len(self) - size
        rng = np.random.default_rng(_SEED)
        # Binomial sampling error of the posts.
        hits = rng.binomial(size, np.clip(of_kept / size, 0, 1))
        misses = rng.binomial(rest, np.clip((self._totals - of_kept) / max(rest, 1), 0, 1))
        precisions, recalls = hits / size, hits / np.maximum(hits + misses, 1)
        precisions[0], recalls[0] = precision, recall
        return Share.elsewhere(precisions), Share.elsewhere(recalls)
