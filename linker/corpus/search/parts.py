"""Scores of an ensemble for all posts of a corpus, equal to its scores for the same posts in a file."""

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
from linker.models.lexical import BM25Model, TfidfModel
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
    """Return the mean score of every post over the articles, as `Ranker.rank` does: float32, one per post.

    Passages are scored one by one, so memory does not grow with their number.

    Args:
        parts: the parts of the model.
        articles: the query.
        passages: how articles are scored.
        engine: engine that compares vectors, within its `with` block.
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
    """Return the articles or passages to score, and where those of each article begin (int64)."""
    return (list(articles), np.arange(len(articles))) if passages == "whole" else split_articles(articles)


class PartsQuery:
    """Scores of all posts for several articles, one article at a time.

    Args:
        parts: the parts of the model.
        articles: the articles, each a query by itself, as in `Model.score_independently`.
        engine: engine that compares vectors, within its `with` block.
    """

    def __init__(self, parts: Parts, articles: Sequence[Article], engine: Engine) -> None:
        self._parts, self._articles, self._engine = parts, articles, engine
        self._queries: dict[int, np.ndarray] = {}

    def scores(self, number: int) -> np.ndarray:
        """Return the model's scores for article `number`: float32, one per post."""
        return self.scores_of(self._parts.model, number)

    def scores_of(self, model: Model, number: int) -> np.ndarray:
        """Return the scores of a part of the model for article `number`: float32, one per post."""
        if isinstance(model, ArticleSoftmaxModel):
            scores = model.against_none(self.scores_of(model.model, number))
            return scores if model.time is None else scores + self.scores_of(model.time, number)
        if isinstance(model, EnsembleModel):
            of_parts = [self.scores_of(part, number)[None] for part in model.submodels()]
            return model.fuse_independently(of_parts, [self._articles[number]])[0]
        if isinstance(model, BundledWordVectorsModel):
            return self.scores_of(model.vectors, number)
        if isinstance(model, TfidfModel):
            article = self._articles[number]
            return TfidfQuery(self._parts.postings(model.stop_words_for(article)), article).scores()
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
    """Data that the parts of a model need to score all posts of a corpus; created if missing, then stored.

    The store has the embeddings of the first part that has any. Those of further parts are computed from the posts'
    texts and stored in the files `vectors-1.f32` and so on, float32, posts × dim.

    Args:
        folder: the corpus.
        dataset: the posts.
        model: the model.
        vectors: float32, posts × dim: embeddings by the first part that has any.

    Raises:
        ModelError: if a corpus cannot score a part; see `check_parts`.
    """

    def __init__(self, folder: Path, dataset: lance.LanceDataset, model: Model, vectors: np.ndarray) -> None:
        self.first = check_parts(model)
        self.model, self.dataset = model, dataset
        self._folder, self._vectors = folder, {id(self.first): vectors}
        self._further = _further_parts(model)
        self._postings: dict[str, Postings] = {}
        self._times: np.ndarray | None = None

    @property
    def plain(self) -> bool:
        """Return whether the model is a single part with embeddings."""
        return self.model is self.first

    def complete(self) -> None:
        """Create missing data, so that no query has to.

        Raises:
            LinkerError: if the disk is full.
        """
        for part in self._further:
            self.vectors(part)
        for part in _leaves(self.model):
            if isinstance(part, (TfidfModel, BM25Model)):
                # Those for other languages are made when an article needs them.
                self.postings("english" if part.stop_words == "by_language" else part.stop_words)

    def vectors(self, part: Model) -> np.ndarray:
        """Return the embeddings of all posts by a part: float32, posts × dim."""
        if id(part) not in self._vectors:
            name, dim = list(further_vectors(self.model).items())[self._further.index(part)]
            file = RowFile(self._folder / name, np.float32, dim)
            self._vectors[id(part)] = file.complete(self.dataset.count_rows(), self._missing_vectors(part))
        return self._vectors[id(part)]

    def _missing_vectors(self, part: Model) -> Callable[[int], Iterator[np.ndarray]]:
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

    def postings(self, stop_words: str) -> Postings:
        """Return the postings of all posts without these `stop_words` of `lexical_words`."""
        if stop_words not in self._postings:
            self._postings[stop_words] = Lexical(self._folder, stop_words).complete(self.dataset)
        return self._postings[stop_words]


def check_parts(model: Model) -> Model:
    """Return the first part of a model that has embeddings, after checking that a corpus can score all parts.

    Raises:
        ModelError: if no part has embeddings, or a corpus cannot score a part.
    """
    first = embedding_submodel(model)
    if first is None:
        raise ModelError("has no embeddings to store in a corpus; give a trained model folder")
    for part in _leaves(model):
        known = (TfidfModel, BM25Model, ElapsedTimeModel, BundledWordVectorsModel)
        if not isinstance(part, known) and type(part).post_vectors is Model.post_vectors:
            raise ModelError(
                f"its part {type(part).__name__} cannot score the posts of a corpus; rank the files of posts (--posts)"
            )
    for part in _inner(model):
        if isinstance(part, EnsembleModel) and part.fusion == "zscore_all":
            raise ModelError(
                "has the fusion `zscore_all`, over all articles at once, but a corpus is searched for one article; "
                "use `sum` or `zscore`"
            )
    return first


def further_vectors(model: Model) -> dict[str, int]:
    """Return the files with the embeddings of the parts after the first that has any, and their dimensions."""
    found = {}
    for number, part in enumerate(_further_parts(model), start=1):
        none = part.post_vectors([])
        assert none is not None  # it has vectors
        found[f"vectors-{number}.f32"] = none.shape[1]
    return found


def _further_parts(model: Model) -> list[Model]:
    first = embedding_submodel(model)
    return [part for part in _vector_parts(model) if part is not first]


def _inner(model: Model) -> Iterator[Model]:
    """Yield the model and the models that it wraps, from the outside in."""
    if isinstance(model, (ArticleSoftmaxModel, EnsembleModel)):
        yield model
        for part in model.submodels():
            yield from _inner(part)


def _leaves(model: Model) -> Iterator[Model]:
    """Yield the models that contain no others, in order."""
    if isinstance(model, (ArticleSoftmaxModel, EnsembleModel)):
        for part in model.submodels():
            yield from _leaves(part)
    else:
        yield model


def _vector_parts(model: Model) -> list[Model]:
    parts = [part.vectors if isinstance(part, BundledWordVectorsModel) else part for part in _leaves(model)]
    return [part for part in parts if type(part).post_vectors is not Model.post_vectors]
