"""What encodes chunks of posts and finds the best rows of a matrix, wherever that is done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linker.corpus.indexes.exact import Query, exact_scores
from linker.data.types import Post
from linker.models.model import Model

if TYPE_CHECKING:
    from linker.corpus.search.top_k import Scored


class Encoded(NamedTuple):
    """A chunk and what became of it.

    Attributes:
        posts: the chunk.
        vectors: `model.post_vectors` of it.
        signed: `signatures` of its texts, where they were made along with the vectors.
    """

    posts: list[Post]
    vectors: np.ndarray | None
    signed: np.ndarray | None = None


class Engine:
    """Does the work in this process.

    What uses one does so in a `with` block; one around it spares others that they begin anew each time.
    """

    def encode(self, model: Model, chunks: Iterable[list[Post]]) -> Iterator[Encoded]:
        """Each chunk and its vectors, in the order of the chunks.

        What making a chunk raises is raised when those before it were given.
        """
        for posts in chunks:
            yield Encoded(posts, model.post_vectors(posts))

    def scored(self, vectors: np.ndarray, query: Query, places: np.ndarray | None) -> Scored:
        """Scores of the rows, or of those at `places` (ascending), among which the best are."""
        scores = self.scores(vectors, query)
        if places is not None:
            scores = scores[places]
        return lambda count: (scores, places)

    def scores(self, vectors: np.ndarray, query: Query) -> np.ndarray:
        """The scores of all rows, as `exact_scores`."""
        return exact_scores(vectors, query)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *error: object) -> None:
        return None


def upper(scores: np.ndarray, count: int) -> np.ndarray:
    """Which of some scores are among the best so many, with all that equal the last of them: int64, ascending."""
    if count >= len(scores):
        return np.arange(len(scores))
    if count < 1:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(scores >= np.partition(scores, len(scores) - count)[len(scores) - count])
