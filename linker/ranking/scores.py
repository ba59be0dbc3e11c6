"""Posts in memory with their scores: which are shown, in what order, and how many near-duplicates each stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from linker.calibration.calibrated_thresholds import CalibratedThresholds
from linker.calibration.calibration import Calibration
from linker.calibration.labeled_thresholds import LabelledThresholds
from linker.calibration.thresholds import Thresholds
from linker.common.errors import DataError
from linker.data.near_duplicates import linked_groups, signatures
from linker.data.post_filter import Filter
from linker.data.types import Article, Post
from linker.models.model import Model
from linker.models.order import rank_posts
from linker.ranking.ranked_post import RankedPost, ReadInParts

if TYPE_CHECKING:
    from linker.models.passage_pooling import Passages
    from linker.ranking.explanation import Explanation


def thresholds_of(
    scores: np.ndarray,
    ids: Sequence[str],
    evidence: Mapping[str, bool] | Calibration,
    passages: Passages = "whole",
) -> Thresholds:
    """Thresholds on a pile, by labels of its posts or by a calibration.

    Args:
        scores: of all posts of the pile.
        ids: theirs.
        evidence: id → is it relevant, of some of them; or what other articles and posts taught.
        passages: how articles were read.

    Raises:
        LinkerError: no posts; labels of other posts only, or of one kind; a calibration with other passages.
    """
    if isinstance(evidence, Calibration):
        evidence.check(passages=passages)
        return CalibratedThresholds(evidence, scores)
    return LabelledThresholds.of(scores, ids, evidence)


def with_probabilities(ranking: Sequence[RankedPost], thresholds: Thresholds) -> Sequence[RankedPost]:
    """A ranking whose posts know how probable it is that they are relevant; read only as far as it is gone through."""
    return _WithProbabilities(ranking, thresholds)


class _WithProbabilities(ReadInParts):
    def __init__(self, ranking: Sequence[RankedPost], thresholds: Thresholds) -> None:
        self._ranking, self._thresholds = ranking, thresholds

    def __len__(self) -> int:
        return len(self._ranking)

    def _read(self, part: slice) -> list[RankedPost]:
        posts = self._ranking[part]
        if not posts:
            return []
        probabilities = self._thresholds.probabilities(np.array([ranked.score for ranked in posts]))
        return [
            replace(ranked, probability=float(probability))
            for ranked, probability in zip(posts, probabilities)
        ]


class ScoredPosts:
    """The posts of one pile with their scores for one query.

    Args:
        model: what scored them; it explains the scores.
        articles: the query.
        posts: the pile.
        scores: float32, one per post.
    """

    def __init__(
        self, model: Model, articles: Sequence[Article], posts: Sequence[Post], scores: np.ndarray
    ) -> None:
        self._model, self._articles, self._posts, self._scores = model, articles, posts, scores

    def ranking(
        self,
        top: int | None = None,
        threshold: float | None = None,
        explain: bool = False,
        offset: int = 0,
        filter: Filter | None = None,
        copies: bool = False,
    ) -> list[RankedPost]:
        """The posts, best first; see `Linker.rank`.

        Raises:
            DataError: a condition that posts cannot be asked; see `Filter.passing`.
        """
        if offset < 0:
            raise DataError(f"offset {offset}: give 0 or more")
        passing = None if filter is None else filter.passing(self._posts)
        at = self._order if passing is None else self._order[np.isin(self._order, passing)]
        more = np.zeros(len(self._posts), dtype=np.int64)
        if not copies and len(at):
            groups = self._groups[at]
            _, first, members, counts = np.unique(
                groups, return_index=True, return_inverse=True, return_counts=True
            )
            more[at] = counts[members] - 1
            at = at[np.sort(first)]
        if threshold is not None:
            at = at[self._scores[at] >= threshold]
        chosen = [int(i) for i in at[offset : None if top is None else offset + top]]
        told = self._explained(chosen) if explain else None
        return [
            RankedPost(
                offset + n + 1,
                float(str(self._scores[i])),  # the fewest digits that give the same float32 again
                self._posts[i],
                told[n] if told else None,
                int(more[i]),
            )
            for n, i in enumerate(chosen)
        ]

    def _explained(self, chosen: Sequence[int]) -> Sequence[Explanation] | None:
        from linker.ranking.explanation import explain

        return explain(self._model, self._articles, self._posts, chosen)

    def thresholds(
        self,
        evidence: Mapping[str, bool] | Calibration,
        passages: Passages = "whole",
        filter: Filter | None = None,
    ) -> Thresholds:
        """What thresholds on the scores of all posts that pass keep and find; near-duplicates count one by one.

        Raises:
            LinkerError: as `Linker.thresholds`; or a condition that posts cannot be asked.
        """
        from linker.ranking.scores import thresholds_of

        passing = None if filter is None else filter.passing(self._posts)
        places = range(len(self._posts)) if passing is None else passing.tolist()
        scores = self._scores if passing is None else self._scores[passing]
        return thresholds_of(scores, [self._posts[i].id for i in places], evidence, passages)

    @cached_property
    def _order(self) -> np.ndarray:
        """Places, best first; equal scores in descending order of ids."""
        return np.asarray(rank_posts(self._scores[None], [post.id for post in self._posts])[0])

    @cached_property
    def _groups(self) -> np.ndarray:
        """The group of near-duplicates of each post, as in a corpus."""
        return linked_groups(signatures([post.text for post in self._posts]))
