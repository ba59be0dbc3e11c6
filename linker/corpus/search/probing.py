"""Probing: the posts that an approximate search scores, those of the partitions that promise most."""

from __future__ import annotations

import numpy as np

from linker.corpus.encoding import leaves
from linker.corpus.search.parts import Parts, PartsQuery, composed
from linker.corpus.search.pruning import low
from linker.models.article_softmax import ArticleSoftmaxModel
from linker.models.lexical import BM25Model, TfidfModel
from linker.models.model import Model
from linker.modules.kernels.scoring import sums_reaching

#: Share of the posts that are probed, and their least number.
_SHARE, _LEAST = 0.03, 20_000
# Of up to this number of posts, all are scored in the time that choosing some would take.
_ALL = 200_000
# Posts with the highest scores by words are probed wherever they are.
_BY_WORDS = 2_000
# A threshold comes from every n-th post.
_STEP = 64


class Probe:
    """Chooses the posts that are scored for one article; see decision 202.

    A post promises the score that the centroid of its partition would have, plus that of its own date. The posts that
    promise most are chosen, and those with the best scores by words.

    Args:
        parts: the parts of the model.
        query: a single article.
    """

    def __init__(self, parts: Parts, query: PartsQuery) -> None:
        self._parts, self._query = parts, query
        (self._article,) = query.articles

    @staticmethod
    def least(count: int) -> int:
        """Return the number of posts below which all are scored for a ranking of `count`."""
        return max(_ALL, 20 * count)

    def chosen(self, places: np.ndarray | None) -> np.ndarray:
        """Return the posts to score: int64, ascending indices in the store.

        Args:
            places: int64, ascending: posts to choose from; None: all.
        """
        chosen = self._promising(places)
        for part in leaves(self._parts.model):
            if isinstance(part, (TfidfModel, BM25Model)):
                scores = self._query.word_estimates(part)
                scores = scores if places is None else scores[places]
                least = low(scores, _BY_WORDS)
                if np.isfinite(least):
                    # Compared in their own type, in which least is one of them; 0 is the score of posts without words.
                    smallest = 1 if scores.dtype == np.uint16 else np.finfo(np.float32).tiny
                    chosen |= scores >= scores.dtype.type(max(least, smallest))
        at = np.flatnonzero(chosen)
        return at if places is None else places[at]

    def _promising(self, places: np.ndarray | None) -> np.ndarray:
        """Return which posts promise most: bool, one per place."""
        tables = [composed(self._parts.model, self._article, self._of_centroids)]
        numbers = [self._parts.partitions.numbers]
        model = self._parts.model
        if isinstance(model, ArticleSoftmaxModel) and model.time is not None:
            tables.append(self._parts.times.promises(model.time, self._article))
            numbers.append(self._parts.times.buckets)
        else:
            tables.append(np.zeros_like(tables[0]))
            numbers.append(numbers[0])
        numbers = numbers if places is None else [some[places] for some in numbers]
        posts = len(numbers[0])
        some = tables[0][numbers[0][::_STEP]] + tables[1][numbers[1][::_STEP]]
        rank = min(len(some) - 1, max(_LEAST, int(_SHARE * posts)) // _STEP)
        least = np.partition(some, len(some) - 1 - rank)[len(some) - 1 - rank]
        reaching = np.empty(posts, dtype=bool)
        sums_reaching(tables, numbers, float(least), reaching)
        return reaching

    def _of_centroids(self, part: Model) -> np.ndarray:
        """Return the scores of the centroids by a part, 0 by words and dates: float32, one per partition."""
        centroids = self._parts.partitions.centroids
        for (one, _), of_part in zip(self._parts.weighted, centroids):
            if one is part:
                query = self._query.query_of(part, 0)
                squares = np.vecdot(of_part, of_part) if query.distances else None
                return query.scores([of_part @ vector for vector in query.vectors], squares)
        return np.zeros(len(centroids[0]), dtype=np.float32)
