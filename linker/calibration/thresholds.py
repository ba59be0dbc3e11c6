"""Estimates of the precision and recall of thresholds on scores."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from linker.common.errors import LinkerError
from linker.models.score_scale import UNSCALED, ScoreScale

_INTERVAL = (0.025, 0.975)
# Of sums of probabilities that are compared with targets.
_ROUNDING = 1e-9
# An interval that leaves out less than this says nothing.
_LEAST_LEFT_OUT = 0.02
_TOO_LITTLE = "not known: too little data"


@dataclass(frozen=True)
class Share:
    """An estimated share with its 95 % interval; all between 0 and 1.

    Attributes:
        value: the estimate.
        low: lower end of the interval, at most `value`; None if there is no interval.
        high: upper end, at least `value`; None if there is no interval.
        note: why there is no interval, such as "not known: too little data"; empty if there is one.
    """

    value: float
    low: float | None = None
    high: float | None = None
    note: str = ""

    def __str__(self) -> str:
        return f"{percent(self.value)} % ({self.interval})"

    @property
    def interval(self) -> str:
        """Return the interval in percent, or why there is none."""
        if self.low is None or self.high is None:
            return self.note
        low, high = percent(self.low), percent(self.high)
        return f"{low} to {high}" if low != high else "counted"

    @classmethod
    def of(cls, value: float, lows: np.ndarray, highs: np.ndarray | None = None) -> Share:
        """Return an estimate with the interval of its samples, widened to contain the estimate.

        Samples that are all alike, or spread over all shares, are too little data for an interval. Several rows of
        samples give the interval that contains those of all rows.
        """
        low = float(np.quantile(lows, _INTERVAL[0], axis=-1).min())
        high = float(np.quantile(lows if highs is None else highs, _INTERVAL[1], axis=-1).max())
        if not 1e-4 < high - low < 1 - _LEAST_LEFT_OUT:
            return cls(value, note=_TOO_LITTLE)
        return cls(value, min(value, low), max(value, high))

    @classmethod
    def elsewhere(cls, samples: np.ndarray) -> Share:
        """Return an estimate (the first sample) with an interval for as many other articles.

        Other articles vary as much as the measured ones, so deviations of bootstrap samples are added in pairs.
        """
        drawn = samples[1:] + np.roll(samples[1:], 1) - samples[0]
        return cls.of(float(samples[0]), np.clip(drawn, 0, 1))


@dataclass(frozen=True)
class Threshold:
    """A threshold and its estimates.

    Attributes:
        score: posts with this score (0 to 100) or a higher one are kept.
        kept: number of posts that are kept.
        precision: share of the kept posts that are relevant: the mean of their probabilities.
        recall: share of the relevant posts that are kept: the sum of the probabilities of the kept posts, divided by
            that of all posts.
        note: more about the threshold, for its sentence.
    """

    score: float
    kept: int
    precision: Share
    recall: Share
    note: str = ""

    @property
    def sentence(self) -> str:
        """Return a sentence about the threshold."""
        p, r = self.precision, self.recall
        if not self.kept:
            return f"score >= {self.score} keeps no post"
        posts = "post" if self.kept == 1 else "posts"
        return (
            f"score >= {self.score} keeps {self.kept:,} {posts}: about {percent(p.value)} % of them are relevant "
            f"(95 % interval {p.interval}); about {percent(r.value)} % of the relevant posts are kept ({r.interval})"
            f"{self.note}"
        )


class Thresholds:
    """Base of thresholds on the scores of posts, estimated by labels or by a calibration.

    Args:
        scores: raw scores of all posts.
        basis: what the estimates are based on, a sentence or more.
        scale: the map from raw scores to those that thresholds are given on.

    Attributes:
        no_interval: why there are no intervals, such as "not known: no random sample"; empty if there are.
    """

    no_interval = ""

    def __init__(self, scores: np.ndarray, basis: str, scale: ScoreScale = UNSCALED) -> None:
        if not len(scores):
            raise LinkerError("no posts: thresholds need at least one")
        self._descending = -np.sort(-np.asarray(scores, dtype=np.float32))
        self.basis = basis
        self.scale = scale

    def __len__(self) -> int:
        return len(self._descending)

    def of_raw(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability of relevance of posts with these raw scores: float64, rising with the score.

        All estimates are sums of these probabilities.
        """
        raise NotImplementedError

    def _shares(self, size: int, precision: float, recall: float) -> tuple[Share, Share]:
        """Return precision and recall of the best `size` posts, 1 or more, with their intervals."""
        raise NotImplementedError

    def at(self, score: float) -> Threshold:
        """Return the estimates for the threshold at this score."""
        raw = np.float32(self.scale.least_raw(score))
        size = int(np.searchsorted(-self._descending, -raw, side="right"))
        if not size:
            return Threshold(score, 0, Share(0, note="not known: no post is kept"), Share(0, 0, 0))
        precision, recall = self._shares(size, float(self._precision(size)), float(self._recall(size)))
        if size == len(self):
            recall = Share(1.0, note="every post is kept")
        return Threshold(score, size, precision, recall)

    def table(self) -> list[Threshold]:
        """Return the thresholds that keep 10, 20, 50, 100, … posts, and all of them."""
        counts = [step * 10**power for power in range(9) for step in (1, 2, 5)]
        wanted = [count for count in counts if 10 <= count < len(self)] + [len(self)]
        ends = self._ends[np.unique(np.searchsorted(self._ends, wanted))]
        return [self.at(self._score_keeping(int(end))) for end in ends]

    def choose(
        self, threshold: float | None, precision: float | None, recall: float | None, confident: bool = False
    ) -> Threshold | None:
        """Return the threshold that was asked for, by its score or by a target; None if none was asked for.

        Raises:
            LinkerError: if no threshold is estimated to reach the precision, or nothing bounds the recall.
        """
        if precision is not None:
            return self.for_precision(precision)
        if recall is not None:
            return self.for_recall(recall, confident)
        return None if threshold is None else self.at(threshold)

    def for_precision(self, target: float) -> Threshold:
        """Return the lowest threshold with at least this estimated precision.

        Raises:
            LinkerError: if there is none.
        """
        check_targets(None, target, None)
        precisions = self._precision(self._ends)
        reached = np.flatnonzero(precisions >= target - _ROUNDING)
        if not len(reached):
            highest = np.flatnonzero(precisions >= precisions[0] - _ROUNDING)[-1]
            best = self.at(self._score_keeping(int(self._ends[highest])))
            raise LinkerError(
                f"no threshold is estimated to reach a precision of {percent(target)} %; the best is {best.sentence}"
            )
        return self.at(self._score_keeping(int(self._ends[reached[-1]])))

    def for_recall(self, target: float, confident: bool = False) -> Threshold:
        """Return the highest threshold with at least this recall; that of all posts has a recall of 1.

        Args:
            target: recall, above 0 and up to 1.
            confident: the interval of recall, not the estimate, must begin at the target or above.

        Raises:
            LinkerError: if there are no intervals to be confident by.
        """
        check_targets(None, None, target)
        if confident and self.no_interval:
            raise LinkerError(f"recall>={target:g}: recall has no lower bound here; {self.basis}")

        def low(end: int) -> float:
            return self._shares(end, 1, float(self._recall(end)))[1].low or 0 if end < len(self) else 1

        index = int(np.searchsorted(self._recall(self._ends), target - _ROUNDING))
        if confident:
            index = bisect_left(self._ends.tolist(), target - _ROUNDING, index, key=low)
        end = self._ends[index]
        threshold = self.at(self._score_keeping(int(end)))
        if target == 1:
            return threshold
        how, shown = "known with 95 % confidence" if confident else "estimated", percent(target)
        if threshold.kept == len(self):
            note = f"no higher threshold is {how} to reach a recall of {shown} %"
        elif confident:
            note = f"with 95 % confidence, at least {shown} % of the relevant posts are kept"
        elif self.no_interval:
            note = f"the recall of {shown} % is an estimate without bounds"
        elif threshold.recall.low is not None and threshold.recall.low >= target - _ROUNDING:
            return threshold
        else:
            note = (
                f"the recall of {shown} % is the estimate, and the truth is below it about every second time "
                f"(a threshold for recall>={target:g} reaches it with 95 % confidence)"
            )
        return replace(threshold, note=f"; {note}{self._needed(target) if confident else ''}")

    def _needed(self, target: float) -> str:
        """Return how many more labels a confident `for_recall` needs to leave out more posts; empty if not known."""
        return ""

    @cached_property
    def _sums(self) -> np.ndarray:
        """Return the expected numbers of relevant posts among the best 1, 2, … posts: float64."""
        return np.maximum(np.cumsum(self.of_raw(self._descending), dtype=np.float64), 1e-300)

    def _precision(self, size: Any) -> Any:
        return np.minimum(self._sums[np.asarray(size) - 1] / size, 1)

    def _recall(self, size: Any) -> Any:
        return self._sums[np.asarray(size) - 1] / self._sums[-1]

    @cached_property
    def _ends(self) -> np.ndarray:
        """Return how many posts each threshold can keep, ascending: int64. Equal scores are kept together."""
        scores = self.scale(self._descending)
        return np.append(np.flatnonzero(scores[1:] < scores[:-1]) + 1, len(scores))

    def _score_keeping(self, size: int) -> float:
        """Return a threshold with few digits that keeps the best `size` posts, one of `_ends`."""
        low = float(self.scale(self._descending[size])) if size < len(self) else -np.inf
        return few_digits(low, float(self.scale(self._descending[size - 1])))


