"""A ranking whose posts are read when they are accessed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from linker.corpus.storage.reader import OF_POSTS, posts_from
from linker.corpus.storage.rows import Rows
from linker.data.types import Post
from linker.ranking.explanation import Explanation, with_shares
from linker.ranking.ranked_post import RankedPost, ReadInParts, UserScores


class Ranking(ReadInParts):
    """Ranked posts, best first, that are read from the store when they are accessed.

    Args:
        rows: the posts.
        places: their rows in the store, best first.
        scores: their raw scores.
        copies: number of near-duplicates that each represents.
        user_scores: the map from raw scores to those of ranked posts.
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
        user_scores: UserScores,
        first: int = 1,
        explain: Callable[[Sequence[Post]], Sequence[Explanation] | None] | None = None,
        shares: Callable[[np.ndarray], Sequence[Mapping[str, int]]] | None = None,
    ) -> None:
        self._rows = rows
        self._places, self._scores, self._copies, self._user_scores = places, scores, copies, user_scores
        self._first, self._explain, self._shares = first, explain, shares

    def __len__(self) -> int:
        return len(self._places)

    def _read(self, part: slice) -> list[RankedPost]:
        places, copies = self._places[part], self._copies[part].tolist()
        if not len(places):
            return []
        posts = posts_from(self._rows.at(places, OF_POSTS))
        explanations = self._explain(posts) if self._explain else None
        if explanations is not None and self._shares is not None:
            explanations = with_shares(explanations, self._shares(places))
        marks: Sequence[Explanation | None] = explanations or [None] * len(posts)
        ranks = range(self._first, self._first + len(self))[part]
        scores = self._user_scores(self._scores[part])
        return [
            RankedPost(rank, score, post, mark, more, probability)
            for rank, (score, probability), post, mark, more in zip(ranks, scores, posts, marks, copies)
        ]
