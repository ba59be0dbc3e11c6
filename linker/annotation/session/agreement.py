"""Measures of inter-annotator agreement."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from scipy.special import ndtr, ndtri

Post = TypeVar("Post", bound=Hashable)
# Of the interval: bootstrap samples; posts, and posts with mostly another label than the most frequent one, from which
# on it holds α in 93 % of samples or more (in 84 % with 20 posts; in 90 % if few posts are relevant and α < 0.3).
_RESAMPLES, _LEAST_UNITS, _LEAST_OTHERS = 1_000, 50, 5


@dataclass(frozen=True)
class Agreement:
    """Agreement of several annotators on posts or other units.

    Attributes:
        units: number of units with two or more labels; the others say nothing.
        percent: share of the pairs of labels of a unit that are the same, 0 to 1, mean over the units; NaN without any.
        alpha: Krippendorff's α (2004, ch. 11): 1 is full agreement, 0 that by chance; NaN if all labels are equal.
        interval: its 95 % interval, by a BCa bootstrap over the units (Efron 1987); None: see `why_no_interval`.
        why_no_interval: what is missing for one; empty: nothing is.
    """

    units: int
    percent: float
    alpha: float
    interval: tuple[float, float] | None
    why_no_interval: str

    @classmethod
    def of(cls, table: np.ndarray, seed: int = 13, is_scale: bool = False) -> Agreement:
        """Return the agreement in a table of labels.

        Args:
            table: int, units × annotators: each label as a number from 0, see `label_table`; −1 where there is none.
            seed: the same seed gives the same interval.
            is_scale: whether labels are points of a scale, and differ by the square of their distance (interval data);
                else they are equal or not (nominal data).
        """
        counts, units = _patterns(table)
        size = int(units.sum())
        labels = counts.sum(axis=1)
        same, pairs = (counts * (counts - 1)).sum(axis=1), labels * (labels - 1)
        points = np.arange(counts.shape[1])
        gaps = np.subtract.outer(points, points)
        differences = gaps**2 if is_scale else (gaps != 0).astype(int)
        alpha = float(_alphas(units[None], counts, differences)[0])
        usual = counts[:, (units @ counts).argmax()] if size else np.zeros(0)
        others = int(units[2 * usual <= labels].sum())
        few = f"fewer than {_LEAST_OTHERS} posts have mostly another label than the most frequent one"
        why, interval = "no two labels of a post differ" if (same == pairs).all() else "", None
        why = f"fewer than {_LEAST_UNITS} posts have several labels" if size < _LEAST_UNITS else why
        if not (why := why or few * (others < _LEAST_OTHERS)):
            samples = np.random.default_rng(seed).multinomial(size, units / size, size=_RESAMPLES)
            alphas = _alphas(samples, counts, differences)
            one_less = _alphas(units - np.eye(len(units), dtype=int), counts, differences)
            influence = np.average(one_less, weights=units) - one_less  # by pattern
            acceleration = units @ influence**3 / (6 * max(units @ influence**2, 1e-12) ** 1.5)
            bias = ndtri(np.clip(np.mean(alphas < alpha) + np.mean(alphas == alpha) / 2, 1e-3, 1 - 1e-3))
            ends = bias + ndtri([0.025, 0.975])
            low, high = np.nanquantile(alphas, ndtr(bias + ends / (1 - acceleration * ends)))
            interval = float(low), float(high)
        return cls(size, float(units @ (same / pairs) / size) if size else math.nan, alpha, interval, why)

    def as_json(self) -> dict[str, Any]:
        """Return the figures as JSON; undefined ones are None."""
        figures = {name: finite(getattr(self, name)) for name in ("percent", "alpha")}
        reason = {"interval": self.interval, "why_no_interval": self.why_no_interval}
        return {"posts": self.units, **figures, **reason}


def label_table(
    annotators: Iterable[Mapping[Post, Hashable]], options: Sequence[Hashable] = ()
) -> np.ndarray:
    """Return the labels of annotators (post → label) as a table, int64, posts × annotators; −1 where there is none.

    A label's number is its place among the options; without options, among the labels that were given.
    """
    given = list(annotators)
    posts = {post: row for row, post in enumerate(dict.fromkeys(post for labels in given for post in labels))}
    values = options or sorted({value for labels in given for value in labels.values()}, key=str)
    codes = {value: code for code, value in enumerate(values)}
    table = np.full((len(posts), len(given)), -1)
    for column, labels in enumerate(given):
        rows = [posts[post] for post in labels]
        table[rows, column] = [codes[value] for value in labels.values()]
    return table


def finite(value: float) -> float | None:
    """Return a number as JSON has it: None for NaN."""
    return None if math.isnan(value) else value


def _patterns(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows of counts (how often a unit has each label) of two labels or more, and their numbers."""
    values = range(int(table.max(initial=-1)) + 1)
    counts = np.stack([(table == value).sum(axis=1) for value in values], axis=1) if values else table[:, :0]
    patterns, units = np.unique(counts[counts.sum(axis=1) > 1], axis=0, return_counts=True)
    return patterns, units


def _alphas(samples: np.ndarray, counts: np.ndarray, differences: np.ndarray) -> np.ndarray:
    """Return Krippendorff's α of samples (samples × patterns: how many units have each row of `counts`).

    Args:
        samples: see above.
        counts: patterns × labels.
        differences: labels × labels: how much two labels differ.
    """
    labels, totals = counts.sum(axis=1), samples @ counts
    differing = (counts @ differences * counts).sum(axis=1) / np.maximum(labels - 1, 1)
    number = samples @ labels
    expected = (totals @ differences * totals).sum(axis=1)
    defined = np.where(expected > 0, expected, np.nan)
    return np.asarray(1 - (number - 1) * (samples @ differing) / defined)


def cohen_kappa(first: Mapping[Post, bool], second: Mapping[Post, bool]) -> float:
    """Return Cohen's κ (1960) of two annotators over the posts that both labeled (post → relevant).

    1 is full agreement, 0 what chance would give with each annotator's own share of relevant posts. NaN if
    undefined: no post in common, or both gave the same label throughout.
    """
    both = [(first[post], second[post]) for post in first if post in second]
    if not both:
        return math.nan
    observed = sum(a == b for a, b in both) / len(both)
    shares = [sum(pair[side] for pair in both) / len(both) for side in (0, 1)]
    by_chance = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
    return math.nan if by_chance == 1 else (observed - by_chance) / (1 - by_chance)
