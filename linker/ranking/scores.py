"""Posts in memory with their scores for one query."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from linker.calibration.calibrated_thresholds import CalibratedThresholds
from linker.calibration.labeled_thresholds import LabeledThresholds
from linker.data.near_duplicates import linked_groups, signatures
from linker.models.order import rank_posts
from linker.ranking.ranked_post import RankedPost, UserScores

if TYPE_CHECKING:
    from linker.calibration.thresholds import Thresholds
    from linker.data.post_filter import Filter
    from linker.data.types import Article, Post
    from linker.models.model import Model
    from linker.models.score_scale import ScoreScale
    from linker.ranking.request import RankRequest


class ScoredPosts:
    """Posts in memory with their scores for one query.

    Args:
        model: the model that scored them; it explains the scores.
        name: the model's name.
        articles: the query.
        posts: the posts.
        scores: raw scores, float32, one per post.
        scale: the map from raw scores to those that users see.
        query: the articles as they were scored, with or without dates; None: `articles`.
    """

    def __init__(
        self,
        model: Model,
        name: str,
        articles: Sequence[Article],
        posts: Sequence[Post],
        scores: np.ndarray,
        scale: ScoreScale,
        query: Sequence[Article] | None = None,
    ) -> None:
        self._model, self._posts, self._scores = model, posts, scores
        self.name, self.articles, self.scale = name, articles, scale
        self._query = articles if query is None else query

    def best(
        self, request: RankRequest, threshold: float | None, user_scores: UserScores
    ) -> Sequence[RankedPost]:
        """Return the posts that meet the request and reach the raw threshold, best first.

        Raises:
            DataError: if the filter names a field that no post has.
        """
        passing = self._passing(request.filter)
        at = self._order if passing is None else self._order[np.isin(self._order, passing)]
        more = np.zeros(len(self._posts), dtype=np.int64)
        if not request.copies and len(at):
            groups = self._groups[at]
            _, first, members, counts = np.unique(
                groups, return_index=True, return_inverse=True, return_counts=True
            )
            more[at] = counts[members] - 1
            at = at[np.sort(first)]
        if threshold is not None:
            at = at[self._scores[at] >= threshold]
        first_rank = request.offset + 1
        end = None if request.top is None else request.offset + request.top
        chosen = [int(i) for i in at[request.offset : end]]
        explanations = None
        if request.explain:
            from linker.ranking.explanation import explain, with_shares

            explanations = explain(self._model, self.articles, self._posts, chosen)
            if explanations is not None:
                explanations = with_shares(explanations, self._shares(chosen))
        return [
            RankedPost(
                first_rank + n,
                score,
                self._posts[i],
                explanations[n] if explanations else None,
                int(more[i]),
                probability,
            )
            for n, (i, (score, probability)) in enumerate(zip(chosen, user_scores(self._scores[chosen])))
        ]

    def thresholds(self, request: RankRequest) -> Thresholds:
        """Estimate thresholds on the scores of all posts that pass the filter; near-duplicates count one by one.

        Raises:
            LinkerError: if there are no posts, or the labels are of other posts only, or all alike.
        """
        passing = self._passing(request.filter)
        at = np.arange(len(self._posts)) if passing is None else passing
        scores = self._scores[at]
        if request.calibration is not None:
            return CalibratedThresholds(request.calibration, scores, self.scale)
        labels = request.labels_of(self.articles).among(self._posts)
        of_labeled = {
            post_id: float(score)
            for i, score in zip(at, scores)
            if (post_id := self._posts[int(i)].id) in labels
        }
        return LabeledThresholds.by_scores(scores, of_labeled, labels, self.scale)

    def _shares(self, chosen: Sequence[int]) -> list[dict[str, int]]:
        from linker.ranking.shares import compared, parts_of, shares

        def scores_of(part: Model) -> np.ndarray:
            return part.score_independently(self._query, self._posts)

        parts = parts_of(self._model, self._query, self._scores, scores_of)
        return shares(parts, chosen, compared(len(self._scores)))

    def _passing(self, filter: Filter | None) -> np.ndarray | None:
        return None if filter is None else filter.passing(self._posts)

    @cached_property
    def _order(self) -> np.ndarray:
        """Indices of the posts, best first; equal scores in descending order of ids."""
        return np.asarray(rank_posts(self._scores[None], [post.id for post in self._posts])[0])

    @cached_property
    def _groups(self) -> np.ndarray:
        """The group of near-duplicates of each post, as in a corpus."""
        return linked_groups(signatures([post.text for post in self._posts]))
