"""Posts of a corpus with their scores for one query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial

import numpy as np

from linker.calibration.calibrated_thresholds import CalibratedThresholds
from linker.calibration.labeled_thresholds import LabeledThresholds
from linker.calibration.thresholds import Thresholds
from linker.corpus.search.explanation import CorpusStatistics, shares_of, shares_of_one
from linker.corpus.search.filters import Filter
from linker.corpus.search.filters import places as places_of
from linker.corpus.search.fusion import Fusion
from linker.corpus.search.open_posts import OpenPosts
from linker.corpus.search.parts import PartsQuery, pieces_of
from linker.corpus.search.pruning import PrunedQuery
from linker.corpus.search.results import Ranking as StoredRanking
from linker.corpus.search.top_k import Scored, best, best_of_groups, others
from linker.data.types import Article, Post
from linker.models.elapsed_time import without_dates
from linker.ranking.explanation import Explanation
from linker.ranking.explanation import explain as explanations
from linker.ranking.ranked_post import UserScores
from linker.ranking.request import RankRequest
from linker.ranking.shares import compared
from linker.ranking.shares import shares as shares_at


class CorpusScores:
    """The posts of a corpus with their scores for one query."""

    def __init__(
        self,
        posts: OpenPosts,
        name: str,
        articles: Sequence[Article],
        request: RankRequest,
        fusion: Fusion,
    ) -> None:
        self.name, self.articles = name, articles
        self._query = without_dates(articles) if request.ignore_dates else articles
        self._posts, self._passages = posts, request.passages
        self._fusion = fusion
        self.scale = posts.scale(self._query, fusion)
        self._places = places_of(request.filter, posts.dataset) if request.filter else None
        pieces, self._starts = pieces_of(self._query, request.passages)
        self._parts_query = PartsQuery(posts.parts, pieces, posts.engine)
        self._scores: np.ndarray | None = None  # computed for thresholds

    def best(self, request: RankRequest, threshold: float | None, user_scores: UserScores) -> StoredRanking:
        """Return the posts that meet the request and reach the raw threshold, best first; read when accessed."""
        opened, places = self._posts, self._places
        count = len(opened) if places is None else len(places)
        wanted = count if request.top is None else request.top + request.offset
        with opened.engine:
            scored = self._scored()
            if request.copies:
                at, found = best(opened.rows, *scored(wanted), wanted, threshold)
                more = np.zeros(len(at), dtype=np.int64)
            else:
                groups = opened.groups
                shared = opened.posts_per_group
                at, found = best_of_groups(opened.rows, groups, scored, wanted, shared, threshold)
                more = opened.members[groups[at]] - 1 if places is None else others(groups, at, places)
        start = request.offset
        statistics = CorpusStatistics(opened.parts, self._query)

        def explained(posts: Sequence[Post]) -> Sequence[Explanation] | None:
            return explanations(opened.model, self.articles, posts, range(len(posts)), statistics)

        def shares(rows: np.ndarray) -> Sequence[Mapping[str, int]]:
            rest = compared(len(opened))
            if not self._prunes:
                return shares_at(self._score_parts, rows.tolist(), rest)
            places, at = np.unique(np.concatenate([rows, rest]), return_inverse=True)
            with opened.engine:
                found = shares_of_one(opened.parts, self._parts_query, places)
            return shares_at(found, at[: len(rows)].tolist(), at[len(rows) :])

        return StoredRanking(
            opened.rows,
            at[start:],
            found[start:],
            more[start:],
            user_scores,
            start + 1,
            explained if request.explain else None,
            shares,
        )

    def sample(self) -> list[Post]:
        """Return the texts and languages of some of the posts that meet the request, evenly spaced."""
        return self._posts.sample if self._places is None else self._posts.sample_of(self._places)

    @cached_property
    def _score_parts(self) -> dict[str, np.ndarray]:
        scores = self._all_scores("none")
        with self._posts.engine:
            return shares_of(self._posts.parts, self._parts_query, scores, self._fusion)

    @cached_property
    def _prunes(self) -> bool:
        return self._posts.can_prune(self._query, self._passages, self._fusion)

    def _all_scores(self, fusion: Fusion) -> np.ndarray:
        return self._posts.scores(self._parts_query, self._starts, self._query, self._passages, fusion)

    def thresholds(self, request: RankRequest) -> Thresholds:
        """Estimate thresholds on the scores of all posts that pass the filter."""
        opened, places = self._posts, self._places
        self._scores = scores = self._all_scores(self._fusion)
        passing = scores if places is None else scores[places]
        if request.calibration is not None:
            return CalibratedThresholds(request.calibration, passing, self.scale)
        given = request.labels_of(self.articles)
        ids = ", ".join("'" + i.replace("'", "''") + "'" for i in given.ids)
        labeled = places_of(Filter(where=f"id IN ({ids})"), opened.dataset) if ids else np.arange(0)
        assert labeled is not None  # there is a condition
        labels = given.among_ids(set(opened.ids(labeled)))
        if places is not None:
            labeled = labeled[np.isin(labeled, places)]
        found = dict(zip(opened.ids(labeled), scores[labeled].tolist()))
        return LabeledThresholds.by_scores(passing, found, labels, self.scale)

    def _scored(self) -> Scored:
        opened, places = self._posts, self._places
        if self._scores is None:
            if self._prunes:
                return partial(PrunedQuery(opened.parts, self._parts_query).scored, places)
            if self._fusion == "none" and opened.parts.plain:
                query = opened.query(self._query, self._passages)
                return opened.engine.scored(opened.vectors(), query, places)
        all_scores = self._all_scores(self._fusion) if self._scores is None else self._scores
        scores = all_scores if places is None else all_scores[places]
        return lambda count: (scores, places)
