"""The one search: score the posts of a table for a query, filter, group, threshold, cut, explain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from linker.calibration.calibrated_thresholds import CalibratedThresholds
from linker.calibration.labeled_thresholds import LabeledThresholds
from linker.calibration.thresholds import Thresholds
from linker.common.errors import ModelError
from linker.data.languages import among_posts
from linker.data.types import Article
from linker.models.elapsed_time import user_scale, without_dates
from linker.models.features.feature import Feature
from linker.models.features.table import PostTable
from linker.models.model import Model
from linker.ranking.data_frames import Frame
from linker.ranking.query_warnings import language_warning, warn_once
from linker.ranking.ranked_post import AT_ONCE, RankedPosts, UserScores
from linker.ranking.request import RankRequest
from linker.ranking.results import Ranking
from linker.ranking.top_k import Candidates, best, best_of_groups, kth_largest_bound

#: Articles that are scored together: few, because a corpus has many posts.
ARTICLES_AT_ONCE = 8
# Bound on the roundings while bounds are combined, relative to the largest.
_ROUNDING = 2.0**-19
# Of more posts than this share, exact scores of all posts take less time.
_LARGEST_SHARE = 0.1
# Posts that are scored beside the number of best posts and an eighth of it.
_MORE = 16


def search(
    model: Model,
    table: PostTable,
    articles: Sequence[Article],
    request: RankRequest,
    name: str = "model",
    frame: Frame | None = None,
    each: bool = False,
) -> Ranking:
    """Rank the posts of a table for a query, best first; equal scores in descending order of ids.

    Args:
        model, name: the model, and its name.
        table, frame: the posts, and the data frame that they were read from, row by row.
        articles: the query: a post's score is the mean of its scores for the single articles.
        request: the options.
        each: whether the ranking is one of several, whose posts have the id of the article.

    Raises:
        LinkerError: if no threshold is estimated to reach the precision or recall, or labels or the filter do not fit
            the posts.
        ModelError: if the model gives scores that are not finite.
    """
    scores = QueryScores(model, table, articles, request, name)
    thresholds = scores.thresholds(request) if request.has_evidence else None
    warn_once(language_warning(model, articles, table.languages(scores.passing)))
    chosen = None
    if thresholds is not None:
        chosen = thresholds.choose(request.threshold, request.precision, request.recall, request.confident)
    threshold = chosen.score if chosen else request.threshold
    raw = None if threshold is None else float(scores.scale.least_raw(threshold))
    rows, found, copies = scores.best(request, raw)
    explain = None
    if request.explain:
        from linker.ranking.explanation import Explainer

        explain = Explainer(model, table, scores.query, scale=scores.scale)
    cut = slice(request.offset, None)
    user_scores = UserScores(scores.scale, thresholds)
    article_id = articles[0].id if each else None
    of_rows = (rows[cut], found[cut], copies[cut])
    lazy = RankedPosts(table, *of_rows, user_scores, request.offset + 1, explain, article_id)
    posts = lazy[:] if len(lazy) <= AT_ONCE else lazy
    ids = [] if frame is None else table.ids(np.arange(len(table)))
    return Ranking(posts, articles, name, frame, ids, thresholds, chosen, scores.scale)


def mean_scores(model: Model, table: PostTable, articles: Sequence[Article]) -> np.ndarray:
    """Return the mean raw score of every post over the articles, each scored by itself: float32, one per post."""
    total = np.zeros(len(table))
    for start in range(0, len(articles), ARTICLES_AT_ONCE):
        of_articles = model.score_table(table, articles[start : start + ARTICLES_AT_ONCE])
        total += of_articles.sum(axis=0, dtype=np.float64)
    return (total / len(articles)).astype(np.float32)


class QueryScores:
    """Scores of the posts of a table for one query; the request says which are searched, and how articles are scored.

    Attributes:
        query: the articles as they are scored, with or without dates.
        passing: rows of the posts that pass the filter: int64, ascending; None: all.
        scale: the map from raw scores to those that users see.
    """

    def __init__(
        self, model: Model, table: PostTable, articles: Sequence[Article], request: RankRequest, name: str
    ) -> None:
        self._table, self._articles, self._name = table, articles, name
        self.passing = table.passing(request.filter) if request.filter else None
        dated = without_dates(articles) if request.ignore_dates else articles
        languages = table.languages(None)  # not of those that pass: a filter changes no score
        self.query = among_posts(dated, languages)
        self._model = model.suited_to(self.query, languages)
        self.scale = user_scale(model, table, self.query)

    @cached_property
    def all(self) -> np.ndarray:
        """Return the raw scores of all posts: float32."""
        return self._finite(mean_scores(self._model, self._table, self.query))

    def thresholds(self, request: RankRequest) -> Thresholds:
        """Estimate thresholds on the scores of the posts that pass the filter; near-duplicates count one by one.

        Raises:
            LinkerError: if there are no posts, or the labels are of other posts only, or all alike.
        """
        passing = self.all if self.passing is None else self.all[self.passing]
        if request.calibration is not None:
            return CalibratedThresholds(request.calibration, passing, self.scale)
        labels, rows = self._table.labeled(request.labels_of(self._articles))
        if self.passing is not None:
            rows = rows[np.isin(rows, self.passing)]
        found = dict(zip(self._table.ids(rows), self.all[rows].tolist()))
        return LabeledThresholds.by_scores(passing, found, labels, self.scale)

    def best(
        self, request: RankRequest, threshold: float | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rows, int64, raw scores, float32, and numbers of copies, int64, of the best posts, best first.

        They are `offset` + `top` at most, those whose raw score reaches `threshold`.
        """
        table, passing = self._table, self.passing
        count = len(table) if passing is None else len(passing)
        wanted = count if request.top is None else min(count, request.top + request.offset)
        if request.copies:
            rows, scores = best(table.ids, *self.candidates(wanted), wanted, threshold)
            return rows, scores, np.zeros(len(rows), dtype=np.int64)
        groups = table.groups
        rows, scores = best_of_groups(table.ids, groups, table.members, self.candidates, wanted, threshold)
        members = (
            table.members if passing is None else np.bincount(groups[passing], minlength=len(table.members))
        )
        return rows, scores, members[groups[rows]] - 1

    def candidates(self, count: int) -> Candidates:
        """Return the scores of posts that include the best `count` of those that pass the filter, and their rows."""
        searched = len(self._table) if self.passing is None else len(self.passing)
        bounds = None if count > _LARGEST_SHARE * searched or "all" in vars(self) else self._bounds
        if bounds is None:
            return (self.all, None) if self.passing is None else (self.all[self.passing], self.passing)
        return bounds.containing_best(count, self.passing)

    @cached_property
    def _bounds(self) -> ScoreBounds | None:
        if len(self.query) != 1 or not self._model.separable(self.query):
            return None
        upper = {
            feature: bound[None]
            for feature in self._model.features()
            if (bound := feature.upper(self._table, self.query[0])) is not None
        }
        return ScoreBounds(self._model, self._table, self.query, upper) if upper else None

    def _finite(self, scores: np.ndarray) -> np.ndarray:
        if not np.isfinite(scores).all():
            raise ModelError(f"{self._name}: gives scores that are not finite numbers; train it again")
        return scores


