"""Measures of inter-annotator agreement."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

Post = TypeVar("Post", bound=Hashable)


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


def krippendorff_alpha(annotators: Iterable[Mapping[Post, Hashable]]) -> float:
    """Return Krippendorff's α (2004, ch. 11) for nominal data, of any number of annotators (post → label).

    1 is full agreement, 0 what chance would give. Labels may be missing. NaN if undefined: no post with two labels, or
    all labels of such posts are the same.
    """
    units: dict[Post, Counter[Hashable]] = {}
    for labels in annotators:
        for post, value in labels.items():
            units.setdefault(post, Counter())[value] += 1
    pairable = [counts for counts in units.values() if counts.total() > 1]
    totals: Counter[Hashable] = sum(pairable, Counter())
    expected = totals.total() ** 2 - sum(count**2 for count in totals.values())
    if not expected:
        return math.nan
    observed = sum(
        (counts.total() ** 2 - sum(count**2 for count in counts.values())) / (counts.total() - 1)
        for counts in pairable
    )
    return 1 - (totals.total() - 1) * observed / expected
