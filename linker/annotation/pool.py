"""What there is to label, with all that an ordering may look at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from linker.data.types import Article, Post


@dataclass(frozen=True)
class Pool:
    """The distinct posts of a labelling job. Near-duplicates are labelled together: each stands behind one post.

    Attributes:
        articles: the seed articles.
        posts: one post of every group of near-duplicates; N in all.
        copies: N tuples: the other posts of each group, which take over its label.
        scores: float32, N: the model's relevance for the seed articles, the mean over them.
        lexical_scores: float32, N: BM25 for the seed articles, the mean over them.
        words: float32, N × words: TF-IDF of the posts, rows of unit length.
        article_words: float32, articles × words: the same of the articles.
        vectors: float32, N × dim, the model's vectors; None where it has none.
        article_vectors: float32, articles × dim, or None.
    """

    articles: list[Article]
    posts: list[Post]
    copies: list[tuple[Post, ...]]
    scores: np.ndarray
    lexical_scores: np.ndarray
    words: csr_matrix
    article_words: csr_matrix
    vectors: np.ndarray | None = None
    article_vectors: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.posts)
