"""Features: what models read of posts, and how similar it makes them to an article.

A model names its features and combines their scores (`Model.features`, `Model.combine`). A table of posts, a list or a
corpus, holds what features read. Nothing else needs to know the model: scores, explanations and storage follow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from linker.data.types import Article, Post
from linker.models.features.content_words import shortened
from linker.models.features.text_encoder import TextEncoder
from linker.models.features.word_statistics import Statistics, WordStatistics
from linker.models.features.words import lexical_words

if TYPE_CHECKING:
    from linker.models.features.table import PostTable

#: The part of a score that a feature makes up.
Share = Literal["text_similarity", "shared_words", "date"]
TEXT: Share = "text_similarity"
WORDS: Share = "shared_words"
DATE: Share = "date"

#: For each post: word → its contribution to the score.
Contributions = list[dict[str, float]]


class Feature(ABC):
    """What a model reads of posts. Equal features are the same column of a table.

    Attributes:
        share: the part of scores that it makes up.
        encoder: what embeds the posts, for tables to keep; None: it reads no embeddings.
        slow_to_explain: whether explanations encode texts.
    """

    share: ClassVar[Share]
    encoder: TextEncoder | None = None
    slow_to_explain: ClassVar[bool] = False

    @abstractmethod
    def scores(
        self, table: PostTable, articles: Sequence[Article], rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return numbers for `combine`, such as similarities, of posts for each article by itself.

        Args:
            table: all posts.
            articles: the articles.
            rows: int64, ascending: the posts in question; None: all.

        Returns:
            Articles × rows, as `combine` of the models with this feature expects it.
        """

    def scores_together(self, table: PostTable, articles: Sequence[Article]) -> np.ndarray:
        """Return what `scores` does of all posts, unless a score depends on the other articles."""
        return self.scores(table, articles)

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

    encoder: TextEncoder
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
            loss_by_word(
                post.text,
                self.encoder.similarities(vectors, table.shortened_vectors(self.encoder, post.text)),
            )
            for post in posts
        ]


def loss_by_word(text: str, scores: np.ndarray) -> dict[str, float]:
    """Return the loss of mean score by each content word.

    Args:
        text: a text.
        scores: of `shortened(text)`: articles × texts.
    """
    means = scores.mean(axis=0, dtype=np.float64)
    return dict(zip(shortened(text).words, (means[0] - means[1:]).tolist()))


def word_statistics(
    features: Iterable[Feature], articles: Sequence[Article], posts: Sequence[Post]
) -> Statistics:
    """Count the words of posts for features that read words: by stop words, empty if there are none.

    Args:
        features: those of a model.
        articles: articles of the languages that posts are to be scored for; the language decides the stop words.
        posts: the pool.
    """
    wanted = dict.fromkeys(words for feature in features for words in feature.stop_words_for(articles))
    return {
        stop_words: WordStatistics.of([lexical_words(post.text, stop_words) for post in posts])
        for stop_words in wanted
    }
