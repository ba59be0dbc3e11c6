"""Batches of pairs of labelled texts, as many of one class as of two."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from linker.bounds import at_least
from linker.data.class_pairs import balanced_pairs, count_pairs
from linker.data.types import LinkedPosts
from linker.errors import DataError
from linker.training.batches import Batches, PairBatch


@Batches.register("class_pairs")
class ClassPairBatches(Batches):
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
        """See `Batches.epoch`.

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
        """See `Batches.count`."""
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
