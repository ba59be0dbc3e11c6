"""Models whose scores compare one vector per text: what they have in common, with NumPy alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from linker.common.checks import at_least, between
from linker.data.types import Article, Post
from linker.data.vocabulary import EncodedText
from linker.models.model import Model, places


class EmbeddingModel(Model):
    """Texts become token ids, token ids vectors, the same way for articles and posts.

    Attributes:
        max_article_tokens: articles are cut here.
        max_post_tokens: posts are cut here.
        similarity: `cosine` of the vectors; or `euclidean`, the negative distance of the vectors as they are.
        title_share: of the title in an article's vector when posts are scored; the rest is the whole's.
    """

    max_article_tokens: int
    max_post_tokens: int
    similarity: Literal["cosine", "euclidean"]
    title_share: float

    def _set_reading(
        self,
        max_article_tokens: int,
        max_post_tokens: int,
        similarity: Literal["cosine", "euclidean"],
        title_share: float,
    ) -> None:
        """Check and keep what the attributes say.

        Raises:
            LinkerError: a number out of its range.
        """
        at_least(1, max_article_tokens=max_article_tokens, max_post_tokens=max_post_tokens)
        between(0, 1, title_share=title_share)
        self.max_article_tokens, self.max_post_tokens = max_article_tokens, max_post_tokens
        self.similarity, self.title_share = similarity, title_share

    def article_tokens(self, article: Article) -> EncodedText:
        """Ids of title and text, cut at `max_article_tokens`."""
        raise NotImplementedError

    def post_tokens(self, post: Post) -> EncodedText:
        """Ids of the post, cut at `max_post_tokens`."""
        raise NotImplementedError

    def encode(
        self, texts: Iterable[EncodedText], description: str = "encoding", count: int | None = None
    ) -> np.ndarray:
        """Vectors, of unit length for cosines: float32, texts × dim.

        Args:
            texts: token ids.
            description: what the progress display says.
            count: how many there are, for the display, where `texts` has no length.
        """
        raise NotImplementedError

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Cosines or negative distances: float32, articles × posts; equal texts have equal scores, bit by bit."""
        distinct, column = _distinct(posts)
        scores = self.similarities(self.article_vectors(articles), self.post_vectors(distinct))
        # A matrix product may sum a column in another order than an equal one.
        return scores if len(distinct) == len(posts) else scores[:, column]

    def score_pairs(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Cosines or negative distances: float32, one a pair."""
        rows, columns = places(articles), places(posts)
        left = self.article_vectors(list(rows))[[rows[one] for one in articles]]
        right = self.post_vectors(list(columns))[[columns[one] for one in posts]]
        if self.similarity == "cosine":
            return np.einsum("ij,ij->i", left, right)
        return -np.linalg.norm(left - right, axis=1)

    def article_vectors(self, articles: Sequence[Article]) -> np.ndarray:
        """Of unit length for cosines: float32, articles × dim."""
        wholes = self.encode(map(self.article_tokens, articles), "encoding articles", len(articles))
        titled = [
            i for i, article in enumerate(articles) if self.title_share and article.title and article.text
        ]
        if titled:
            titles = self.encode(
                [self.article_tokens(replace(articles[i], text="")) for i in titled], "titles"
            )
            mixed = (1 - self.title_share) * wholes[titled] + self.title_share * titles
            wholes[titled] = unit_length(mixed) if self.similarity == "cosine" else mixed
        return wholes

    def post_vectors(self, posts: Sequence[Post]) -> np.ndarray:
        """Of unit length for cosines: float32, posts × dim; equal texts have equal vectors, bit by bit."""
        distinct, row = _distinct(posts)
        vectors = self.encode(map(self.post_tokens, distinct), "encoding posts", len(distinct))
        # Texts that are encoded together with others would differ in the last bits, and equal posts in their scores.
        return vectors if len(distinct) == len(posts) else vectors[row]

    def similarities(self, articles: np.ndarray, posts: np.ndarray) -> np.ndarray:
        """Scores from what `encode` gave: float32, articles × posts."""
        if self.similarity == "cosine":
            return articles @ posts.T
        # |a - p|² = |a|² - 2 a·p + |p|², in float64 for near vectors, whose difference rounding would drown.
        left, right = articles.astype(np.float64), posts.astype(np.float64)
        squares = (left**2).sum(axis=1)[:, None] - 2 * left @ right.T + (right**2).sum(axis=1)
        return -np.sqrt(np.maximum(squares, 0)).astype(np.float32)


def _distinct(posts: Sequence[Post]) -> tuple[list[Post], list[int]]:
    """The first post of each text, and for every post the place of its text among these."""
    place: dict[str, int] = {}
    distinct: list[Post] = []
    for post in posts:
        if post.text not in place:
            place[post.text] = len(distinct)
            distinct.append(post)
    return distinct, [place[post.text] for post in posts]


def unit_length(vectors: np.ndarray) -> np.ndarray:
    """Rows divided by their Euclidean length; zeros stay zeros. Same shape and type."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.maximum(lengths, 1e-12)
