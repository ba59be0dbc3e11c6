"""Pairs of labelled texts: of the same class or not, as many of each kind."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from linker.errors import DataError


@dataclass(frozen=True)
class ClassPairs:
    """Ordered pairs of two different texts, by their rows.

    Attributes:
        first: int64, one entry a pair.
        second: the same.
        same: bool: are both of one class?
    """

    first: np.ndarray
    second: np.ndarray
    same: np.ndarray


def count_pairs(classes: Sequence[Hashable]) -> tuple[int, int]:
    """How many ordered pairs of different texts are of one class, and how many of two."""
    _, sizes = np.unique(_numbers(classes), return_counts=True)
    same = int((sizes * (sizes - 1)).sum())
    return same, len(classes) * (len(classes) - 1) - same


def balanced_pairs(classes: Sequence[Hashable], seed: int, most: int | None = None) -> ClassPairs:
    """Every text with every other, less so many of the commoner kind that both kinds are equally frequent.

    Which ones of the commoner kind remain is random. Pairs of one class come first.

    Args:
        classes: of each text.
        seed: decides what remains.
        most: no more pairs than these, half of each kind, drawn at random.

    Raises:
        DataError: there is no pair of one class, or none of two.
    """
    same, different = count_pairs(classes)
    if not same or not different:
        raise DataError(
            f"{len(classes)} labelled texts hold {same} pairs of one class and {different} of two; "
            "there must be both: give texts of two classes, and two of one of them"
        )
    each = min(same, different) if most is None else min(same, different, max(most // 2, 1))
    rng = np.random.default_rng(seed)
    numbers = _numbers(classes)
    by_class = np.argsort(numbers, kind="stable")
    sizes = np.bincount(numbers)
    # Texts sorted by class lie in blocks, so that the n-th pair can be told without a list of all.
    first_of_block = np.repeat(np.cumsum(sizes) - sizes, sizes)
    size_of_block = np.repeat(sizes, sizes)

    def drawn(partners: np.ndarray, begin: np.ndarray, skip_own: bool) -> tuple[np.ndarray, np.ndarray]:
        """`each` of the pairs in which every text has so many partners, lying round from `begin` on."""
        total = int(partners.sum())
        chosen = np.arange(total) if each == total else np.sort(rng.choice(total, each, replace=False))
        ends = np.cumsum(partners)
        one = np.searchsorted(ends, chosen, "right")
        at = chosen - (ends - partners)[one]
        other = (begin[one] + at) % len(numbers)
        if skip_own:
            other += other >= one
        return by_class[one], by_class[other]

    alike = drawn(size_of_block - 1, first_of_block, True)
    unlike = drawn(len(numbers) - size_of_block, first_of_block + size_of_block, False)
    first, second = (np.concatenate(rows) for rows in zip(alike, unlike))
    return ClassPairs(first, second, np.arange(2 * each) < each)


def _numbers(classes: Sequence[Hashable]) -> np.ndarray:
    """Classes as numbers from 0, in the order in which they come up."""
    number: dict[Hashable, int] = {}
    return np.array([number.setdefault(one, len(number)) for one in classes], dtype=np.int64)
