"""A list of posts with what models read of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

import numpy as np
from typing_extensions import override

from linker.data.labels.post_labels import LabelFile
from linker.data.labels.records import SampledLabels
from linker.data.near_duplicates import SIGNATURE, linked_groups, signatures
from linker.data.post_filter import Filter
from linker.data.types import Post
from linker.models.features.post_times import PostTimes
from linker.models.features.postings import Segment, postings_of
from linker.models.features.table import PostTable
from linker.models.features.text_encoder import TextEncoder
from linker.models.features.word_statistics import WordStatistics

#: Posts whose texts are in memory at a time: as many as 16 bits count, so that postings are small.
_BLOCK = 1 << 16


class MemoryTable(PostTable):
    """A list of posts as a table.

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
        super().__init__(statistics)
        self._posts = posts
        self._embeddings = EmbeddingCache() if embeddings is None else embeddings
        self._last: tuple[object, np.ndarray] = (None, np.zeros(0))

    @override
    def __len__(self) -> int:
        return len(self._posts)

    @cached_property
    def times(self) -> PostTimes:
        """Return when the posts were created."""
        return PostTimes.of(self._posts)

    @override
    def posts(self, rows: np.ndarray | None = None) -> Sequence[Post]:
        return self._posts if rows is None else [self._posts[row] for row in rows.tolist()]

    @override
    def ids(self, rows: np.ndarray) -> list[str]:
        return [self._posts[row].id for row in rows.tolist()]

    @cached_property
    def groups(self) -> np.ndarray:
        """Return the group of near-duplicates of each post, as in a corpus: int64."""
        signed = np.empty((len(self), SIGNATURE), dtype=np.uint32)
        for start, texts in self._texts():
            signed[start : start + len(texts)] = signatures(texts)
        return linked_groups(signed)

    @override
    def passing(self, conditions: Filter) -> np.ndarray | None:
        return conditions.passing(self._posts)

    @override
    def labeled(self, labels: LabelFile) -> tuple[SampledLabels, np.ndarray]:
        found = labels.among(self._posts)
        return found, np.flatnonzero([post.id in found for post in self._posts])

    @override
    def sample(self, rows: np.ndarray | None) -> Sequence[Post]:
        return self.posts(rows)

    @override
    def segments(self, stop_words: str) -> Sequence[Segment]:
        return [Segment.of(postings_of(texts, stop_words), None) for _, texts in self._texts()]

    def _texts(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the texts of the posts in blocks, each with its first row."""
        texts = (post.text for post in self._posts)
        for start in range(0, len(self), _BLOCK):
            yield start, list(islice(texts, _BLOCK))

    @override
    def similarities(self, encoder: TextEncoder, vectors: np.ndarray, rows: np.ndarray | None) -> np.ndarray:
        """Return the similarities of posts: float32, vectors × posts; those of equal texts have the same bits."""
        asked, (last, scores) = (encoder, vectors.tobytes()), self._last
        if last != asked:  # `FirstPosts` asks again
            distinct, column = self._distinct
            # A matrix product may sum equal columns in different orders.
            scores = encoder.similarities(vectors, self._embeddings.post_vectors(encoder, distinct))
            scores = scores if len(distinct) == len(self) else scores[:, column]
            self._last = asked, scores
        return scores if rows is None else scores[:, rows]

    def post_vectors(self, encoder: TextEncoder) -> np.ndarray:
        """Return the embeddings of all posts: float32, posts × dim."""
        distinct, column = self._distinct
        vectors = self._embeddings.post_vectors(encoder, distinct)
        return vectors if len(distinct) == len(self) else vectors[column]

    @cached_property
    def _distinct(self) -> tuple[list[Post], list[int]]:
        """Return a post with each distinct text, and for every post the index of its text among these."""
        index: dict[str, int] = {}
        column = [index.setdefault(post.text, len(index)) for post in self._posts]
        return [Post("", text) for text in index], column


class EmbeddingCache:
    """Embeddings of the texts that were encoded last; safe for several threads.

    Those of encoders that can still be trained are not kept: their weights may change.

    Args:
        most_bytes: those of each encoder that take more are not kept either.
    """

    def __init__(self, most_bytes: int = 256 << 20) -> None:
        self._most_bytes = most_bytes
        self._kept: dict[int, tuple[TextEncoder, dict[str, int], np.ndarray]] = {}
        self._lock = threading.Lock()

    def post_vectors(self, encoder: TextEncoder, posts: Sequence[Post]) -> np.ndarray:
        """Return the embeddings of posts, encoded together unless all of them are known: float32, posts × dim.

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
            if made.nbytes <= self._most_bytes and not encoder.trainable:
                self._kept[id(encoder)] = encoder, {post.text: row for row, post in enumerate(posts)}, made
            return made
