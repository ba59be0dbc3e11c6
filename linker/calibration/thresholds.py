"""Estimates of the precision and recall of thresholds on scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linker.common.errors import LinkerError
from linker.models.score_scale import UNSCALED, ScoreScale

_CUTS = 200
_INTERVAL = (0.025, 0.975)


@dataclass(frozen=True)
class Share:
    """An estimated share with its 95 % interval; all between 0 and 1."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{_percent(self.value)} % ({_percent(self.low)} to {_percent(self.high)})"

    @classmethod
    def of(cls, value: float, lows: np.ndarray, highs: np.ndarray | None = None) -> Share:
        """Return an estimate with the interval of its samples; an estimate outside of it is moved into it."""
        low = float(np.quantile(lows, _INTERVAL[0]))
        high = float(np.quantile(lows if highs is None else highs, _INTERVAL[1]))
        return cls(min(max(value, low), high), low, high)

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
        precision: share of the kept posts that are relevant.
        recall: share of the relevant posts that are kept.
    """

    score: float
    kept: int
    precision: Share
    recall: Share

    @property
    def sentence(self) -> str:
        """Return a sentence about the threshold."""
        p, r = self.precision, self.recall
        if not self.kept:
            return f"score >= {self.score} keeps no post"
        return (
            f"score >= {self.score} keeps {self.kept:,} posts: about {_percent(p.value)} % of them are relevant "
            f"(95 % interval {_percent(p.low)} to {_percent(p.high)}); about {_percent(r.value)} % of the relevant "
            f"posts are kept ({_percent(r.low)} to {_percent(r.high)})"
        )


class Thresholds:
    """Base of thresholds on the scores of posts, estimated by labels or by a calibration.

    Args:
        scores: raw scores of all posts.
        basis: what the estimates are based on, a sentence or more.
        scale: the map from raw scores to those that thresholds are given on.
    """

    def __init__(self, scores: np.ndarray, basis: str, scale: ScoreScale = UNSCALED) -> None:
        if not len(scores):
            raise LinkerError("no posts: thresholds need at least one")
        self._descending = -np.sort(-np.asarray(scores, dtype=np.float32))
        self.basis = basis
        self.scale = scale

    def __len__(self) -> int:
        return len(self._descending)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability of relevance of posts with these scores: float64."""
        raw = self.scale.least_raw(scores)
        return self.of_raw(np.clip(raw, self._descending[-1], self._descending[0]))

    def of_raw(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability of relevance of posts with these raw scores: float64."""
        raise NotImplementedError

    def _shares(self, kept: int, raw: float) -> tuple[Share, Share]:
        """Return precision and recall of the best `kept` posts, 1 or more, down to this raw score."""
        raise NotImplementedError

    def at(self, score: float) -> Threshold:
        """Return the estimates for the threshold at this score."""
        raw = np.float32(self.scale.least_raw(score))
        kept = int(np.searchsorted(-self._descending, -raw, side="right"))
        shares = self._shares(kept, float(raw)) if kept else (Share(0, 0, 1), Share(0, 0, 0))
        return Threshold(score, kept, *shares)

    def table(self) -> list[Threshold]:
        """Return the thresholds that keep 10, 20, 50, 100, … posts, and all of them."""
        counts = [step * 10**power for power in range(9) for step in (1, 2, 5)]
        wanted = [count for count in counts if 10 <= count < len(self)] + [len(self)]
        return [self.at(score) for score in self._scores_at(np.array(wanted))]

    def choose(
        self, threshold: float | None, precision: float | None, recall: float | None
    ) -> Threshold | None:
        """Return the threshold that was asked for, by its score or by a target; None if none was asked for.

        Raises:
            LinkerError: if no threshold is estimated to reach the target.
        """
        if precision is not None:
            return self.for_precision(precision)
        if recall is not None:
            return self.for_recall(recall)
        return None if threshold is None else self.at(threshold)

    def for_precision(self, target: float) -> Threshold:
        """Return the lowest threshold with at least this estimated precision.

        Raises:
            LinkerError: if there is none.
        """
        return self._first(target, "precision", lambda found: found.precision, self._candidates[::-1])

    def for_recall(self, target: float) -> Threshold:
        """Return the highest threshold with at least this estimated recall.

        Raises:
            LinkerError: if there is none.
        """
        return self._first(target, "recall", lambda found: found.recall, self._candidates)

    def _first(
        self, target: float, name: str, share: Callable[[Threshold], Share], candidates: list[Threshold]
    ) -> Threshold:
        if not 0 < target <= 1:
            raise LinkerError(f"a {name} of {target}: give a number above 0 and up to 1")
        for candidate in candidates:
            if share(candidate).value >= target - 1e-9:
                return candidate
        best = max(candidates, key=lambda candidate: share(candidate).value)
        raise LinkerError(
            f"no threshold is estimated to reach a {name} of {_percent(target)} %; the best is {best.sentence}"
        )

    @cached_property
    def _candidates(self) -> list[Threshold]:
        """Return thresholds from the highest to the lowest, denser where few posts are kept."""
        ranks = np.concatenate(
            [np.geomspace(1, len(self), _CUTS // 2), np.linspace(1, len(self), _CUTS // 2)]
        )
        return [self.at(score) for score in self._scores_at(np.unique(ranks.astype(np.int64)))]

    def _scores_at(self, ranks: np.ndarray) -> list[float]:
        """Return thresholds that keep the posts down to these ranks, the highest first, with few digits."""
        raw = np.unique(self._descending[ranks - 1])[::-1]
        following = np.searchsorted(-self._descending, -raw, side="right")
        lower = [float(self.scale(self._descending[at])) if at < len(self) else -np.inf for at in following]
        return [few_digits(low, score) for low, score in zip(lower, self.scale(raw).tolist())]


def few_digits(low: float, high: float) -> float:
    """Return the number with the fewest decimals, at least one, that is above `low` and at most `high`."""
    for digits in range(1, 12):
        rounded = float(np.floor(high * 10**digits) / 10**digits)
        if low < rounded <= high:
            return rounded
    return high


def check_targets(
    threshold: float | None, precision: float | None, recall: float | None, has_evidence: bool
) -> None:
    """Check that at most one of threshold, precision and recall is given, and that a target can be estimated.

    Raises:
        LinkerError: if several are given, a target is out of range, or there is nothing to estimate it from.
    """
    targets = {"precision": precision, "recall": recall}
    options = {**targets, "threshold": threshold}
    given = [name for name, value in options.items() if value is not None]
    if len(given) > 1:
        raise LinkerError(f"{' and '.join(given)}: both set the threshold; give only one")
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


def _percent(share: float) -> str:
    percent = 100 * share
    return f"{percent:.0f}" if 0.95 <= percent <= 99.05 else f"{percent:.1f}".removesuffix(".0")
