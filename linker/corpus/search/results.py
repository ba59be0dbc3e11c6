"""A ranking whose posts are read when they are accessed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from linker.corpus.storage.reader import COLUMNS, posts_from
from linker.corpus.storage.rows import Rows
from linker.data.types import Post
from linker.ranking.explanation import Explanation, with_shares
from linker.ranking.ranked_post import RankedPost, ReadInParts


class Ranking(ReadInParts):
    """Ranked posts, best first, that are read from the store when they are accessed.

    Args:
        rows: the posts.
        places: their rows in the store, best first.
        scores: their raw scores.
        copies: number of near-duplicates that each represents.
        first: rank of the first post.
        explain: function that explains posts; None: no explanations.
        shares: function that returns the shares of the scores of the posts in these rows of the store.
    """

    def __init__(
        self,
        rows: Rows,
        places: np.ndarray,
        scores: np.ndarray,
        copies: np.ndarray,
        first: int = 1,
        explain: Callable[[Sequence[Post]], Sequence[Explanation] | None] | None = None,
        shares: Callable[[np.ndarray], Sequence[Mapping[str, int]]] | None = None,
    ) -> None:
        self._rows = rows
        self._places, self._scores, self._copies = places, scores, copies
        self._first, self._explain, self._shares = first, explain, shares

    def __len__(self) -> int:
        return len(self._places)

    def _read(self, part: slice) -> list[RankedPost]:
        which = np.arange(len(self))[part]
        if not len(which):
            return []
        posts = posts_from(self._rows.at(self._places[which], COLUMNS))
        marks = self._explain(posts) if self._explain else None
        if marks is not None and self._shares is not None:
            marks = with_shares(marks, self._shares(self._places[which]))
        return [
            RankedPost(
                self._first + i,
                float(self._scores[i]),
                post,
                marks[n] if marks else None,
                int(self._copies[i]),
            )
            for n, (i, post) in enumerate(zip(which.tolist(), posts))
        ]
