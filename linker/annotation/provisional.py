"""Stands in for strategies, rules and pools until they are there; goes then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from linker.annotation.labels import Labels
from linker.annotation.ordering import OrderingStrategy
from linker.annotation.pool import Pool
from linker.annotation.stopping import Decision, StoppingRule
from linker.config import build, resolve
from linker.data.types import Article, Post
from linker.models.lexical import BM25Model
from linker.models.model import Model


class SeedOrder(OrderingStrategy):
    """By the model's score."""

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """Best score first."""
        order = np.argsort(-pool.scores, kind="stable")
        return order[~np.isin(order, labels.posts)]


class Never(StoppingRule):
    """Never stops."""

    def decide(self, labels: Labels, pool_size: int) -> Decision:
        """No."""
        return Decision(False, f"{labels.found} relevant among {len(labels)} of {pool_size} posts")


def resolved(family: type, config: Any) -> Any:
    """The config, or {} where the family has no components yet."""
    return resolve(family, config) if family.available() else {}  # type: ignore[attr-defined]


def built(family: type, config: Any) -> Any:
    """The component, or what stands in."""
    if config:
        return build(family, config)
    return SeedOrder() if family is OrderingStrategy else Never()


def build_pool(articles: Sequence[Article], posts: Sequence[Post], model: Model) -> Pool:
    """Every post by itself."""
    lexical = BM25Model().score(articles, posts).mean(axis=0)
    empty = csr_matrix((len(posts), 1), dtype=np.float32)
    return Pool(
        list(articles),
        list(posts),
        [()] * len(posts),
        model.score(articles, posts).mean(axis=0),
        lexical,
        empty,
        empty[: len(articles)],
        model.post_vectors(posts),
        model.article_vectors(articles),
    )
