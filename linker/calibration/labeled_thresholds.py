"""Thresholds from labels of some posts of the very pile: counted where there are labels, bounded where there are none.

A curve from scores to probabilities, fitted to few labels, says what a post is worth, but its intervals are too narrow
where it is not of the right kind. So intervals come from counts: of stretches of the ranking whose posts were labelled
equally often (docs/decisions/124-calibration-and-thresholds.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from linker.calibration.probabilities import platt
from linker.calibration.thresholds import Share, Thresholds
from linker.common.errors import DataError

_DRAWS = 2000
_SEED = 13
# How much likelier two rates of labelling must make the labels than one (natural logarithm) to be believed.
_EVIDENCE = 8.0
# Stretches with fewer labels borrow some from above and below; those without any so many.
_FEW, _ENOUGH = 5, 20


class LabelledThresholds(Thresholds):
    """Thresholds on a pile of which some posts have labels.

    Posts with labels must be like their neighbours in the ranking without: chosen at random or by their rank, not for
    what they say. Where no post has a label, it is only assumed that posts further down are no more relevant.

    Args:
        scores: of all posts of the pile.
        labelled: which of them have labels: ranks, counted from 0, the highest score first; distinct.
        relevant: bool, one for each label.

    Raises:
        DataError: not both kinds of labels.
    """

    def __init__(self, scores: np.ndarray, labelled: np.ndarray, relevant: np.ndarray) -> None:
        order = np.argsort(labelled)
        self._at, relevant = np.asarray(labelled)[order], np.asarray(relevant, dtype=bool)[order]
        found = int(relevant.sum())
        if found in (0, len(relevant)):
            raise DataError(
                f"{found} of {len(relevant)} labelled posts are relevant: thresholds need labels of relevant posts "
                "and of others; label more"
            )
        self._found = np.concatenate([[0], np.cumsum(relevant)])
        self._stretches = _stretches(self._at, 0, len(scores))
        super().__init__(scores, self._described(len(scores), found))
        of_labelled = self._descending[self._at].astype(np.float64)
        self._curve = platt(of_labelled, relevant)
        self.rising = bool(np.diff(self._curve(of_labelled[[-1, 0]]))[0] >= 0)
        if not self.rising:
            self.basis += "; higher scores do not go with relevance among them"
        expected = self.probabilities(self._descending)
        expected[self._at] = relevant
        self._expected = np.cumsum(expected)

    @classmethod
    def of(cls, scores: np.ndarray, ids: Sequence[str], labels: Mapping[str, bool]) -> LabelledThresholds:
        """From labels by ids; `scores` and `ids` are those of all posts, in any order.

        Raises:
            DataError: no label is of one of these posts, or not both kinds of labels.
        """
        places = {one: place for place, one in enumerate(ids) if one in labels}
        return cls.by_scores(scores, {one: float(scores[place]) for one, place in places.items()}, labels)

    @classmethod
    def by_scores(
        cls, scores: np.ndarray, of_labelled: Mapping[str, float], labels: Mapping[str, bool]
    ) -> LabelledThresholds:
        """From labels by ids, and the scores of those that are among the posts.

        Where posts share a score, those with labels are taken to be spread evenly over its ranks.

        Raises:
            DataError: no label is of one of these posts, or not both kinds of labels.
        """
        if not of_labelled:
            raise DataError("none of the labelled posts is among those that are ranked; do the ids match?")
        ascending = np.sort(np.asarray(scores, dtype=np.float32))
        chosen = sorted(of_labelled)
        own = np.array([of_labelled[one] for one in chosen], dtype=np.float32)
        first = len(ascending) - np.searchsorted(ascending, own, side="right")
        behind = len(ascending) - np.searchsorted(ascending, own, side="left")
        ranks = np.empty(len(chosen), dtype=np.int64)
        for start in np.unique(first):
            tied = np.flatnonzero(first == start)
            shared = int(behind[tied[0]] - start)
            ranks[tied] = start + ((np.arange(len(tied)) + 0.5) * shared / len(tied)).astype(np.int64)
        thresholds = cls(scores, ranks, np.array([labels[one] for one in chosen]))
        if missing := len(labels) - len(chosen):
            thresholds.basis += f"; {missing:,} labels are of posts that are not among these"
        return thresholds

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """By a logistic curve through the labels; their share of relevant posts where it does not rise."""
        if not self.rising:
            return np.full(len(scores), self._found[-1] / len(self._at))
        return self._curve(np.asarray(scores, dtype=np.float64))

    def _shares(self, kept: int, score: float) -> tuple[Share, Share]:
        rng = np.random.default_rng(_SEED)
        low, high = np.zeros((2, _DRAWS)), np.zeros((2, _DRAWS))  # relevant posts that are kept, and left out
        for start, stop in self._stretches:
            middle = min(max(kept, start), stop)
            for side, (first, last) in enumerate(((start, middle), (middle, stop))):
                if first < last:
                    least, most = self._drawn(first, last, rng)
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

    def _drawn(self, start: int, stop: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """How many relevant posts there may be among some neighbouring ranks, at least and at most: drawn numbers."""
        first, last = (int(place) for place in np.searchsorted(self._at, [start, stop]))
        known, unlabelled = int(self._found[last] - self._found[first]), stop - start - (last - first)
        # With few labels or none: no more relevant than with what stands above, no less than with what stands below.
        enough = _FEW if last > first else _ENOUGH
        above = min(first, max(last - enough, 0))
        below = max(last, min(first + enough, len(self._at)))
        most = self._share(above, last, rng) if last > above else np.ones(_DRAWS)
        least = most
        if (above, below) != (first, last):
            least = np.minimum(self._share(first, below, rng), most) if below > first else np.zeros(_DRAWS)
        return known + rng.binomial(unlabelled, least), known + rng.binomial(unlabelled, most)

    def _share(self, first: int, last: int, rng: np.random.Generator) -> np.ndarray:
        """Shares of relevant posts after these labels, drawn by Jeffreys' rule."""
        found = int(self._found[last] - self._found[first])
        return rng.beta(found + 0.5, last - first - found + 0.5, _DRAWS)

    def _described(self, posts: int, found: int) -> str:
        parts = []
        for start, stop in self._stretches:
            first, last = np.searchsorted(self._at, [start, stop])
            labels, size = int(last - first), stop - start
            share = "all" if labels == size else "none" if not labels else f"{labels:,}"
            parts.append(f"{share} of the {size:,} posts on ranks {start + 1:,} to {stop:,}")
        text = f"by {len(self._at):,} labels ({found:,} relevant): {'; '.join(parts)}"
        if not np.searchsorted(self._at, self._stretches[-1][0]) < len(self._at):
            text += "; label some drawn at random from all posts for narrower intervals"
        return text


def _stretches(at: np.ndarray, start: int, stop: int) -> list[tuple[int, int]]:
    """Ranks from `start` to before `stop` in stretches within which posts were labelled equally often.

    A stretch is divided where two rates of labelling make the labels much likelier than one.
    """
    labels, size = len(at), stop - start
    if not labels or labels == size:
        return [(start, stop)]
    # Before and behind every label; what lies between is never better.
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
    return [*_stretches(at[:count], start, cut), *_stretches(at[count:], cut, stop)]


def _log_likelihood(labels: np.ndarray, posts: np.ndarray) -> np.ndarray:
    """Of labels that each of the posts has with the same chance."""
    others = posts - labels
    with np.errstate(divide="ignore", invalid="ignore"):
        hit = np.where(labels > 0, labels * np.log(labels / posts), 0.0)
        miss = np.where(others > 0, others * np.log(others / posts), 0.0)
    return np.asarray(hit + miss)
