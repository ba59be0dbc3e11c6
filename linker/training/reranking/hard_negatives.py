"""Batches of lists: a relevant pair and hard negatives, which a first stage ranks high."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from linker.common.checks import at_least
from linker.common.console import progress_bar
from linker.common.errors import ConfigError, DataError
from linker.data.types import LinkedPosts
from linker.models.elapsed_time import without_dates
from linker.models.model import Model
from linker.models.resolve import resolve_model
from linker.training.batch_sampler import BatchSampler, PairBatch

#: Articles that are scored at once, to bound memory.
_ARTICLES_AT_ONCE = 512
#: Negatives are drawn with probabilities proportional to 1 / (rank + this).
_RANK_OFFSET = 2.0


@dataclass(frozen=True)
class ListBatch(PairBatch):
    """Lists of pairs, one after the other: the i-th article with the i-th post; the first pair of a list is relevant.

    Attributes:
        lists: number of lists, all of the same length.
    """

    lists: int


@dataclass(frozen=True)
class _Anchors:
    """Posts, or articles, with the relevant and the best-ranked irrelevant rows of the other kind.

    Attributes:
        rows: the anchors' rows in the training set.
        relevant: for each anchor, the relevant rows.
        negatives: for each anchor, irrelevant rows by rank; at least one.
    """

    rows: list[int]
    relevant: list[list[int]]
    negatives: list[np.ndarray]


@BatchSampler.register("hard_negatives")
class HardNegativesSampler(BatchSampler):
    """Batches for a `cross_encoder`: lists of one relevant pair and negatives from the ranking of another model.

    In an epoch every post with an article is an anchor once, with irrelevant articles as negatives, and every article
    with a post, with irrelevant posts. Posts and articles are ranked once, by text alone, before the first epoch.
    Negatives near the top are drawn more often.

    Args:
        model: the model whose ranking the negatives are from, usually the first stage of the `reranker`: `best`,
            `distilled`, `bm25`, `tfidf` or a model folder.
        lists: lists in a batch, ≥ 1.
        negatives: negatives in a list, ≥ 1; where there are fewer, some occur repeatedly.
        ranks: the first and the last rank, from 1, of negatives. Posts near the top may be relevant though nobody
            linked them; a first rank above 1 leaves them out.

    Raises:
        ConfigError: unless `ranks` has exactly two numbers, ascending from 1.
    """

    def __init__(
        self, model: str = "best", lists: int = 8, negatives: int = 7, ranks: list[int] | None = None
    ) -> None:
        at_least(1, lists=lists, negatives=negatives)
        first, last = self._ranks(ranks or [1, 40])
        self.model, self.lists, self.negatives = model, lists, negatives
        self.first_rank, self.last_rank = first, last
        self._mined: tuple[LinkedPosts, _Anchors, _Anchors] | None = None

    def _ranks(self, ranks: Sequence[int]) -> tuple[int, int]:
        if len(ranks) != 2 or not 1 <= ranks[0] < ranks[1]:
            raise ConfigError(f"hard_negatives.ranks: {list(ranks)}, but must be two ranks, ascending from 1")
        return ranks[0], ranks[1]

    @override
    def epoch(self, data: LinkedPosts, seed: int) -> Iterator[PairBatch]:
        rng = np.random.default_rng(seed)
        posts, articles = self._anchors(data)
        order = rng.permutation(len(posts.rows) + len(articles.rows))
        for begin in range(0, len(order), self.lists):
            chosen = order[begin : begin + self.lists]
            of_articles, of_posts = list[int](), list[int]()
            for number in chosen.tolist():
                by_post = number < len(posts.rows)
                anchors, at = (posts, number) if by_post else (articles, number - len(posts.rows))
                others = self._list(anchors, at, rng)
                anchor = [anchors.rows[at]] * len(others)
                of_articles += others if by_post else anchor
                of_posts += anchor if by_post else others
            yield ListBatch(of_articles, of_posts, len(chosen))

    @override
    def count(self, data: LinkedPosts) -> int:
        posts, articles = self._anchors(data)
        return -(-(len(posts.rows) + len(articles.rows)) // self.lists)

    def _list(self, anchors: _Anchors, at: int, rng: np.random.Generator) -> list[int]:
        """Return a relevant row and `negatives` others."""
        relevant, ranked = anchors.relevant[at], anchors.negatives[at]
        chances = 1 / (np.arange(len(ranked)) + self.first_rank + _RANK_OFFSET)
        enough = len(ranked) >= self.negatives
        drawn = rng.choice(ranked, self.negatives, replace=not enough, p=chances / chances.sum())
        return [relevant[rng.integers(len(relevant))], *drawn.tolist()]

    def _anchors(self, data: LinkedPosts) -> tuple[_Anchors, _Anchors]:
        """Return posts and articles as anchors; ranked once for the same data.

        Raises:
            DataError: if the data have no links, or nothing but relevant pairs.
        """
        if self._mined is None or self._mined[0] is not data:
            self._mined = data, *self._mine(data)
        return self._mined[1:]

    def _mine(self, data: LinkedPosts) -> tuple[_Anchors, _Anchors]:
        model = resolve_model(self.model).load()
        articles_of = _rows_of_articles(data)
        posts_of: list[list[int]] = [[] for _ in data.articles]
        for j, rows in enumerate(articles_of):
            for i in rows:
                posts_of[i].append(j)
        best = _TopRows(len(data.posts), self.last_rank + max(map(len, articles_of), default=0))
        negatives_of_articles = []
        with progress_bar() as progress:
            bar = progress.add_task("ranking for hard negatives", total=len(data.articles))
            for begin in range(0, len(data.articles), _ARTICLES_AT_ONCE):
                scores = self._scores(model, data, begin)
                best.add(scores, begin)
                for i, row in enumerate(scores, begin):
                    kept = min(self.last_rank + len(posts_of[i]), len(row))
                    first = np.argpartition(-row, kept - 1)[:kept]
                    negatives_of_articles.append(self._irrelevant(first, row[first], posts_of[i]))
                progress.advance(bar, len(scores))
        negatives_of_posts = [
            self._irrelevant(rows, scores, relevant)
            for rows, scores, relevant in zip(best.rows.T, best.scores.T, articles_of)
        ]
        mined = _with_lists(articles_of, negatives_of_posts), _with_lists(posts_of, negatives_of_articles)
        if not any(anchors.rows for anchors in mined):
            raise DataError(
                "the training set has no pair of an article and a post with negatives: nothing to learn"
            )
        return mined

    def _scores(self, model: Model, data: LinkedPosts, begin: int) -> np.ndarray:
        some = without_dates(data.articles[begin : begin + _ARTICLES_AT_ONCE])
        return model.score_independently(some, data.posts)

    def _irrelevant(self, rows: np.ndarray, scores: np.ndarray, relevant: Sequence[int]) -> np.ndarray:
        """Return the irrelevant of some rows, by rank, from `first_rank` to `last_rank` of the irrelevant."""
        ordered = rows[np.lexsort((rows, -scores))]
        kept = ordered[~np.isin(ordered, relevant)]
        return np.asarray(kept[self.first_rank - 1 : self.last_rank])


class _TopRows:
    """The best articles of each post, collected over chunks of articles.

    Args:
        posts: number of posts.
        count: articles to keep of each post.

    Attributes:
        rows: int64, up to `count` × posts, unordered.
        scores: float32, of the same shape.
    """

    def __init__(self, posts: int, count: int) -> None:
        self._count = count
        self.rows = np.zeros((0, posts), dtype=np.int64)
        self.scores = np.zeros((0, posts), dtype=np.float32)

    def add(self, scores: np.ndarray, begin: int) -> None:
        """Add the scores of articles from row `begin`: float32, articles × posts."""
        numbers = np.broadcast_to(np.arange(begin, begin + len(scores))[:, None], scores.shape)
        rows, every = np.concatenate([self.rows, numbers]), np.concatenate([self.scores, scores])
        if len(every) > self._count:
            first = np.argpartition(-every, self._count - 1, axis=0)[: self._count]
            rows, every = np.take_along_axis(rows, first, 0), np.take_along_axis(every, first, 0)
        self.rows, self.scores = rows, every


def _rows_of_articles(data: LinkedPosts) -> list[list[int]]:
    """Return the rows of each post's articles."""
    row = {article.id: i for i, article in enumerate(data.articles)}
    return [[row[a] for a in post.article_ids if a in row] for post in data.posts]


def _with_lists(relevant: list[list[int]], negatives: list[np.ndarray]) -> _Anchors:
    rows = [row for row, known in enumerate(relevant) if known and len(negatives[row])]
    return _Anchors(rows, [relevant[row] for row in rows], [negatives[row] for row in rows])
