"""Build the pool of a session from articles, posts and a model."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_matrix

from linker.annotation.pool import Pool
from linker.common.errors import DataError, ModelError
from linker.data.near_duplicates import duplicate_groups
from linker.data.types import Article, Post
from linker.models.bm25 import BM25Model
from linker.models.elapsed_time import user_scale
from linker.models.features.memory_table import EmbeddingCache, MemoryTable
from linker.models.features.words import lexical_words
from linker.models.model import Model, embedding_submodel
from linker.ranking.search import mean_scores


def by_id(posts: Sequence[Post]) -> list[Post]:
    """Return the posts sorted by id, shorter ids before longer ones, so that numbers are in numeric order."""
    return sorted(posts, key=lambda post: (len(post.id), post.id))


def build_pool(
    articles: Sequence[Article],
    posts: Sequence[Post],
    model: Model,
    embeddings: EmbeddingCache | None = None,
    former: Sequence[Sequence[Post]] = (),
) -> Pool:
    """Build the pool for the articles, with near-duplicates grouped.

    The pool is the same for the same posts in any order: they are sorted by id first, shorter ids before longer ones,
    so that numbers are in numeric order. The first post of a group of near-duplicates represents it. The model scores
    all posts, since scores may depend on the other posts, and these are to be those of `Ranker.rank`.

    Args:
        articles: the articles.
        posts: the posts.
        model: the model.
        embeddings: keeps the embeddings of posts for other pools of these posts.
        former: groups of a pool that `posts` are added to, each with its representative first. They stay as they are,
            at the beginning, whatever is added.

    Raises:
        DataError: if articles or posts are empty.
        ModelError: if the model gives scores or embeddings that are not finite.
    """
    if not articles or not posts:
        raise DataError(f"no {'post' if articles else 'article'} was given")
    # Which posts are grouped, which rounding errors occur and what a seed samples all depend on the order.
    posts = [*(group[0] for group in former), *by_id(posts)]
    groups = duplicate_groups([post.text for post in posts])
    copies = {place: [*group[1:]] for place, group in enumerate(former)}
    for place, first in enumerate(groups.tolist()):
        same = copies.setdefault(first, [])
        if place != first:
            same.append(posts[place])
    distinct = [posts[place] for place in copies]
    posts += [post for group in former for post in group[1:]]
    table, first = MemoryTable(posts, embeddings=embeddings), np.array([*copies])
    encoder = embedding_submodel(model.suited_to(articles, table.languages(None)))
    vectors = None if encoder is None else table.post_vectors(encoder)[first]
    article_vectors = None if encoder is None else encoder.article_vectors(articles)
    scores = mean_scores(model, table, articles)[first]
    if not all(array is None or np.isfinite(array).all() for array in (scores, vectors, article_vectors)):
        raise ModelError("the model gives scores that are not finite numbers; train it again")
    article_words, words = tfidf_vectors(articles, distinct)
    return Pool(
        list(articles), distinct, [tuple(same) for same in copies.values()], scores,
        mean_scores(BM25Model(), MemoryTable(distinct), articles), words, article_words, vectors,
        article_vectors, scale=user_scale(model, table, articles),
    )  # fmt: skip


def tfidf_vectors(articles: Sequence[Article], posts: Sequence[Post]) -> tuple[csr_matrix, csr_matrix]:
    """Return sublinear TF-IDF vectors of words and pairs of adjacent words that occur in at least two texts.

    Returns:
        Of the articles and of the posts: float32, texts × vocabulary, rows of unit length.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [article.full_text for article in articles] + [post.text for post in posts]
    vectorizer = TfidfVectorizer(analyzer=_words_and_pairs, min_df=2, sublinear_tf=True, dtype=np.float32)
    try:
        vectors = vectorizer.fit_transform(texts)
    except ValueError:  # no word occurs twice
        vectors = csr_matrix((len(texts), 0), dtype=np.float32)
    return csr_matrix(vectors[: len(articles)]), csr_matrix(vectors[len(articles) :])


def _words_and_pairs(text: str) -> list[str]:
    words = lexical_words(text, "none")
    return words + [f"{one} {following}" for one, following in pairwise(words)]
