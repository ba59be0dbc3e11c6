"""What a threshold on scores keeps and finds, as far as labels tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linker.common.errors import LinkerError
from linker.common.stats import shortest_float

_CUTS = 200
_INTERVAL = (0.025, 0.975)


@dataclass(frozen=True)
class Share:
    """An estimate with its 95 % interval; all between 0 and 1."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{_percent(self.value)} % ({_percent(self.low)} to {_percent(self.high)})"

    @classmethod
    def of(cls, value: float, lows: np.ndarray, highs: np.ndarray | None = None) -> Share:
        """An estimate and what was drawn for its bounds; an estimate outside the interval is moved into it."""
        low = float(np.quantile(lows, _INTERVAL[0]))
        high = float(np.quantile(lows if highs is None else highs, _INTERVAL[1]))
        return cls(min(max(value, low), high), low, high)

    @classmethod
    def elsewhere(cls, samples: np.ndarray) -> Share:
        """An estimate (the first) and bootstrap samples of it, as an interval for as many other articles.

        These vary as much as those that were measured, so the samples' deviations are added up by twos.
        """
        drawn = samples[1:] + np.roll(samples[1:], 1) - samples[0]
        return cls.of(float(samples[0]), np.clip(drawn, 0, 1))


@dataclass(frozen=True)
class Threshold:
    """What a threshold does.

    Attributes:
        score: posts with this score or a higher one are kept.
        kept: how many of the pile's posts these are.
        precision: the share of the kept posts that are relevant.
        recall: the share of the relevant posts that are kept.
    """

    score: float
    kept: int
    precision: Share
    recall: Share

    @property
    def sentence(self) -> str:
        """The whole of it for people."""
        p, r = self.precision, self.recall
        if not self.kept:
            return f"score >= {self.score} keeps no post"
        return (
            f"score >= {self.score} keeps {self.kept:,} posts: about {_percent(p.value)} % of them are relevant "
            f"(95 % interval {_percent(p.low)} to {_percent(p.high)}); about {_percent(r.value)} % of the relevant "
            f"posts are kept ({_percent(r.low)} to {_percent(r.high)})"
        )


class Thresholds:
    """Thresholds on the scores of one pile of posts. Base of those by labels and those by a calibration.

    Args:
        scores: of all posts of the pile.
        basis: what the estimates rest on, a sentence or more.
    """

    def __init__(self, scores: np.ndarray, basis: str) -> None:
        if not len(scores):
            raise LinkerError("no post was given: there is nothing to put a threshold on")
        self._descending = -np.sort(-np.asarray(scores, dtype=np.float32))
        self.basis = basis

    def __len__(self) -> int:
        return len(self._descending)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """The probability of posts with these scores to be relevant: float64."""
        raise NotImplementedError

    def _shares(self, kept: int, score: float) -> tuple[Share, Share]:
        """Precision and recall of so many best posts, at least one; they have this score and higher ones."""
        raise NotImplementedError

    def at(self, score: float) -> Threshold:
        """What a threshold does that keeps posts with this score and higher ones."""
        kept = int(np.searchsorted(-self._descending, -np.float32(score), side="right"))
        shares = self._shares(kept, score) if kept else (Share(0, 0, 1), Share(0, 0, 0))
        return Threshold(score, kept, *shares)

    def table(self) -> list[Threshold]:
        """Thresholds that keep 10, 20, 50, 100, … posts, and all of them."""
        counts = [step * 10**power for power in range(9) for step in (1, 2, 5)]
        wanted = [count for count in counts if 10 <= count < len(self)] + [len(self)]
        return [self.at(score) for score in self._scores_at(np.array(wanted))]

    def for_precision(self, wish: float) -> Threshold:
        """The lowest threshold that is estimated to have at least this precision.

        Raises:
            LinkerError: none is.
        """
        return self._first(wish, "precision", lambda one: one.precision, self._candidates[::-1])

    def for_recall(self, wish: float) -> Threshold:
        """The highest threshold that is estimated to have at least this recall.

        Raises:
            LinkerError: none is.
        """
        return self._first(wish, "recall", lambda one: one.recall, self._candidates)

    def _first(
        self, wish: float, name: str, share: Callable[[Threshold], Share], candidates: list[Threshold]
    ) -> Threshold:
        if not 0 < wish <= 1:
            raise LinkerError(f"a {name} of {wish}: give a number above 0 and up to 1")
        for one in candidates:
            if share(one).value >= wish - 1e-9:
                return one
        best = max(candidates, key=lambda one: share(one).value)
        raise LinkerError(
            f"no threshold is estimated to reach a {name} of {_percent(wish)} %; the best is {best.sentence}"
        )

    @cached_property
    def _candidates(self) -> list[Threshold]:
        """Thresholds from the highest to the lowest, more of them where few posts are kept."""
        ranks = np.concatenate(
            [np.geomspace(1, len(self), _CUTS // 2), np.linspace(1, len(self), _CUTS // 2)]
        )
        return [self.at(score) for score in self._scores_at(np.unique(ranks.astype(np.int64)))]

    def _scores_at(self, ranks: np.ndarray) -> list[float]:
        """The distinct scores at these ranks, the highest first, as ranked posts have them."""
        return [shortest_float(score) for score in np.unique(self._descending[ranks - 1])[::-1]]


def _percent(share: float) -> str:
    percent = 100 * share
    return f"{percent:.0f}" if 0.95 <= percent <= 99.05 else f"{percent:.1f}".removesuffix(".0")
