"""Tasks to simulate: pools whose labels are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from linker.annotation.build_pool import build_pool, by_id
from linker.annotation.pool import Pool
from linker.common.console import info
from linker.common.errors import DataError
from linker.data.languages import languages_of
from linker.data.types import Article, LinkedPosts
from linker.models.features.memory_table import EmbeddingCache
from linker.models.model import Model, embedding_submodel


@dataclass(frozen=True)
class Task:
    """A pool whose labels are known.

    Attributes:
        name: the topic or event.
        pool: the pool; near-duplicates inherit the labels of their representatives.
        relevant: bool, N: label of each representative.
        gains: int64, N: relevant posts found by labeling a representative: 0 if it is not relevant, else 1 plus its
            relevant near-duplicates.
        total: number of relevant posts, near-duplicates included.
        posts: number of posts, near-duplicates included.
        disagreeing: number of near-duplicates whose true label differs from that of their representative.
    """

    name: str
    pool: Pool
    relevant: np.ndarray
    gains: np.ndarray
    total: int
    posts: int
    disagreeing: int

    @classmethod
    def of(cls, name: str, pool: Pool, relevant_ids: set[str]) -> Task:
        """Return the task in which exactly these posts are relevant."""
        relevant = np.array([post.id in relevant_ids for post in pool.posts], dtype=bool)
        of_copies = [[copy.id in relevant_ids for copy in copies] for copies in pool.copies]
        copies = np.array([sum(flags) for flags in of_copies], dtype=np.int64)
        disagreeing = sum(
            flag != label for flags, label in zip(of_copies, relevant.tolist()) for flag in flags
        )
        return cls(
            name, pool, relevant, np.where(relevant, 1 + copies, 0), int(relevant.sum() + copies.sum()),
            len(pool) + sum(map(len, pool.copies)), disagreeing,
        )  # fmt: skip


def tasks_of(linked: LinkedPosts, model: Model) -> Iterator[Task]:
    """Yield a task per story, or per article without one, with all posts; those linked to its articles are relevant.

    Tasks without a relevant post are left out; one line counts them.

    Raises:
        DataError: if no post is linked to an article.
    """
    groups: dict[str, list[Article]] = {}
    for article in linked.articles:
        groups.setdefault(article.story or article.id, []).append(article)
    relevant = {
        name: {post.id for post in linked.posts if ids.intersection(post.article_ids)}
        for name, ids in ((name, {article.id for article in seeds}) for name, seeds in groups.items())
    }
    if not any(relevant.values()):
        raise DataError("no post is relevant; link posts to articles by article_id, or give labels")
    if without := sum(not ids for ids in relevant.values()):
        info(f"{without:,} of {len(groups):,} tasks have no relevant post; left out")
    suited = model.suited_to(linked.articles, languages_of(linked.posts))
    embeddings, encoder = EmbeddingCache(), embedding_submodel(suited)
    if encoder is not None:  # tasks share their posts
        unique = {post.text: post for post in by_id(linked.posts)}
        embeddings.post_vectors(encoder, [*unique.values()])
    for name, seeds in groups.items():
        if relevant[name]:
            yield Task.of(name, build_pool(seeds, linked.posts, model, embeddings), relevant[name])
