"""Estimate thresholds from labels of some of the ranked posts.

A curve fitted to a few labels gives good probabilities, but intervals that are too narrow where the curve has the wrong
shape. Intervals therefore come from counts, in strata of the ranking with a constant labeling rate
(docs/decisions/124-calibration-and-thresholds.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from linker.calibration.probabilities import platt
from linker.calibration.thresholds import Share, Thresholds
from linker.common.errors import DataError
from linker.models.score_scale import UNSCALED, ScoreScale

_DRAWS = 2000
_SEED = 13
# Log-likelihood ratio from which two labeling rates are preferred to one.
_EVIDENCE = 8.0
# Strata with fewer labels than the first borrow labels from above and below; those without labels, the second number.
_FEW, _ENOUGH = 5, 20


class LabeledThresholds(Thresholds):
    """Thresholds on posts of which some have labels.

    Labeled posts must resemble their unlabeled neighbors in the ranking: chosen at random or by rank, not by content.
    Where no post has a label, the only assumption is that posts further down are no more relevant.

    Args:
        scores: raw scores of all posts.
        labeled: distinct ranks of the labeled posts, 0 for the highest score.
        relevant: bool, one per label.
        scale: the map from raw scores to those that thresholds are given on.

    Raises:
        DataError: if all labels are alike.
    """

    def __init__(
        self, scores: np.ndarray, labeled: np.ndarray, relevant: np.ndarray, scale: ScoreScale = UNSCALED
    ) -> None:
        order = np.argsort(labeled)
        self._at, relevant = np.asarray(labeled)[order], np.asarray(relevant, dtype=bool)[order]
        found = int(relevant.sum())
        if found in (0, len(relevant)):
            raise DataError(
                f"{found} of {len(relevant)} labeled posts are relevant: thresholds need labels of relevant posts "
                "and of irrelevant ones; label more"
            )
        self._found = np.concatenate([[0], np.cumsum(relevant)])
        self._strata = _strata(self._at, 0, len(scores))
        super().__init__(scores, self._describe(len(scores), found), scale)
        of_labeled = self._descending[self._at].astype(np.float64)
        self._curve = platt(of_labeled, relevant)
        self.rising = bool(np.diff(self._curve(of_labeled[[-1, 0]]))[0] >= 0)
        if not self.rising:
            self.basis += "; higher scores do not go with relevance among them"
        expected = self.of_raw(self._descending)
        expected[self._at] = relevant
        self._expected = np.cumsum(expected)

    @classmethod
    def of(
        cls,
        scores: np.ndarray,
        ids: Sequence[str],
        labels: Mapping[str, bool],
        scale: ScoreScale = UNSCALED,
    ) -> LabeledThresholds:
        """Return thresholds from labels by post id; raw `scores` and `ids` are of all posts, in any order.

        Raises:
            DataError: if no label is of one of these posts, or all labels are alike.
        """
        found = {post_id: float(scores[index]) for index, post_id in enumerate(ids) if post_id in labels}
        return cls.by_scores(scores, found, labels, scale)

    @classmethod
    def by_scores(
        cls,
        scores: np.ndarray,
        of_labeled: Mapping[str, float],
        labels: Mapping[str, bool],
        scale: ScoreScale = UNSCALED,
    ) -> LabeledThresholds:
        """Return thresholds from labels by post id, and the raw scores of the labeled posts.

        Labeled posts with the same score are spread evenly over the ranks of that score.

        Raises:
            DataError: if no label is of one of these posts, or all labels are alike.
        """
        if not of_labeled:
            raise DataError("none of the labeled posts is among the ranked posts; do the ids match?")
        ascending = np.sort(np.asarray(scores, dtype=np.float32))
        chosen = sorted(of_labeled)
        labeled = np.array([of_labeled[post_id] for post_id in chosen], dtype=np.float32)
        first = len(ascending) - np.searchsorted(ascending, labeled, side="right")
        end = len(ascending) - np.searchsorted(ascending, labeled, side="left")
        ranks = np.empty(len(chosen), dtype=np.int64)
        for start in np.unique(first):
            tied = np.flatnonzero(first == start)
            shared = int(end[tied[0]] - start)
            ranks[tied] = start + ((np.arange(len(tied)) + 0.5) * shared / len(tied)).astype(np.int64)
        thresholds = cls(scores, ranks, np.array([labels[post_id] for post_id in chosen]), scale)
        if missing := len(labels) - len(chosen):
            thresholds.basis += f"; {missing:,} labels are of other posts"
        return thresholds

    def of_raw(self, scores: np.ndarray) -> np.ndarray:
        """Return probabilities by a logistic curve; the share of relevant labels if the curve does not rise."""
        if not self.rising:
            return np.full(len(scores), self._found[-1] / len(self._at))
        return self._curve(np.asarray(scores, dtype=np.float64))

    def _shares(self, kept: int, raw: float) -> tuple[Share, Share]:
        rng = np.random.default_rng(_SEED)
        low, high = (
            np.zeros((2, _DRAWS)),
            np.zeros((2, _DRAWS)),
        )  # relevant posts kept and left out: (2, samples)
        for start, stop in self._strata:
            middle = min(max(kept, start), stop)
            for side, (first, last) in enumerate(((start, middle), (middle, stop))):
                if first < last:
                    least, most = self._bounds(first, last, rng)
                    low[side] += least
                    high[side] += most
        expected = self._expected[kept - 1]
        precision = Share.of(expected / kept, low[0] / kept, high[0] / kept)
        recall = Share.of(
            expected / self._expected[-1],
            low[0] / np.maximum(low[0] + high[1], 1),
            high[0] / np.maximum(high[0] + low[1], 1),
        )
        return precision, recall

    def _bounds(self, start: int, stop: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Sample lower and upper bounds of the relevant posts among the ranks from start to stop."""
        first, last = (int(place) for place in np.searchsorted(self._at, [start, stop]))
        known, unlabeled = int(self._found[last] - self._found[first]), stop - start - (last - first)
        # With few labels: at most as relevant as the posts above, at least as relevant as those below.
        enough = _FEW if last > first else _ENOUGH
        above = min(first, max(last - enough, 0))
        below = max(last, min(first + enough, len(self._at)))
        most = self._share(above, last, rng) if last > above else np.ones(_DRAWS)
        least = most
        if (above, below) != (first, last):
            least = np.minimum(self._share(first, below, rng), most) if below > first else np.zeros(_DRAWS)
        return known + rng.binomial(unlabeled, least), known + rng.binomial(unlabeled, most)

    def _share(self, first: int, last: int, rng: np.random.Generator) -> np.ndarray:
        """Sample the share of relevant posts given these labels (Jeffreys prior)."""
        found = int(self._found[last] - self._found[first])
        return rng.beta(found + 0.5, last - first - found + 0.5, _DRAWS)

    def _describe(self, posts: int, found: int) -> str:
        parts = []
        for start, stop in self._strata:
            first, last = np.searchsorted(self._at, [start, stop])
            labels, size = int(last - first), stop - start
            share = "all" if labels == size else "none" if not labels else f"{labels:,}"
            parts.append(f"{share} of the {size:,} posts on ranks {start + 1:,} to {stop:,}")
        text = f"by {len(self._at):,} labels ({found:,} relevant): {'; '.join(parts)}"
        if not np.searchsorted(self._at, self._strata[-1][0]) < len(self._at):
            text += "; label a random sample of all posts for narrower intervals"
        return text


