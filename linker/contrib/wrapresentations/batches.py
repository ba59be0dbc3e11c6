"""Batches of pairs of labeled texts, balanced between pairs of one class and pairs of two."""

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from linker.common.checks import at_least
from linker.common.errors import DataError
from linker.data.types import LinkedPosts
from linker.training.batch_sampler import BatchSampler, PairBatch


class ClassPairs(NamedTuple):
    """Ordered pairs of two different texts: their rows (int64), and whether both are of one class (bool)."""

    first: np.ndarray
    second: np.ndarray
    same: np.ndarray


def count_pairs(classes: Sequence[Hashable]) -> tuple[int, int]:
    """Return the numbers of ordered pairs of different texts of one class, and of two."""
    _, sizes = np.unique(_numbers(classes), return_counts=True)
    same = int((sizes * (sizes - 1)).sum())
    return same, len(classes) * (len(classes) - 1) - same


def balanced_pairs(classes: Sequence[Hashable], seed: int, max_pairs: int | None = None) -> ClassPairs:
    """Pair every text with every other; sample the more frequent kind down to the size of the other.

    Pairs of one class come first. Memory grows with the square of the number of texts: 17 bytes a pair.

    Args:
        classes: class of each text.
        seed: random seed of the sample.
        max_pairs: maximum number of pairs, half of each kind, sampled at random.

    Raises:
        DataError: if there is no pair of one class, or none of two.
    """
    same, different = count_pairs(classes)
    if not same or not different:
        raise DataError(
            f"{len(classes)} labeled texts make {same} pairs of one class and {different} of two, and both are "
            "needed: give texts of two classes, and two of one of them"
        )
    each = min(same, different) if max_pairs is None else min(same, different, max(max_pairs // 2, 1))
    rng, numbers = np.random.default_rng(seed), _numbers(classes)
    alike = numbers[:, None] == numbers
    unlike = ~alike
    np.fill_diagonal(alike, False)
    rows = []
    for kind in (alike, unlike):
        pairs = np.argwhere(kind)
        rows.append(pairs[np.sort(rng.choice(len(pairs), each, replace=False))])
    first, second = np.concatenate(rows).T
    return ClassPairs(first, second, np.arange(2 * each) < each)


def _numbers(classes: Sequence[Hashable]) -> np.ndarray:
    """Return the classes as numbers from 0, in order of first occurrence: int64, texts."""
    number: dict[Hashable, int] = {}
    return np.array([number.setdefault(name, len(number)) for name in classes], dtype=np.int64)


@BatchSampler.register("class_pairs")
class ClassPairSampler(BatchSampler):
    """Batches of all pairs of labeled texts, balanced between pairs of one class and of two (WRAPresentations).

    For the reader `labeled_texts` and the miner `aligned`. Every epoch has the same pairs, in another order.

    Paper: Feger and Dietze 2024, https://aclanthology.org/2024.findings-naacl.146

    Args:
        pairs: number of pairs per batch.
        max_pairs: maximum number of pairs per epoch, half of each kind, sampled again for each epoch; null: all.
        seed: random seed for the choice among the pairs of the more frequent kind.
    """

    def __init__(self, pairs: int = 32, max_pairs: int | None = None, seed: int = 0) -> None:
        at_least(1, pairs=pairs)
        at_least(2, max_pairs=max_pairs)
        self.pairs, self.max_pairs, self.seed = pairs, max_pairs, seed

    def epoch(self, data: LinkedPosts, seed: int) -> Iterator[PairBatch]:
        """See `BatchSampler.epoch`.

        Raises:
            DataError: if posts and articles are not the same texts, or one kind has no pairs.
        """
        article_of = _article_of(data)
        classes = [post.article_ids for post in data.posts]
        pairs = balanced_pairs(classes, self.seed if self.max_pairs is None else seed, self.max_pairs)
        order = np.random.default_rng(seed).permutation(len(pairs.first))
        for start in range(0, len(order), self.pairs):
            rows = order[start : start + self.pairs]
            articles = [article_of[j] for j in pairs.first[rows].tolist()]
            yield PairBatch(articles, pairs.second[rows].tolist())

    def count(self, data: LinkedPosts) -> int:
        """See `BatchSampler.count`."""
        each = min(count_pairs([post.article_ids for post in data.posts]))
        if self.max_pairs is not None:
            each = min(each, self.max_pairs // 2)
        return -(-2 * each // self.pairs)


def _article_of(data: LinkedPosts) -> list[int]:
    """Return, for each post, the row of the article that is the same text."""
    row = {article.id: i for i, article in enumerate(data.articles)}
    for post in data.posts:
        if post.id not in row or post.id not in post.article_ids:
            raise DataError(
                f"batches class_pairs: post {post.id} is not among the articles of its class; "
                "read labeled texts with the reader labeled_texts"
            )
    return [row[post.id] for post in data.posts]
