"""Inter-annotator agreement."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class Disagreement(Generic[T]):
    """A post that annotators label differently.

    Attributes:
        post_id: the post.
        labels: annotator → label: whether it is relevant, or the name of the label.
    """

    post_id: str
    labels: dict[str, T]


def cohen_kappa(first: Mapping[str, bool], second: Mapping[str, bool]) -> float:
    """Return Cohen's κ (1960) of two annotators over the posts that both labeled (post id → relevant).

    1 is full agreement, 0 what chance would give with each annotator's own share of relevant posts. NaN if
    undefined: no post in common, or both gave the same label throughout.
    """
    both = [(first[post], second[post]) for post in first if post in second]
    if not both:
        return math.nan
    observed = sum(one == other for one, other in both) / len(both)
    shares = [sum(pair[side] for pair in both) / len(both) for side in (0, 1)]
    by_chance = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
    return math.nan if by_chance == 1 else (observed - by_chance) / (1 - by_chance)


def krippendorff_alpha(annotators: Iterable[Mapping[str, Hashable]], scale: Sequence[Hashable] = ()) -> float:
    """Return Krippendorff's α (2004, ch. 11) of any number of annotators; labels may be missing.

    1 is full agreement, 0 what chance would give. NaN if undefined: no post with two labels, or all labels
    of such posts are the same.

    Args:
        annotators: post id → label, of each annotator.
        scale: all labels in order, for ordinal data, where labels far apart disagree more; empty: nominal data.
    """
    units: dict[str, Counter[Hashable]] = {}
    for labels in annotators:
        for post, value in labels.items():
            units.setdefault(post, Counter())[value] += 1
    pairable = [counts for counts in units.values() if counts.total() > 1]
    totals: Counter[Hashable] = sum(pairable, Counter())
    pairs = list(combinations(scale or list(totals), 2))
    differences = [_difference(one, other, totals, scale) for one, other in pairs]
    expected = sum(
        totals[one] * totals[other] * apart for (one, other), apart in zip(pairs, differences, strict=True)
    )
    if not expected:
        return math.nan
    observed = sum(
        counts[one] * counts[other] * apart / (counts.total() - 1)
        for counts in pairable
        for (one, other), apart in zip(pairs, differences, strict=True)
    )
    return 1 - (totals.total() - 1) * observed / expected


def _difference(
    one: Hashable, other: Hashable, totals: Counter[Hashable], scale: Sequence[Hashable]
) -> float:
    """Return the squared difference of two labels, `one` before `other` on the scale: Krippendorff 2004, ch. 11.3."""
    if not scale:
        return 1.0
    between = scale[scale.index(one) : scale.index(other) + 1]
    return float((sum(totals[value] for value in between) - (totals[one] + totals[other]) / 2) ** 2)


def disagreements(annotators: Mapping[str, Mapping[str, T]]) -> list[Disagreement[T]]:
    """Return the posts with different labels, in order of first appearance."""
    labels: dict[str, dict[str, T]] = {}
    for annotator, given in annotators.items():
        for post, value in given.items():
            labels.setdefault(post, {})[annotator] = value
    return [Disagreement(post, given) for post, given in labels.items() if len(set(given.values())) > 1]


def pairwise_kappas(annotators: Mapping[str, Mapping[str, bool]]) -> dict[tuple[str, str], float]:
    """Return Cohen's κ of each pair of annotators."""
    pairs: Sequence[tuple[str, str]] = list(combinations(annotators, 2))
    return {(one, other): cohen_kappa(annotators[one], annotators[other]) for one, other in pairs}
