"""Features: what models read of posts, and how similar it makes them to an article.

A model names its features and combines their scores (`Model.features`, `Model.combine`). A table of posts, a list or a
corpus, holds what features read. Nothing else needs to know the model: scores, explanations and storage follow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

import numpy as np

from linker.data.types import Article, Post
from linker.models.content_words import shortened

if TYPE_CHECKING:
    from linker.models.post_times import PostTimes
    from linker.models.postings import Postings

#: The part of a score that a feature makes up.
Share = Literal["text_similarity", "shared_words", "date"]
TEXT, WORDS, DATE = "text_similarity", "shared_words", "date"

#: For each post: word → its contribution to the score.
Contributions = list[dict[str, float]]


class Encoder(Protocol):
    """What embeds texts and compares the embeddings: `EncoderModel`."""

    similarity: str
    trainable: bool

    def article_vectors(self, articles: Sequence[Article]) -> np.ndarray:
        """Return embeddings: float32, articles × dim."""

    def post_vectors(self, posts: Sequence[Post]) -> np.ndarray:
        """Return embeddings: float32, posts × dim."""

    def similarities(self, articles: np.ndarray, posts: np.ndarray) -> np.ndarray:
        """Return the similarities of embeddings: float32, articles × posts."""


class ScoresTexts(Protocol):
    """A model that scores posts by a function of its own."""

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """Return scores: float32, articles × posts."""


class PostTable(Protocol):
    """Posts with what features read of them: `MemoryTable`, or `CorpusTable` on disk."""

    def __len__(self) -> int:
        """Return the number of posts."""

    @property
    def times(self) -> PostTimes:
        """Return when the posts were created."""

    def posts(self, rows: np.ndarray | None = None) -> Sequence[Post]:
        """Return the posts in these rows; None: all."""

    def postings(self, stop_words: str) -> Postings:
        """Return the posts' words without these `stop_words` of `lexical_words`."""

    def article_vectors(self, encoder: Encoder, articles: Sequence[Article]) -> np.ndarray:
        """Return the embeddings of articles: float32, articles × dim."""

    def similarities(self, encoder: Encoder, vectors: np.ndarray, rows: np.ndarray | None) -> np.ndarray:
        """Return the similarities of the posts in these rows (None: all): float32, vectors × rows."""

    def upper_similarities(self, encoder: Encoder, vector: np.ndarray) -> np.ndarray | None:
        """Return upper bounds of the similarities of all posts to a vector, or None if they take as long."""

    def shortened_vectors(self, encoder: Encoder, text: str) -> np.ndarray:
        """Return the embeddings of a text and of it without each of its content words; see `shortened`."""


class Feature(ABC):
    """What a model reads of posts. Equal features are the same column of a table.

    Attributes:
        share: the part of scores that it makes up.
        encoder: what embeds the posts, for tables to keep; None: it reads no embeddings.
        slow_to_explain: whether explanations encode texts.
    """

    share: ClassVar[Share]
    encoder: Encoder | None = None
    slow_to_explain: ClassVar[bool] = False

    @abstractmethod
    def scores(
        self, table: PostTable, articles: Sequence[Article], rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return how similar posts are to each article by itself.

        Args:
            table: all posts.
            articles: the articles.
            rows: int64, ascending: the posts in question; None: all.

        Returns:
            Articles × rows, as `combine` of the models with this feature expects it.
        """

    def upper(self, table: PostTable, article: Article) -> np.ndarray | None:
        """Return upper bounds of the scores of all posts, float32, if they take less time than the scores."""
        return None

    def stop_words_for(self, articles: Sequence[Article]) -> Sequence[str]:
        """Return the `stop_words` of `lexical_words` without which words are counted for these articles."""
        return ()

    def contributions(
        self, table: PostTable, articles: Sequence[Article], posts: Sequence[Post]
    ) -> Contributions | None:
        """Return for each of some posts: word → its part of the mean score; None: it has nothing to do with words."""
        return None


@dataclass(frozen=True)
class Embedding(Feature):
    """The embedding of a post by an encoder; scores are the similarities to the article's."""

    encoder: Encoder
    share = TEXT
    slow_to_explain = True

    def scores(
        self, table: PostTable, articles: Sequence[Article], rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return similarities: float32, articles × rows."""
        return table.similarities(self.encoder, table.article_vectors(self.encoder, articles), rows)

    def upper(self, table: PostTable, article: Article) -> np.ndarray | None:
        """Return upper bounds of the similarities, if the table has any."""
        return table.upper_similarities(self.encoder, table.article_vectors(self.encoder, [article])[0])

    def contributions(
        self, table: PostTable, articles: Sequence[Article], posts: Sequence[Post]
    ) -> Contributions:
        """Return the loss of similarity of each post without each of its content words; may be negative."""
        vectors = table.article_vectors(self.encoder, articles)  # once: an article takes longer than a post
        # Post by post: the last bits of an embedding may depend on what is encoded with it, an explanation must not.
        return [
            _losses(
                post.text, self.encoder.similarities(vectors, table.shortened_vectors(self.encoder, post.text))
            )
            for post in posts
        ]


@dataclass(frozen=True)
class Text(Feature):
    """The text of a post, for models that only have a `score` of their own; nothing is stored."""

    model: ScoresTexts
    share = TEXT
    slow_to_explain = True

    def scores(
        self, table: PostTable, articles: Sequence[Article], rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the model's scores of all posts, float32, or of those in `rows`: they may depend on the others."""
        scores = self.model.score(articles, table.posts())
        return scores if rows is None else scores[:, rows]

    def contributions(
        self, table: PostTable, articles: Sequence[Article], posts: Sequence[Post]
    ) -> Contributions:
        """Return the loss of score of each post without each of its content words; may be negative."""
        score: Callable[[Sequence[Post]], np.ndarray] = lambda some: self.model.score(articles, some)
        return [_losses(post.text, score(shortened(post.text).posts)) for post in posts]


def _losses(text: str, scores: np.ndarray) -> dict[str, float]:
    """Return the loss of mean score by each content word.

    Args:
        text: a text.
        scores: of `shortened(text)`: articles × texts.
    """
    means = scores.mean(axis=0, dtype=np.float64)
    return dict(zip(shortened(text).words, (means[0] - means[1:]).tolist()))
