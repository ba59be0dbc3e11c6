"""Estimate thresholds from labels of some of the ranked posts.

A curve fitted to a few labels gives good probabilities, but intervals that are too narrow where the curve has the wrong
shape. Intervals therefore come from counts of labels whose posts were drawn at random
(docs/decisions/124-calibration.md).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from linker.calibration.probabilities import platt, rising
from linker.calibration.thresholds import Share, Thresholds
from linker.common.errors import DataError
from linker.common.stats import effective_counts
from linker.data.labels.records import SampledLabels
from linker.models.score_scale import UNSCALED, ScoreScale

_DRAWS = 2000
_SEED = 13
# Between the bounds of Clopper and Pearson (0), which hold in 98 % of cases, and of Jeffreys (0.5), which hold in 90 to
# 98 %, by the number of relevant posts in the sample.
_PRIOR = 0.25
# Labels of a random sample that an interval takes.
_LEAST_RANDOM = 20
_REMEDY = (
    "`linker annotate start --strategy random` draws one; "
    "`linker annotate export` marks its posts in the column `sample`"
)


class LabeledThresholds(Thresholds):
    """Thresholds on posts of which some have labels.

    Probabilities are a rising curve through the labels and, where a post has none, a logistic curve. They are estimates
    that may be biased: a query strategy chooses posts for their content. Intervals are only of labels whose posts were
    drawn at random: on each side of a threshold, Beta bounds of the share of relevant posts among those that could be
    drawn. They assume nothing about scores, and hold for thresholds that the labels choose.

    Args:
        scores: raw scores of all posts.
        labeled: distinct ranks of the labeled posts, 0 for the highest score.
        relevant: bool, one per label.
        scale: the map from raw scores to those that thresholds are given on.
        random: bool, one per label: whether the post was drawn at random; None: none was, or it is not known.
        before: bool, one per label: whether the post had a label before the sample was drawn, so that it could not be
            drawn; None: not known, so intervals hold whether or not.
        draws: int, one per label: equal where near-duplicates were drawn as one post; None: each was drawn by itself.
        without: why no interval is possible, although posts were drawn at random; empty if one is.

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
        before: np.ndarray | None = None,
        draws: np.ndarray | None = None,
        without: str = "",
    ) -> None:
        order = np.argsort(labeled)
        self._at, self._relevant = np.asarray(labeled)[order], np.asarray(relevant, dtype=bool)[order]
        positives = int(self._relevant.sum())
        if positives in (0, len(order)):
            raise DataError(
                f"{positives} of {len(order)} labeled posts are relevant: thresholds need labels of relevant posts "
                "and of irrelevant ones; label more"
            )
        self._random = np.zeros(len(order), bool) if random is None else np.asarray(random, bool)[order]
        self._draws = np.arange(len(order)) if draws is None else np.asarray(draws)[order]
        # Which labeled posts could be drawn; both possibilities where that is not known.
        self._frames = [self._random, np.ones(len(order), bool)] if before is None else [~before[order]]
        self.sampled = len(np.unique(self._draws[self._random]))
        self.hits = len(np.unique(self._draws[self._random & self._relevant]))
        self._has_sample = not without and self.sampled >= _LEAST_RANDOM and 0 < self.hits < self.sampled
        super().__init__(scores, self._describe(len(scores), positives, without), scale)
        self._fit(self._relevant, self._random if self._has_sample else np.ones(len(order), bool))

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

        Labeled posts with the same score are spread evenly over the ranks of that score. `SampledLabels`
        say how posts were drawn.

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
        design = SampledLabels.of(labels)
        without = ""
        if design.random and design.posts is not None and len(scores) > design.posts:
            without = f"whose random sample is of {design.posts:,} of these {len(scores):,} posts only"

        def among(ids: Collection[str]) -> np.ndarray:
            return np.array([post_id in ids for post_id in chosen])

        before = None if design.before is None else among(design.before)
        draws = np.unique([design.draws.get(post_id, post_id) for post_id in chosen], return_inverse=True)[1]
        relevant = np.array([labels[post_id] for post_id in chosen])
        thresholds = cls(scores, ranks, relevant, scale, among(design.random), before, draws, without)
        if missing := len(labels) - len(chosen):
            thresholds.basis += f"; {missing:,} labels are of other posts"
        return thresholds

    def of_raw(self, scores: np.ndarray) -> np.ndarray:
        """Return probabilities by the curve; of a score that no post has, that of the next lower one."""
        levels = np.searchsorted(self._levels, np.asarray(scores, np.float32), side="right") - 1
        return np.asarray(self._of_levels[np.maximum(levels, 0)])

    def _shares(self, size: int, precision: float, recall: float) -> tuple[Share, Share]:
        labeled = int(np.searchsorted(self._at, size))
        hits = int(self._relevant[:labeled].sum())
        if len(self._at) == len(self):
            return _counted(precision, hits / size), _counted(recall, hits / int(self._relevant.sum()))
        if not self._has_sample:
            return Share(precision, note=self.no_interval), Share(recall, note=self.no_interval)
        rng, parts = np.random.default_rng(_SEED), (slice(labeled), slice(labeled, None))
        kept, left = (self._relevant[part][self._random[part]] for part in parts)
        # Lower and upper bounds of the relevant posts: (frames, samples).
        low, high = self._bounds(0, size, rng)
        low_left, high_left = self._bounds(size, len(self), rng, (not kept.any(), False))
        lows, highs = low / np.maximum(low + high_left, 1), high / np.maximum(high + low_left, 1)
        if labeled == size:
            return _counted(precision, hits / size), Share.of(recall, lows, highs)
        if left.all() or not left.any():
            low, high = self._bounds(0, size, rng, (not left.any(), bool(left.all())))
        return Share.of(precision, low / size, high / size), Share.of(recall, lows, highs)

    def _bounds(
        self, start: int, stop: int, rng: np.random.Generator, alone: tuple[bool, bool] = (False, False)
    ) -> np.ndarray:
        """Sample lower and upper bounds of the relevant posts among the ranks from start to stop.

        There is an interval only if the sample has a relevant label and an irrelevant one. Where all labels of a kind
        are on this side (`alone`: relevant, irrelevant), few of them are more than their share, since without them
        there would be no interval: then the bound is that of a binomial distribution without zero.

        Returns:
            Lower and upper bounds: 2 × frames × samples.
        """
        first, last = (int(rank) for rank in np.searchsorted(self._at, [start, stop]))
        side = slice(first, last)
        relevant, random, unlabeled = self._relevant[side], self._random[side], stop - start - (last - first)
        hits, labels = effective_counts(relevant[random], self._draws[side][random], alike=True)
        bounds = []
        for frame in self._frames:
            # Posts that could be drawn and were not: without a label, or labeled later.
            later = frame[side] & ~random
            least = int(relevant[later].sum())
            for more in (_PRIOR, 1 - _PRIOR):
                if not alone[more > 0.5]:
                    share = rng.beta(hits + more, labels - hits + 1 - more, _DRAWS)
                elif more < 0.5:
                    share = _without_zero(hits, labels, rng)
                else:
                    share = 1 - _without_zero(labels - hits, labels, rng)
                others = rng.binomial(unlabeled + int(later.sum()), share)
                bounds.append(int(relevant.sum()) - least + np.clip(others, least, least + unlabeled))
        return np.stack([bounds[::2], bounds[1::2]])

    def _needed(self, target: float) -> str:
        # A sample with this many relevant posts, all of them kept, is enough.
        more = (3.1 / (1 - target) / self.hits - 1) * self.sampled if self._has_sample and target < 1 else 0
        if more <= 0:
            return ""
        return f"; to leave out more posts, label about {more:,.0f} more of a random sample ({_REMEDY})"

    def _describe(self, posts: int, positives: int, without: str) -> str:
        """Return what the estimates are based on."""
        labels = f"by {len(self._at):,} labels ({positives:,} relevant)"
        sample = f"{self.sampled:,} of them ({self.hits:,} relevant)"
        if len(self._at) == posts:
            return f"{labels}: all posts"
        if self._has_sample:
            return f"{labels}, {sample} of a random sample"
        self.no_interval = "not known: too few labels of a random sample"
        if without:
            self.no_interval = "not known: no random sample of all posts"
            reason = f"{without}: rank the posts that it was drawn from, or label posts drawn from all"
        elif self.sampled:
            reason = (
                f"only {sample} are of a random sample: intervals need {_LEAST_RANDOM}, "
                "relevant and irrelevant ones"
            )
        else:
            self.no_interval = "not known: no random sample"
            reason = (
                "not known to be of a random sample: estimates may be biased, "
                "and intervals need posts labeled from one"
            )
        return f"{labels}, {reason} ({_REMEDY})"


def _counted(value: float, true: float) -> Share:
    """Return an estimate of posts that all have labels, of which the share `true` is relevant."""
    return Share(value, min(value, true), max(value, true))


def _without_zero(hits: float, labels: float, rng: np.random.Generator) -> np.ndarray:
    """Sample lower bounds of a share, given that there is a hit."""
    from scipy.special import betainc  # takes a while to import

    share, least = np.geomspace(1e-9, 1, 1000), min(hits, 1)
    reached = betainc(hits + _PRIOR, labels - hits + 1 - _PRIOR, share)
    return np.interp(rng.random(_DRAWS), reached / betainc(least, labels - least + 1, share), share)
