"""A pool of posts to label, out of articles, posts and a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linker.annotation.pool import Pool
from linker.data.duplicates import duplicate_groups
from linker.data.types import Article, Post
from linker.errors import DataError
from linker.models.lexical import BM25Model, tfidf_vectors
from linker.models.model import Model, part_with_vectors


def build_pool(articles: Sequence[Article], posts: Sequence[Post], model: Model) -> Pool:
    """What there is to label for these articles, near-duplicates put together.

    The first post of a group of near-duplicates stands for it; only these are scored.

    Raises:
        DataError: there is no article, or no post.
    """
    if not articles or not posts:
        raise DataError(f"no {'post' if articles else 'article'} was given")
    groups = duplicate_groups([post.text for post in posts])
    copies: dict[int, list[Post]] = {}
    for place, first in enumerate(groups.tolist()):
        same = copies.setdefault(first, [])
        if place != first:
            same.append(posts[place])
    distinct = [posts[place] for place in copies]
    article_words, words, _ = tfidf_vectors(articles, distinct)
    part = part_with_vectors(model)
    vectors = None if part is None else part.post_vectors(distinct)
    article_vectors = None if part is None else part.article_vectors(articles)
    if part is model and vectors is not None and article_vectors is not None:
        # Scoring would encode all posts a second time.
        scores = model.similarities(article_vectors, vectors)
    else:
        scores = model.score_alone(articles, distinct)
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
    )


def _mean(scores: np.ndarray) -> np.ndarray:
    """The mean over the articles: float32, one per post."""
    return scores.mean(axis=0, dtype=np.float64).astype(np.float32)
