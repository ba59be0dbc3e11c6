"""Exact top-k search with score upper bounds (branch and bound)."""

from __future__ import annotations

import numpy as np

from linker.corpus.indexes.estimates import can_estimate, estimated_scores
from linker.corpus.search.parts import Parts, PartsQuery, composed, is_embedded
from linker.models.article_softmax import ArticleSoftmaxModel
from linker.models.bundled_word_vectors import BundledWordVectorsModel
from linker.models.ensemble import EnsembleModel
from linker.models.model import Model

# Bound on the roundings while bounds are put together, relative to the largest.
_ROUNDING = 2.0**-19
# Of more posts than this share, exact scores of all posts take less time.
_LARGEST_SHARE = 0.1
# Posts of a group, at most, and groups per number that is asked for, at least; see `low`.
_GROUP, _GROUPS = 64, 4
# Posts that are scored beside the number of best posts and an eighth of it.
_MORE = 16


class PrunedQuery:
    """Scores of the best posts for one article, bit for bit those of `PartsQuery`; see decision 197.

    Upper bounds of the scores of all posts come from estimates of the products of embeddings and, for the compression
    of `article_softmax`, from its asymptotes. Posts whose bound is lower than the exact score of enough others are left
    out.

    Args:
        parts: the parts of the model.
        query: a single article.
    """

    def __init__(self, parts: Parts, query: PartsQuery) -> None:
        self._parts, self._query = parts, query
        (self._article,) = query.articles
        self._bounds: np.ndarray | None = None
        self._error = 0.0

    @staticmethod
    def supports(model: Model) -> bool:
        """Return whether a model's score of a post depends on that post's scores by the parts alone."""
        if isinstance(model, EnsembleModel):
            return model.fusion == "sum" and all(map(PrunedQuery.supports, model.submodels()))
        return not isinstance(model, ArticleSoftmaxModel) or PrunedQuery.supports(model.model)

    def scored(self, places: np.ndarray | None, count: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Return scores that include the best posts, and their indices; see `top_k.Scored`.

        Args:
            places: int64, ascending: posts to search; None: all.
            count: number of best posts.
        """
        if count > _LARGEST_SHARE * (self._parts.posts if places is None else len(places)):
            scores = self._query.scores(0)
            return (scores if places is None else scores[places]), places
        if self._bounds is None:
            self._bounds = self._bounds_of(self._parts.model)
            self._error += _ROUNDING * max(1.0, float(np.abs(self._bounds).max(initial=0)))
        bounds = self._bounds if places is None else self._bounds[places]
        # Bounds exceed scores by little, so that a few more posts usually suffice.
        least = low(bounds, count + count // 8 + _MORE if count else 0)
        at, scores = self._exact_from(bounds, least, places)
        last = np.partition(scores, len(scores) - count)[len(scores) - count] if count else np.inf
        if last - self._error < least:
            at, scores = self._exact_from(bounds, last - self._error, places)
        return scores, at

    def _exact_from(
        self, bounds: np.ndarray, least: float, places: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices and the exact scores of the posts whose bounds reach `least`."""
        chosen = np.flatnonzero(bounds >= least)
        at = chosen if places is None else places[chosen]
        return at, self._exact_at(at)

    def _bounds_of(self, model: Model) -> np.ndarray:
        """Return upper bounds of a model's scores less `_error`, to which the error of the estimates is added."""
        if isinstance(model, ArticleSoftmaxModel):
            scores = self._bounds_of(model.model)
            largest = (float(np.abs(scores).max(initial=0)) + abs(model.null_score)) / model.temperature
            self._error = self._error / model.temperature + _ROUNDING * largest
            bounds = model.bounds_against_none(scores)
            if model.time is not None:
                bounds += self._of_leaf(model.time)
            return bounds
        if isinstance(model, EnsembleModel):
            total, error = np.zeros(self._parts.posts, dtype=np.float32), 0.0
            for part, weight in zip(model.submodels(), model.weights_for([self._article])[0]):
                self._error = 0.0
                # Bounds of what is subtracted would be too high.
                of_part = (
                    self._bounds_of(part) if weight >= 0 else composed(part, self._article, self._of_leaf)
                )
                total += of_part * np.float32(weight)
                error += abs(weight) * self._error
            self._error = error
            return total
        part = model.vectors if isinstance(model, BundledWordVectorsModel) else model
        if is_embedded(part):
            vectors, query = self._parts.vectors(part), self._query.query_of(part, 0)
            if can_estimate(vectors, query):
                estimate = estimated_scores(vectors, query)
                self._error = estimate.error
                return estimate.scores
        return self._of_leaf(part)

    def _of_leaf(self, part: Model) -> np.ndarray:
        return self._query.scores_of_leaf(part, 0)

    def _exact_at(self, places: np.ndarray) -> np.ndarray:
        return self._query.scores_at(self._parts.model, places)


def low(numbers: np.ndarray, count: int) -> float:
    """Return a number that at least `count` of the numbers reach, and not many more: the maxima of groups are fewer.

    Of fewer numbers than `count`, all reach it.
    """
    size = min(max(len(numbers) // (_GROUPS * max(count, 1)), 1), _GROUP)
    whole = len(numbers) // size * size
    highest = np.concatenate([numbers[:whole].reshape(size, -1).max(axis=0), numbers[whole:]])
    count = min(count, len(highest))
    return float(np.partition(highest, len(highest) - count)[len(highest) - count]) if count else np.inf