class ScoreBounds:
    """Exact scores of the best posts for one article: posts with lower upper bounds are left out (branch and bound).

    The model is `separable`; `upper` are upper bounds of the scores of some features: float32, 1 × posts.
    """

    def __init__(
        self, model: Model, table: PostTable, query: Sequence[Article], upper: Mapping[Feature, np.ndarray]
    ) -> None:
        self._model, self._table, self._query = model, table, query
        rest = [feature for feature in model.features() if feature not in upper]
        self._exact = {feature: feature.scores(table, query) for feature in rest}
        self._upper = model.combine({**self._exact, **upper}, query)[0]
        self._bounded = list(upper)
        self._error = _ROUNDING * max(1.0, float(np.abs(self._upper).max(initial=0)))

    def containing_best(self, count: int, passing: np.ndarray | None) -> Candidates:
        """Return exact scores that include the best `count` of the posts in `passing` (None: all), and their rows."""
        bounds = self._upper if passing is None else self._upper[passing]
        # Bounds exceed scores by little, so that a few more posts usually suffice.
        least = kth_largest_bound(bounds, count + count // 8 + _MORE if count else 0)
        scores, rows = self._reaching(bounds, least, passing)
        last = np.partition(scores, len(scores) - count)[len(scores) - count] if count else np.inf
        if last - self._error < least:
            scores, rows = self._reaching(bounds, last - self._error, passing)
        return scores, rows

    def _reaching(
        self, bounds: np.ndarray, least: float, passing: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the exact scores and the rows of the posts whose bounds reach `least`."""
        chosen = np.flatnonzero(bounds >= least)
        rows = chosen if passing is None else passing[chosen]
        scores = {feature: of_all[:, rows] for feature, of_all in self._exact.items()}
        for feature in self._bounded:
            scores[feature] = feature.scores(self._table, self._query, rows)
        return self._model.combine(scores, self._query)[0], rows