def _strata(at: np.ndarray, start: int, stop: int) -> list[tuple[int, int]]:
    """Divide the ranks from start to stop into strata with a constant labeling rate.

    A stratum is divided where two rates fit the labels much better than one.
    """
    labels, size = len(at), stop - start
    if not labels or labels == size:
        return [(start, stop)]
    # Only cuts next to a label can be best.
    cuts = np.concatenate([at, at + 1])
    before = np.concatenate([np.arange(labels), np.arange(1, labels + 1)])
    inside = (cuts > start) & (cuts < stop)
    cuts, before = cuts[inside], before[inside]
    if not len(cuts):
        return [(start, stop)]
    gains = (
        _log_likelihood(before, cuts - start)
        + _log_likelihood(labels - before, stop - cuts)
        - _log_likelihood(np.array([labels]), np.array([size]))
    )
    best = int(gains.argmax())
    if gains[best] < _EVIDENCE:
        return [(start, stop)]
    cut, count = int(cuts[best]), int(before[best])
    return [*_strata(at[:count], start, cut), *_strata(at[count:], cut, stop)]


def _log_likelihood(labels: np.ndarray, posts: np.ndarray) -> np.ndarray:
    """Return the log-likelihood of labels if every post is labeled with the same probability."""
    others = posts - labels
    with np.errstate(divide="ignore", invalid="ignore"):
        hit = np.where(labels > 0, labels * np.log(labels / posts), 0.0)
        miss = np.where(others > 0, others * np.log(others / posts), 0.0)
    return np.asarray(hit + miss)
