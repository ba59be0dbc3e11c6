"""The scores of a model made of parts for all posts of a corpus, for one query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from linker.corpus.engines.engine import Engine
from linker.corpus.parts import Parts
from linker.corpus.reading import batches
from linker.corpus.scoring import Query
from linker.corpus.tfidf import TfidfQuery
from linker.data.types import Article, Post
from linker.errors import LinkerError
from linker.models.competing import CompetingModel
from linker.models.hybrid import HybridModel
from linker.models.lexical import BM25Model, TfidfModel
from linker.models.model import Model
from linker.models.near_in_time import NearInTimeModel
from linker.models.passages import Passages, split_articles
from linker.models.shipped_vectors import ShippedVectorsModel


def scores_of_parts(
    parts: Parts,
    articles: Sequence[Article],
    passages: Passages,
    engine: Engine,
    without_first: bool = False,
) -> np.ndarray:
    """The mean score of every post over the articles, as `Linker.rank` gives it: float32, one per post.

    Passages are scored one by one, so memory does not grow with them.

    Args:
        parts: of the model.
        articles: the query.
        passages: how they are read.
        engine: compares vectors; must be entered.
        without_first: as for `PartsQuery`.
    """
    pieces, starts = pieces_of(articles, passages)
    query = PartsQuery(parts, pieces, engine, without_first)
    total = np.zeros(parts.dataset.count_rows())
    for start, stop in pairwise([*starts.tolist(), len(pieces)]):
        scores = query.scores(start)
        for number in range(start + 1, stop):
            more = query.scores(number)
            scores = np.maximum(scores, more) if passages == "best" else scores.astype(np.float64) + more
        total += scores if passages == "best" else (scores / (stop - start)).astype(np.float32)
    return (total / len(starts)).astype(np.float32)


def with_other_parts(
    parts: Parts, articles: Sequence[Article], passages: Passages
) -> Callable[[np.ndarray, np.ndarray | slice], np.ndarray]:
    """From the scores of posts by the first part's vectors, and their places, to those of the model.

    Raises:
        LinkerError: they do not determine them.
    """
    if parts.plain:
        return lambda scores, places: scores
    share = parts.share
    if share is None or passages == "best":
        raise LinkerError(
            "--approximate: cannot be used with --passages best and a model made of parts; leave out one of the two"
            if share is not None
            else "--approximate: the model standardizes scores over all posts, which this search does not see; "
            "leave it out"
        )
    others = scores_of_parts(parts, articles, passages, Engine(), without_first=True)
    return lambda scores, places: others[places] + np.float32(share) * scores


def pieces_of(articles: Sequence[Article], passages: Passages) -> tuple[list[Article], np.ndarray]:
    """What is compared with posts, and where the pieces of each article begin (int64)."""
    return (list(articles), np.arange(len(articles))) if passages == "whole" else split_articles(articles)


class PartsQuery:
    """The scores of all posts for some articles, one article at a time.

    Args:
        parts: of the model.
        articles: scored together, as by `Model.score_alone`.
        engine: compares vectors; must be entered.
        without_first: leave out the first part with vectors: its scores count as 0.
    """

    def __init__(
        self, parts: Parts, articles: Sequence[Article], engine: Engine, without_first: bool = False
    ) -> None:
        self._parts, self._articles, self._engine = parts, articles, engine
        self._without = parts.first if without_first else None
        self._queries: dict[int, np.ndarray] = {}

    def scores(self, number: int) -> np.ndarray:
        """Those of one article, as the model gives them: float32, one per post."""
        return self._of(self._parts.model, number)

    def _of(self, model: Model, number: int) -> np.ndarray:
        if model is self._without:
            return np.zeros(self._parts.dataset.count_rows(), dtype=np.float32)
        if isinstance(model, CompetingModel):
            return model.against_none(self._of(model.model, number))
        if isinstance(model, HybridModel):
            return model.fused_alone([self._of(part, number)[None] for part in model.parts()])[0]
        if isinstance(model, ShippedVectorsModel):
            return self._of(model.vectors, number)
        if isinstance(model, TfidfModel):
            return TfidfQuery(self._parts.postings(model.stop_words), self._articles[number]).scores()
        if isinstance(model, BM25Model):
            postings = self._parts.postings(model.stop_words)
            return postings.scores([self._articles[number]], model.k1, model.b)
        if isinstance(model, NearInTimeModel):
            return self._by_time(model, number)
        if id(model) not in self._queries:
            vectors = model.article_vectors(self._articles)
            assert vectors is not None  # it has vectors
            self._queries[id(model)] = vectors
        query = Query(self._queries[id(model)][number][None], getattr(model, "similarity", "cosine"))
        return self._engine.scores(self._parts.vectors(model), query)

    def _by_time(self, model: NearInTimeModel, number: int) -> np.ndarray:
        parts = [np.zeros(0, dtype=np.float32)]
        for batch in batches(self._parts.dataset, ["created_at"]):
            posts = [Post("", "", created_at=at) for at in batch.column("created_at").to_pylist()]
            parts.append(model.score(self._articles, posts)[number])
        return np.concatenate(parts)
