"""The pool of posts to label, its labels, and the features that query strategies use."""

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

import numpy as np
from scipy.sparse import csr_matrix

from linker.data.types import Article, Post
from linker.models.score_scale import UNSCALED, ScoreScale


@dataclass(frozen=True)
class Labels:
    """Labels of a pool, one per labeled post.

    Attributes:
        posts: int64, indices into the pool, each at most once, in the order of labeling.
        relevant: bool, one per label.
        at_random: bool: whether the post was sampled uniformly from the unlabeled posts. Guarantees of recall rest on
            these labels.
        draws: int64, random draws × 2, in the order of drawing: the place of the post's label, −1 if it has none since
            it was skipped or nobody has come to it, and the number of labels before the draw. None: each post was drawn
            just before its label.
        earlier: number of labels, at the beginning, that were given before posts were added to the pool.
    """

    posts: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    relevant: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    at_random: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    draws: np.ndarray | None = None
    earlier: int = 0

    def __len__(self) -> int:
        return len(self.posts)

    @property
    def found(self) -> int:
        """Number of relevant posts."""
        return int(self.relevant.sum())

    @property
    def sample(self) -> np.ndarray:
        """Return `draws`, also where posts were drawn just before their label."""
        places = np.flatnonzero(self.at_random)
        return np.column_stack([places, places]) if self.draws is None else self.draws


@dataclass(frozen=True)
class Pool:
    """The distinct posts of a labeling session. Near-duplicates inherit the label of their representative.

    Attributes:
        articles: the seed articles.
        posts: the representatives of the groups of near-duplicates; N in all.
        copies: N tuples: the other posts of each group.
        scores: float32, N: the model's raw score, mean over the seed articles.
        lexical_scores: float32, N: BM25, mean over the seed articles.
        words: float32, N × vocabulary: TF-IDF of the posts' words and pairs of adjacent words, rows of unit length.
        article_words: float32, articles × vocabulary: TF-IDF of the articles.
        vectors: float32, N × dim, the model's embeddings; None if it has none.
        article_vectors: float32, articles × dim, or None.
        tie_seed: with the ids, determines the order of posts with equal scores.
        scale: the map from `scores` to those that users see.
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
    scale: ScoreScale = UNSCALED

    def __len__(self) -> int:
        return len(self.posts)

    @cached_property
    def shown_scores(self) -> list[float]:
        """Return the scores that users see, 0 to 100, one per post."""
        found: list[float] = self.scale(self.scores).tolist()
        return found

    @cached_property
    def shuffled(self) -> np.ndarray:
        """Return all indices, int64, N, in a random order that depends on `tie_seed` and the posts' ids alone.

        Files often hold the relevant posts first or last. If ties kept that order, a query strategy would look better
        or worse than it is.
        """
        key = str(self.tie_seed).encode()[:64]
        digests = [
            blake2b(post.id.encode("utf-8", "surrogatepass"), digest_size=8, key=key).digest()
            for post in self.posts
        ]
        return np.argsort(np.frombuffer(b"".join(digests), dtype=">u8"), kind="stable")
