"""A list of posts with what models read of them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from linker.data.types import Article, Post
from linker.models.content_words import shortened
from linker.models.post_times import PostTimes
from linker.models.features import Encoder
from linker.models.postings import Postings, Segment, words_of
from linker.models.word_statistics import WordStatistics

_MOST_BYTES = 256 << 20


class MemoryTable:
    """A list of posts; see `linker.models.features.PostTable`.

    Args:
        posts: the posts.
        statistics: counts of words in other posts to score with, by stop words; others are counted in `posts`.
        embeddings: keeps the embeddings for later tables; None: each table encodes its posts.
    """

    def __init__(
        self,
        posts: Sequence[Post],
        statistics: Mapping[str, WordStatistics] | None = None,
        embeddings: EmbeddingCache | None = None,
    ) -> None:
        self._posts, self._statistics = posts, statistics or {}
        self._embeddings = EmbeddingCache() if embeddings is None else embeddings
        self._postings: dict[str, Postings] = {}

    def __len__(self) -> int:
        return len(self._posts)

    @cached_property
    def times(self) -> PostTimes:
        """Return when the posts were created."""
        return PostTimes.of(self._posts)

    def posts(self, rows: np.ndarray | None = None) -> Sequence[Post]:
        """Return the posts in these rows; None: all."""
        return self._posts if rows is None else [self._posts[row] for row in rows.tolist()]

    def postings(self, stop_words: str) -> Postings:
        """Return the posts' words without these `stop_words` of `lexical_words`."""
        if stop_words not in self._postings:
            arrays = words_of([post.text for post in self._posts], stop_words)
            counts = self._statistics.get(stop_words)
            self._postings[stop_words] = Postings([Segment.of(arrays, None)], stop_words, counts)
        return self._postings[stop_words]

    def article_vectors(self, encoder: Encoder, articles: Sequence[Article]) -> np.ndarray:
        """Return the embeddings of articles: float32, articles × dim."""
        return encoder.article_vectors(articles)

    def similarities(self, encoder: Encoder, vectors: np.ndarray, rows: np.ndarray | None) -> np.ndarray:
        """Return the similarities of posts: float32, vectors × rows; those of equal texts have the same bits."""
        distinct, column = self._distinct
        of_posts = self._embeddings.post_vectors(encoder, distinct)
        # A matrix product may sum equal columns in different orders.
        scores = encoder.similarities(vectors, of_posts)
        if len(distinct) < len(self):
            scores = scores[:, column]
        return scores if rows is None else scores[:, rows]

    def upper_similarities(self, encoder: Encoder, vector: np.ndarray) -> np.ndarray | None:
        """Return None: similarities take little time."""
        return None

    def shortened_vectors(self, encoder: Encoder, text: str) -> np.ndarray:
        """Return the embeddings of a text and of it without each of its content words: float32, texts × dim."""
        return encoder.post_vectors(shortened(text).posts)

    def post_vectors(self, encoder: Encoder) -> np.ndarray:
        """Return the embeddings of all posts: float32, posts × dim."""
        distinct, column = self._distinct
        vectors = self._embeddings.post_vectors(encoder, distinct)
        return vectors if len(distinct) == len(self) else vectors[column]

    @cached_property
    def _distinct(self) -> tuple[list[Post], list[int]]:
        """The first post of each distinct text, and for every post the index of its text among these."""
        index: dict[str, int] = {}
        column = [index.setdefault(post.text, len(index)) for post in self._posts]
        distinct = [Post("", "")] * len(index)
        for row in range(len(self) - 1, -1, -1):
            distinct[column[row]] = self._posts[row]
        return distinct, column


class EmbeddingCache:
    """Embeddings of the texts that were encoded last, at most 256 MiB for each encoder; safe for several threads.

    Those of encoders that can still be trained are not kept: their weights may change.
    """

    def __init__(self) -> None:
        self._kept: dict[int, tuple[Encoder, dict[str, int], np.ndarray]] = {}
        self._lock = threading.Lock()

    def post_vectors(self, encoder: Encoder, posts: Sequence[Post]) -> np.ndarray:
        """Return the embeddings of posts, which are encoded together unless all of them are known: float32, posts × dim.

        Args:
            encoder: embeds them.
            posts: the posts, with different texts.
        """
        with self._lock:
            _, rows, vectors = self._kept.get(id(encoder), (encoder, {}, np.zeros((0, 0), np.float32)))
            found = [rows.get(post.text, -1) for post in posts]
            if posts and -1 not in found:
                # Without a copy if they are the same posts.
                return vectors if found == [*range(len(vectors))] else vectors[found]
            self._kept.pop(id(encoder), None)  # before others take memory
            del vectors
            made = encoder.post_vectors(posts)
            if made.nbytes <= _MOST_BYTES and not encoder.trainable:
                self._kept[id(encoder)] = encoder, {post.text: row for row, post in enumerate(posts)}, made
            return made
