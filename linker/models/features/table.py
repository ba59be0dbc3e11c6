"""Tables of posts: what features read of posts, and what a search needs of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property

import numpy as np
from typing_extensions import Self

from linker.data.labels.post_labels import LabelFile
from linker.data.labels.records import SampledLabels
from linker.data.languages import languages_of
from linker.data.post_filter import Filter
from linker.data.types import Article, Post
from linker.models.features.content_words import shortened
from linker.models.features.post_times import PostTimes
from linker.models.features.postings import Postings, Segment
from linker.models.features.text_encoder import TextEncoder
from linker.models.features.word_statistics import WordStatistics


class PostTable(ABC):
    """Posts with what features read of them: a list (`MemoryTable`), or a corpus on disk (`CorpusTable`).

    Rows are indices of posts: int64.

    Args:
        statistics: counts of words in other posts to score with, by stop words; others are counted in the table.
    """

    def __init__(self, statistics: Mapping[str, WordStatistics] | None = None) -> None:
        self._statistics, self._postings = statistics or {}, dict[str, Postings]()
        self._languages: Counter[str] | None = None

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of posts."""

    @property
    @abstractmethod
    def times(self) -> PostTimes:
        """Return when the posts were created."""

    @abstractmethod
    def posts(self, rows: np.ndarray | None = None) -> Sequence[Post]:
        """Return the posts in these rows; None: all."""

    @abstractmethod
    def ids(self, rows: np.ndarray) -> list[str]:
        """Return the ids of the posts in these rows."""

    @property
    @abstractmethod
    def groups(self) -> np.ndarray:
        """Return the group of near-duplicates of each post: int64."""

    @cached_property
    def members(self) -> np.ndarray:
        """Return the number of posts of each group, 0 for other numbers: int64."""
        return np.bincount(self.groups)

    @abstractmethod
    def passing(self, conditions: Filter) -> np.ndarray | None:
        """Return the rows of the posts that pass, ascending; None if there are no conditions.

        Raises:
            DataError: if no post has a field in question, or an SQL condition is invalid or not supported.
        """

    @abstractmethod
    def labeled(self, labels: LabelFile) -> tuple[SampledLabels, np.ndarray]:
        """Return whether posts are relevant, by id, and the rows of the labeled posts, ascending.

        Raises:
            DataError: if no label belongs to a post.
        """

    @abstractmethod
    def sample(self, rows: np.ndarray | None) -> Sequence[Post]:
        """Return at least every few of the posts in these rows (None: all), with text and language."""

    @abstractmethod
    def segments(self, stop_words: str) -> Sequence[Segment]:
        """Return the words of the posts without these `stop_words` of `lexical_words`."""

    @abstractmethod
    def similarities(self, encoder: TextEncoder, vectors: np.ndarray, rows: np.ndarray | None) -> np.ndarray:
        """Return the similarities of posts, all or those in ascending rows: float32, vectors × posts."""

    def upper_similarities(self, encoder: TextEncoder, vector: np.ndarray) -> np.ndarray | None:
        """Return upper bounds of the similarities of all posts: float32; None if exact ones take as long."""
        return None

    def article_vectors(self, encoder: TextEncoder, articles: Sequence[Article]) -> np.ndarray:
        """Return the embeddings of articles: float32, articles × dim."""
        return encoder.article_vectors(articles)

    def shortened_vectors(self, encoder: TextEncoder, text: str) -> np.ndarray:
        """Return the embeddings of a text and of it without each of its content words: float32, texts × dim."""
        return encoder.post_vectors(shortened(text).posts)

    def postings(self, stop_words: str) -> Postings:
        """Return the posts of each word, without these `stop_words` of `lexical_words`."""
        if stop_words not in self._postings:
            counts = self._statistics.get(stop_words)
            self._postings[stop_words] = Postings(self.segments(stop_words), stop_words, counts)
        return self._postings[stop_words]

    def counted_by(self, statistics: Mapping[str, WordStatistics]) -> Self:
        """Return the same posts, scored with counts of words in other posts."""
        other = copy(self)
        other._statistics = statistics
        other._postings = {name: own for name, own in self._postings.items() if name not in statistics}
        return other

    def languages(self, rows: np.ndarray | None) -> Counter[str]:
        """Count the languages of up to 300 of the posts in these rows, evenly spaced; see `languages_of`."""
        if rows is not None:
            return languages_of(self.sample(rows))
        if self._languages is None:
            self._languages = languages_of(self.sample(None))
        return self._languages
