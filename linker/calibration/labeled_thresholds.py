"""Estimate thresholds from labels of some of the ranked posts.

A curve fitted to a few labels gives good probabilities, but intervals that are too narrow where the curve has the wrong
shape. Intervals therefore come from counts of labels whose posts were drawn at random
(docs/decisions/124-calibration.md).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linker.calibration.probabilities import platt, rising
from linker.calibration.thresholds import Share, Thresholds
from linker.common.errors import DataError
from linker.data.labels.records import drawn_at_random
from linker.models.score_scale import UNSCALED, ScoreScale

_DRAWS = 2000
_SEED = 13
# Labels of a random sample that an interval takes.
_LEAST_RANDOM = 20
# A side of a threshold with fewer random labels than the first borrows labels from the other side; without labels, the
# second number.
_FEW, _ENOUGH = 5, 20
_NOT_RANDOM = "not known: no random sample"
_REMEDY = (
    "`linker annotate start --strategy random` draws one; "
    "`linker annotate export` marks its posts in the column `sample`"
)


class LabeledThresholds(Thresholds):
    """Thresholds on posts of which some have labels.

    Probabilities are a rising curve through the labels and, where a post has none, a logistic curve. They are estimates
    that may be biased: a query strategy chooses posts for their content. Intervals are only of labels whose posts were
    drawn at random from the posts without labels.

    Args:
        scores: raw scores of all posts.
        labeled: distinct ranks of the labeled posts, 0 for the highest score.
        relevant: bool, one per label.
        scale: the map from raw scores to those that thresholds are given on.
        random: bool, one per label: whether the post was drawn at random; None: none was, or it is not known.

    Raises:
        DataError: if all labels are alike.
    """

    def __init__(
        self,
        scores: np.ndarray,
        labeled: np.ndarray,
        relevant: np.ndarray,
        scale: ScoreScale = UNSCALED,
        random: np.ndarray | None = None,
    ) -> None:
        order = np.argsort(labeled)
        self._at, relevant = np.asarray(labeled)[order], np.asarray(relevant, dtype=bool)[order]
        positives = int(relevant.sum())
        if positives in (0, len(relevant)):
            raise DataError(
                f"{positives} of {len(relevant)} labeled posts are relevant: thresholds need labels of relevant posts "
                "and of irrelevant ones; label more"
            )
        chosen = np.zeros(len(relevant), bool) if random is None else np.asarray(random, dtype=bool)[order]
        self._positives = _counts(relevant)
        self._random_at, self._random_positives = self._at[chosen], _counts(relevant[chosen])
        sampled, hits = int(chosen.sum()), int(relevant[chosen].sum())
        self._has_sample = sampled >= _LEAST_RANDOM and 0 < hits < sampled
        super().__init__(scores, self._describe(len(scores), positives, sampled, hits), scale)
        self._fit(relevant, chosen if self._has_sample else np.ones_like(relevant))

    def _fit(self, relevant: np.ndarray, used: np.ndarray) -> None:
        """Compute the probability of each distinct score, from the labels, those used for a logistic curve first."""
        of_labeled = self._descending[self._at].astype(np.float64)
        curve = platt(of_labeled[used], relevant[used])
        if np.diff(curve(of_labeled[used][[-1, 0]]))[0] >= 0:
            expected = curve(self._descending.astype(np.float64))
        else:
            self.basis += "; higher scores do not go with relevance among them"
            expected = np.full(len(self), relevant[used].mean())
        expected[self._at] = relevant
        self._levels, level, posts = np.unique(self._descending, return_inverse=True, return_counts=True)
        self._of_levels = rising(np.bincount(level, expected) / posts, posts)

    @classmethod
    def by_scores(
        cls,
        scores: np.ndarray,
        of_labeled: Mapping[str, float],
        labels: Mapping[str, bool],
        scale: ScoreScale = UNSCALED,
    ) -> LabeledThresholds:
        """Return thresholds from labels by post id, and the raw scores of the labeled posts.

        Labeled posts with the same score are spread evenly over the ranks of that score. Posts that were drawn at
        random are known of `SampledLabels`.

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
        drawn = drawn_at_random(labels)
        relevant = np.array([labels[post_id] for post_id in chosen])
        thresholds = cls(scores, ranks, relevant, scale, np.array([post_id in drawn for post_id in chosen]))
        if missing := len(labels) - len(chosen):
            thresholds.basis += f"; {missing:,} labels are of other posts"
        return thresholds

    def of_raw(self, scores: np.ndarray) -> np.ndarray:
        """Return probabilities by the curve; of a score that no post has, that of the next lower one."""
        levels = np.searchsorted(self._levels, np.asarray(scores, np.float32), side="right") - 1
        return np.asarray(self._of_levels[np.maximum(levels, 0)])

    def _shares(self, size: int, precision: float, recall: float) -> tuple[Share, Share]:
        labeled = int(np.searchsorted(self._at, size))
        hits = int(self._positives[labeled])
        if len(self._at) == len(self):
            return _counted(precision, hits / size), _counted(recall, hits / int(self._positives[-1]))
        if not self._has_sample:
            return Share(precision, note=self._no_interval), Share(recall, note=self._no_interval)
        rng = np.random.default_rng(_SEED)
        low, high = self._bounds(0, size, rng)  # relevant posts that are kept: (samples,)
        low_left, high_left = self._bounds(size, len(self), rng)
        lows, highs = low / np.maximum(low + high_left, 1), high / np.maximum(high + low_left, 1)
        if labeled == size:
            return _counted(precision, hits / size), Share.of(recall, lows, highs)
        return Share.of(precision, low / size, high / size), Share.of(recall, lows, highs)

    def _bounds(self, start: int, stop: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Sample lower and upper bounds of the relevant posts among the ranks from start to stop."""
        first, last = (int(rank) for rank in np.searchsorted(self._at, [start, stop]))
        positives, unlabeled = (
            int(self._positives[last] - self._positives[first]),
            stop - start - (last - first),
        )
        first, last = (int(rank) for rank in np.searchsorted(self._random_at, [start, stop]))
        # With few labels: at most as relevant as the posts above, at least as relevant as those below.
        enough = _FEW if last > first else _ENOUGH
        above = min(first, max(last - enough, 0))
        below = max(last, min(first + enough, len(self._random_at)))
        most = self._share(above, last, rng) if last > above else np.ones(_DRAWS)
        least = most
        if (above, below) != (first, last):
            least = np.minimum(self._share(first, below, rng), most) if below > first else np.zeros(_DRAWS)
        return positives + rng.binomial(unlabeled, least), positives + rng.binomial(unlabeled, most)

    def _share(self, first: int, last: int, rng: np.random.Generator) -> np.ndarray:
        """Sample the share of relevant posts by these random labels (Jeffreys prior)."""
        positives = int(self._random_positives[last] - self._random_positives[first])
        return rng.beta(positives + 0.5, last - first - positives + 0.5, _DRAWS)

    def _describe(self, posts: int, positives: int, sampled: int, hits: int) -> str:
        """Return what the estimates are based on."""
        labels = f"by {len(self._at):,} labels ({positives:,} relevant)"
        if len(self._at) == posts:
            return f"{labels}: all posts"
        if self._has_sample:
            return f"{labels}, {sampled:,} of them ({hits:,} relevant) of a random sample"
        if sampled:
            self._no_interval = "not known: too few labels of a random sample"
            reason = (
                f"only {sampled:,} of them ({hits:,} relevant) are of a random sample: intervals need {_LEAST_RANDOM}, "
                "relevant and irrelevant ones"
            )
        else:
            self._no_interval = _NOT_RANDOM
            reason = (
                "not known to be of a random sample: estimates may be biased, "
                "and intervals need posts labeled from one"
            )
        return f"{labels}, {reason} ({_REMEDY})"


def _counted(value: float, true: float) -> Share:
    """Return an estimate of posts that all have labels, of which the share `true` is relevant."""
    return Share(value, min(value, true), max(value, true))


def _counts(relevant: np.ndarray) -> np.ndarray:
    """Return the number of relevant labels among the first 0, 1, … labels."""
    return np.concatenate([[0], np.cumsum(relevant)])
