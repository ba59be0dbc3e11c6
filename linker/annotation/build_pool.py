"""Build the pool of a session from articles, posts and a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from linker.annotation.pool import Pool
from linker.common.errors import DataError, ModelError
from linker.data.near_duplicates import duplicate_groups
from linker.data.types import Article, Post
from linker.models.elapsed_time import uses_dates
from linker.models.lexical import BM25Model, tfidf_vectors
from linker.models.model import Model, embedding_submodel, index_of, post_vectors_by


def by_id(posts: Sequence[Post]) -> list[Post]:
    """Return the posts sorted by id, shorter ids before longer ones, so that numbers are in numeric order."""
    return sorted(posts, key=lambda post: (len(post.id), post.id))


@contextmanager
def encoded_once(model: Model, posts: Sequence[Post]) -> Iterator[None]:
    """Encode these posts; within this context, the model looks their embeddings up instead of encoding them again.

    They are encoded in the order of their ids: rounding errors depend on which texts are encoded together.

    Args:
        model: the model whose part with embeddings encodes them; nothing is encoded if it has no such part.
        posts: the posts, in any order, repeated or not.
    """
    part, rows = embedding_submodel(model), index_of(by_id(posts))
    vectors = None if part is None or not rows else part.post_vectors(list(rows))
    if part is None or vectors is None:
        yield
        return
    encode = part.post_vectors

    def look_up(asked: Sequence[Post]) -> np.ndarray | None:
        found = [rows.get(post, -1) for post in asked]
        return encode(asked) if -1 in found else vectors[found]

    with post_vectors_by(part, look_up):
        yield


def build_pool(articles: Sequence[Article], posts: Sequence[Post], model: Model) -> Pool:
    """Build the pool for the articles, with near-duplicates grouped.

    The pool is the same for the same posts in any order: they are sorted by id first, shorter ids before longer ones,
    so that numbers are in numeric order. The first post of a group of near-duplicates represents it. The model scores
    all posts, since scores may depend on the other posts, and these are to be those of `Ranker.rank`.

    Raises:
        DataError: if articles or posts are empty.
        ModelError: if the model gives scores or embeddings that are not finite.
    """
    if not articles or not posts:
        raise DataError(f"no {'post' if articles else 'article'} was given")
    # Which posts are grouped, which rounding errors occur and what a seed samples all depend on the order.
    posts = by_id(posts)
    groups = duplicate_groups([post.text for post in posts])
    copies: dict[int, list[Post]] = {}
    for place, first in enumerate(groups.tolist()):
        same = copies.setdefault(first, [])
        if place != first:
            same.append(posts[place])
    distinct = [posts[place] for place in copies]
    article_words, words, _ = tfidf_vectors(articles, distinct, "none", pairs=True)
    part = embedding_submodel(model)
    with encoded_once(model, posts):
        vectors = None if part is None else part.post_vectors(distinct)
        article_vectors = None if part is None else part.article_vectors(articles)
        scores = model.score_independently(articles, posts)[:, list(copies)]
    if not all(array is None or np.isfinite(array).all() for array in (scores, vectors, article_vectors)):
        raise ModelError("the model gives scores that are not finite numbers; train it again")
    scale = model.score_scale()
    dated = uses_dates(model, articles, any(post.created_at for post in posts))
    return Pool(
        list(articles),
        distinct,
        [tuple(same) for same in copies.values()],
        _mean(scores),
        _mean(BM25Model().score(articles, distinct)),
        words,
        article_words,
        vectors,
        article_vectors,
        scale=scale if dated else scale.without_dates(),
    )


def _mean(scores: np.ndarray) -> np.ndarray:
    """Return the mean over the articles: float32, one per post."""
    return scores.mean(axis=0, dtype=np.float64).astype(np.float32)
