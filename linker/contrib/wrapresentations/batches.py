"""BatchSampler of pairs of labelled texts, as many of one class as of two."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from linker.common.checks import at_least
from linker.common.errors import DataError
from linker.data.types import LinkedPosts
from linker.training.batch_sampler import BatchSampler, PairBatch


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


@BatchSampler.register("class_pairs")
class ClassPairSampler(BatchSampler):
    """Every text with every other, balanced to the larger number that both kinds of pairs have (WRAPresentations).

    For labelled texts (reader `labelled_texts`) and the miner `aligned`. The pairs of an epoch are those of every
    epoch, in another order.

    Args:
        pairs: in a batch.
        most: no more pairs in an epoch, half of each kind, drawn anew for each; null: all.
        seed: decides which pairs of the commoner kind are used.
    """

    def __init__(self, pairs: int = 32, most: int | None = None, seed: int = 0) -> None:
        at_least(1, pairs=pairs)
        at_least(2, most=most)
        self.pairs, self.most, self.seed = pairs, most, seed

    def epoch(self, data: LinkedPosts, seed: int) -> Iterator[PairBatch]:
        """See `BatchSampler.epoch`.

        Raises:
            DataError: posts and articles are not the same texts, or there are no pairs of both kinds.
        """
        article_of = _article_of(data)
        classes = [post.article_ids for post in data.posts]
        drawn = balanced_pairs(classes, self.seed if self.most is None else seed, self.most)
        order = np.random.default_rng(seed).permutation(len(drawn.first))
        for start in range(0, len(order), self.pairs):
            rows = order[start : start + self.pairs]
            articles = [article_of[j] for j in drawn.first[rows].tolist()]
            yield PairBatch(articles, drawn.second[rows].tolist())

    def count(self, data: LinkedPosts) -> int:
        """See `BatchSampler.count`."""
        each = min(count_pairs([post.article_ids for post in data.posts]))
        if self.most is not None:
            each = min(each, self.most // 2)
        return -(-2 * each // self.pairs)


def _article_of(data: LinkedPosts) -> list[int]:
    """The row of the article that is the same text as each post."""
    row = {article.id: i for i, article in enumerate(data.articles)}
    for post in data.posts:
        if post.id not in row or post.id not in post.article_ids:
            raise DataError(
                f"batches class_pairs: post {post.id} is not among the articles of its class; "
                "read labelled texts with the reader labelled_texts"
            )
    return [row[post.id] for post in data.posts]
