"""Encoders: embeddings of texts, and how they are compared."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from linker.data.types import Article, Post

# Of more articles, a matrix product is much faster.
_FEW = 4


def dot_products(articles: np.ndarray, posts: np.ndarray) -> np.ndarray:
    """Return the dot products of embeddings, float32, articles × posts.

    Those of a few articles do not depend on where a post stands: BLAS adds up the last rows of a matrix in another
    order, so the same posts in another order would get other last bits.
    """
    if len(articles) > _FEW:
        return articles @ posts.T
    return np.einsum("ad,pd->ap", articles, posts)


class TextEncoder:
    """What embeds articles and posts, and compares the embeddings.

    Attributes:
        similarity: `cosine` or `euclidean`: how a corpus compares the embeddings.
        trainable: whether its weights may change, so that tables do not keep embeddings.
    """

    trainable: ClassVar[bool] = False
    similarity: str = "cosine"

    def article_vectors(self, articles: Sequence[Article]) -> np.ndarray:
        """Return the embeddings of articles: float32, articles × dim; of unit length if `similarity` is `cosine`."""
        raise NotImplementedError

    def post_vectors(self, posts: Sequence[Post]) -> np.ndarray:
        """Return the embeddings of posts: float32, posts × dim; of unit length if `similarity` is `cosine`."""
        raise NotImplementedError

    def similarities(self, articles: np.ndarray, posts: np.ndarray) -> np.ndarray:
        """Score embeddings, by default by their dot products.

        Args:
            articles: float32, articles × dim, from `article_vectors`.
            posts: float32, posts × dim, from `post_vectors`.

        Returns:
            float32, articles × posts.
        """
        return dot_products(articles, posts)
