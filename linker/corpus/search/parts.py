"""The scores of a model made of parts for all posts of a corpus: each part's, put together as the model does.

So the same posts have the same scores in a corpus as in a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linker.common.errors import ModelError
from linker.corpus.engines.engine import Engine
from linker.corpus.indexes.bm25 import Lexical
from linker.corpus.indexes.exact import Query
from linker.corpus.indexes.postings import Postings
from linker.corpus.indexes.tfidf import TfidfQuery
from linker.corpus.indexes.vectors import RowFile
from linker.corpus.storage.reader import batches
from linker.data.types import Article, Post
from linker.models.article_softmax import ArticleSoftmaxModel
from linker.models.bundled_word_vectors import BundledWordVectorsModel
from linker.models.elapsed_time import ElapsedTimeModel
from linker.models.ensemble import EnsembleModel
from linker.models.lexical import BM25Model, StopWords, TfidfModel
from linker.models.model import Model, embedding_submodel
from linker.models.passage_pooling import Passages, split_articles

if TYPE_CHECKING:
    import lance


def scores_of_parts(
    parts: Parts,
    articles: Sequence[Article],
    passages: Passages,
    engine: Engine,
) -> np.ndarray:
    """The mean score of every post over the articles, as `Ranker.rank` gives it: float32, one per post.

    Passages are scored one by one, so memory does not grow with them.

    Args:
        parts: of the model.
        articles: the query.
        passages: how they are read.
        engine: compares vectors; must be entered.
    """
    pieces, starts = pieces_of(articles, passages)
    query = PartsQuery(parts, pieces, engine)
    total = np.zeros(parts.dataset.count_rows())
    for start, stop in pairwise([*starts.tolist(), len(pieces)]):
        scores = query.scores(start)
        for number in range(start + 1, stop):
            more = query.scores(number)
            scores = np.maximum(scores, more) if passages == "best" else scores.astype(np.float64) + more
        total += scores if passages == "best" else (scores / (stop - start)).astype(np.float32)
    return (total / len(starts)).astype(np.float32)


def pieces_of(articles: Sequence[Article], passages: Passages) -> tuple[list[Article], np.ndarray]:
    """What is compared with posts, and where the pieces of each article begin (int64)."""
    return (list(articles), np.arange(len(articles))) if passages == "whole" else split_articles(articles)


class PartsQuery:
    """The scores of all posts for some articles, one article at a time.

    Args:
        parts: of the model.
        articles: scored together, as by `Model.score_independently`.
        engine: compares vectors; must be entered.
    """

    def __init__(self, parts: Parts, articles: Sequence[Article], engine: Engine) -> None:
        self._parts, self._articles, self._engine = parts, articles, engine
        self._queries: dict[int, np.ndarray] = {}

    def scores(self, number: int) -> np.ndarray:
        """Those of one article, as the model gives them: float32, one per post."""
        return self._of(self._parts.model, number)

    def _of(self, model: Model, number: int) -> np.ndarray:
        if isinstance(model, ArticleSoftmaxModel):
            scores = model.against_none(self._of(model.model, number))
            return scores if model.time is None else scores + self._of(model.time, number)
        if isinstance(model, EnsembleModel):
            return model.fuse_independently([self._of(part, number)[None] for part in model.submodels()])[0]
        if isinstance(model, BundledWordVectorsModel):
            return self._of(model.vectors, number)
        if isinstance(model, TfidfModel):
            return TfidfQuery(self._parts.postings(model.stop_words), self._articles[number]).scores()
        if isinstance(model, BM25Model):
            postings = self._parts.postings(model.stop_words)
            return postings.scores([self._articles[number]], model.k1, model.b)
        if isinstance(model, ElapsedTimeModel):
            article = self._articles[number]
            return model.score_times(article, self._parts.times())
        if id(model) not in self._queries:
            vectors = model.article_vectors(self._articles)
            assert vectors is not None  # it has vectors
            self._queries[id(model)] = vectors
        query = Query(self._queries[id(model)][number][None], getattr(model, "similarity", "cosine"))
        return self._engine.scores(self._parts.vectors(model), query)


class Parts:
    """What the parts of a model need to score all posts of a corpus; made where it is missing, then kept.

    The first part with vectors is the one whose vectors are in the store. Those of a further one are kept in a file of
    their own, `vectors-1.f32` and so on, float32, posts × dim, made from the posts' texts.

    Args:
        folder: the corpus.
        dataset: the posts.
        model: the model.
        vectors: of its first part with vectors: float32, posts × dim.

    Raises:
        ModelError: a part that a corpus cannot score; see `check_parts`.
    """

    def __init__(self, folder: Path, dataset: lance.LanceDataset, model: Model, vectors: np.ndarray) -> None:
        self.first = check_parts(model)
        self.model, self.dataset = model, dataset
        self._folder, self._vectors = folder, {id(self.first): vectors}
        self._further = [part for part in _vector_parts(model) if part is not self.first]
        self._postings: dict[StopWords, Postings] = {}
        self._times: np.ndarray | None = None

    @property
    def plain(self) -> bool:
        """Is the model nothing but its first part with vectors?"""
        return self.model is self.first

    def complete(self) -> None:
        """Make what is missing, so that no query has to.

        Raises:
            LinkerError: there is no room for it.
        """
        for part in self._further:
            self.vectors(part)
        for part in _leaves(self.model):
            if isinstance(part, (TfidfModel, BM25Model)):
                self.postings(part.stop_words)

    def vectors(self, part: Model) -> np.ndarray:
        """Those of all posts by a part that has vectors: float32, posts × dim."""
        if id(part) not in self._vectors:
            number = self._further.index(part) + 1
            none = part.post_vectors([])
            assert none is not None  # it has vectors
            file = RowFile(self._folder / f"vectors-{number}.f32", np.float32, none.shape[1])
            self._vectors[id(part)] = file.complete(self.dataset.count_rows(), self._made(part))
        return self._vectors[id(part)]

    def _made(self, part: Model) -> Callable[[int], Iterator[np.ndarray]]:
        def vectors(have: int) -> Iterator[np.ndarray]:
            for batch in batches(self.dataset, ["text"], have):
                made = part.post_vectors([Post("", text) for text in batch.column("text").to_pylist()])
                assert made is not None  # it has vectors
                yield made

        return vectors

    def times(self) -> np.ndarray:
        """Return when the posts were created: float64, seconds since 1970 in UTC; NaN where unknown."""
        if self._times is None:
            import pyarrow as pa  # of the extra `corpus`

            parts = [np.zeros(0)]
            for batch in batches(self.dataset, ["created_at"]):
                micros = batch.column("created_at").cast(pa.timestamp("us", "UTC")).cast(pa.int64())
                parts.append(micros.to_numpy(zero_copy_only=False) / 1e6)
            self._times = np.concatenate(parts)
        return self._times

    def postings(self, stop_words: StopWords) -> Postings:
        """The words of all posts."""
        if stop_words not in self._postings:
            self._postings[stop_words] = Lexical(self._folder, stop_words).complete(self.dataset)
        return self._postings[stop_words]


def check_parts(model: Model) -> Model:
    """The first part of a model that has vectors, after a check that a corpus can score all its parts.

    Raises:
        ModelError: no part has vectors, or a corpus cannot score one.
    """
    first = embedding_submodel(model)
    if first is None:
        raise ModelError("gives no vectors that a corpus could keep; give a trained model folder")
    for part in _leaves(model):
        known = (TfidfModel, BM25Model, ElapsedTimeModel, BundledWordVectorsModel)
        if not isinstance(part, known) and type(part).post_vectors is Model.post_vectors:
            raise ModelError(
                f"its part {type(part).__name__} cannot score the posts of a corpus; rank files of posts (--posts)"
            )
    for part in _inner(model):
        if isinstance(part, EnsembleModel) and part.fusion == "zscore_all":
            raise ModelError(
                "fuses by `zscore_all`, over all articles at once, and a corpus is asked for one; "
                "choose `sum` or `zscore`"
            )
    return first


def _inner(model: Model) -> Iterator[Model]:
    """Models that are put together from others, from the outside in."""
    if isinstance(model, (ArticleSoftmaxModel, EnsembleModel)):
        yield model
        for part in model.submodels():
            yield from _inner(part)


def _leaves(model: Model) -> Iterator[Model]:
    """The models that others are put together from, in order."""
    if isinstance(model, (ArticleSoftmaxModel, EnsembleModel)):
        for part in model.submodels():
            yield from _leaves(part)
    else:
        yield model


def _vector_parts(model: Model) -> list[Model]:
    parts = [part.vectors if isinstance(part, BundledWordVectorsModel) else part for part in _leaves(model)]
    return [part for part in parts if type(part).post_vectors is not Model.post_vectors]
