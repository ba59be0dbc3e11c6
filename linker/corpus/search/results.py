"""A ranking whose posts are read when they are accessed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from linker.common.stats import shortest_float
from linker.corpus.storage.reader import post_from, rows_at
from linker.data.types import Post
from linker.ranking.explanation import Explanation
from linker.ranking.ranked_post import RankedPost, ReadInParts

if TYPE_CHECKING:
    import lance

_COLUMNS = ["id", "text", "created_at", "lang", "extra"]


class Ranking(ReadInParts):
    """Ranked posts, best first, that are read from the store when they are accessed.

    Args:
        dataset: the posts.
        places: their rows in the store, best first.
        scores: their scores.
        copies: number of near-duplicates that each represents.
        first: rank of the first post.
        explain: function that explains posts; None: no explanations.
    """

    def __init__(
        self,
        dataset: lance.LanceDataset,
        places: np.ndarray,
        scores: np.ndarray,
        copies: np.ndarray,
        first: int = 1,
        explain: Callable[[Sequence[Post]], Sequence[Explanation] | None] | None = None,
    ) -> None:
        self._dataset = dataset
        self._places, self._scores, self._copies = places, scores, copies
        self._first, self._explain = first, explain

    def __len__(self) -> int:
        return len(self._places)

    def _read(self, part: slice) -> list[RankedPost]:
        which = np.arange(len(self))[part]
        if not len(which):
            return []
        rows = rows_at(self._dataset, self._places[which], _COLUMNS).to_pylist()
        posts = [post_from(row) for row in rows]
        marks = self._explain(posts) if self._explain else None
        return [
            # The fewest digits that give the same float32 again.
            RankedPost(
                self._first + i,
                shortest_float(self._scores[i]),
                post,
                marks[n] if marks else None,
                int(self._copies[i]),
            )
            for n, (i, post) in enumerate(zip(which.tolist(), posts))
        ]
