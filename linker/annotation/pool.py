"""What there is to label, with all that an ordering may look at."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

import numpy as np
from scipy.sparse import csr_matrix

from linker.data.types import Article, Post


def _no_places() -> np.ndarray:
    return np.zeros(0, dtype=np.int64)


def _no_flags() -> np.ndarray:
    return np.zeros(0, dtype=bool)


@dataclass(frozen=True)
class Labels:
    """What is known of a pool.

    Attributes:
        posts: int64, places in the pool, each at most once, in the order of labelling.
        relevant: bool, one per label.
        at_random: bool: was the post drawn with equal chances from all that were unlabelled then? Guarantees of recall
            rest on these labels.
    """

    posts: np.ndarray = field(default_factory=_no_places)
    relevant: np.ndarray = field(default_factory=_no_flags)
    at_random: np.ndarray = field(default_factory=_no_flags)

    def __len__(self) -> int:
        return len(self.posts)

    @property
    def found(self) -> int:
        """How many relevant posts are known."""
        return int(self.relevant.sum())


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
        tie_seed: decides, together with the ids, which of the posts with equal scores comes first.
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
    tie_seed: int = 0

    def __len__(self) -> int:
        return len(self.posts)

    @cached_property
    def shuffled(self) -> np.ndarray:
        """int64, N: all places in a random order that depends on `tie_seed` and on the ids of the posts alone.

        Files often hold the relevant posts first or last. If equal scores kept that order, an ordering would look
        better or worse than it is, so they keep this one.
        """
        key = str(self.tie_seed).encode()[:64]
        digests = [
            blake2b(post.id.encode("utf-8", "surrogatepass"), digest_size=8, key=key).digest()
            for post in self.posts
        ]
        return np.argsort(np.frombuffer(b"".join(digests), dtype=">u8"), kind="stable")
