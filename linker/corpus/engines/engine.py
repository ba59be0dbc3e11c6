"""Engines encode chunks of posts and find the best rows of a matrix: in this process or elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linker.corpus.encoding import encoded
from linker.corpus.indexes.exact import Query, exact_scores
from linker.corpus.indexes.vectors import ShardVectors
from linker.data.types import Post
from linker.models.model import Model

if TYPE_CHECKING:
    from linker.corpus.search.top_k import Scored


class Encoded(NamedTuple):
    """An encoded chunk of posts.

    Attributes:
        posts: the chunk.
        files: the arrays that a corpus stores of them, see `encoded`.
    """

    posts: list[Post]
    files: Mapping[str, Mapping[str, np.ndarray]]


class Engine:
    """Engine that works in this process.

    An engine is used in a `with` block. Blocks can be nested: only the outermost one starts and stops it.
    """

    def encode(self, model: Model, chunks: Iterable[list[Post]]) -> Iterator[Encoded]:
        """Yield each chunk with its arrays, in order.

        An error of `chunks` is raised after all chunks before it were yielded.
        """
        for posts in chunks:
            yield Encoded(posts, encoded(model, posts))

    def scored(self, vectors: Sequence[ShardVectors], query: Query, places: np.ndarray | None) -> Scored:
        """Return a function from a number n to scores that include the n best rows (of `places`, ascending, if given).

        Args:
            vectors: the embeddings.
            query: the query.
            places: int64, ascending: rows to search; None: all.
        """
        scores = self.scores(vectors, query)
        if places is not None:
            scores = scores[places]
        return lambda count: (scores, places)

    def scores(self, vectors: Sequence[ShardVectors], query: Query) -> np.ndarray:
        """Return the scores of all posts: float32; see `exact_scores`."""
        return exact_scores(vectors, query)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *error: object) -> None:
        return None


def upper(scores: np.ndarray, count: int) -> np.ndarray:
    """Return the indices of the `count` best scores, and of all scores equal to the last of them: int64, ascending."""
    if count >= len(scores):
        return np.arange(len(scores))
    if count < 1:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(scores >= np.partition(scores, len(scores) - count)[len(scores) - count])