def few_digits(low: float, high: float) -> float:
    """Return the number with the fewest decimals, at least one, that is above `low` and at most `high`."""
    for digits in range(1, 12):
        rounded = float(np.floor(high * 10**digits) / 10**digits)
        if low < rounded <= high:
            return rounded
    return high


def check_targets(
    threshold: float | None, precision: float | None, recall: float | None, has_evidence: bool = True
) -> None:
    """Check that at most one threshold or target is given, and that a target can be estimated.

    Raises:
        LinkerError: if several are given, a target is out of range, or there is nothing to estimate it from.
    """
    targets = {"precision": precision, "recall": recall}
    options = {**targets, "threshold": threshold}
    names = [name for name, value in options.items() if value is not None]
    if len(names) > 1:
        raise LinkerError(f"{' and '.join(names)}: both set the threshold; give only one")
    for name, value in targets.items():
        if value is None:
            continue
        if not 0 < value <= 1:
            raise LinkerError(f"{name} {value}: give a share above 0 and up to 1, such as 0.8")
        if not has_evidence:
            raise LinkerError(
                f"{name}: no relevance labels to estimate it from; give labels of some of these posts (--labels) or a "
                "calibration (--calibration)"
            )


def percent(share: float) -> str:
    """Return a share in percent, with a decimal near 0 and 100, which only shares of 0 and 1 become."""
    value = 100 * share
    text = f"{value:.0f}" if 0.95 <= value <= 99.05 else f"{value:.1f}".removesuffix(".0")
    if text == "100" and share < 1:
        return "over 99.9"
    return "under 0.1" if text == "0" and share > 0 else text
