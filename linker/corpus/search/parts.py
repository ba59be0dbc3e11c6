"""Scores of an ensemble for all posts of a corpus, equal to its scores for the same posts in a file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from linker.corpus.encoding import VECTORS, check_parts, vector_parts, words_file
from linker.corpus.engines.engine import Engine
from linker.corpus.indexes.exact import Query
from linker.corpus.indexes.postings import Postings, Segment
from linker.corpus.indexes.tfidf import TfidfQuery
from linker.corpus.indexes.vectors import ShardVectors, packed, stored_vectors, vectors_of
from linker.corpus.indexes.words import words_of
from linker.corpus.storage.reader import batches
from linker.corpus.storage.shards import Shard, Shards
from linker.data.types import Article, Post
from linker.models.article_softmax import ArticleSoftmaxModel
from linker.models.bundled_word_vectors import BundledWordVectorsModel
from linker.models.elapsed_time import ElapsedTimeModel
from linker.models.ensemble import EnsembleModel
from linker.models.lexical import BM25Model, TfidfModel
from linker.models.model import Model
from linker.models.passage_pooling import Passages, split_articles


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
    total = np.zeros(parts.shards.posts)
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
    """Data that the parts of a model need to score all posts of a corpus; what is missing is computed and stored.

    Args:
        shards: the posts.
        model: the model.

    Raises:
        ModelError: if a corpus cannot score a part; see `check_parts`.
    """

    def __init__(self, shards: Shards, model: Model) -> None:
        self.first = check_parts(model)
        self.model, self.shards = model, shards
        self._names = {id(part): name for name, part in vector_parts(model).items()}
        self._vectors: dict[int, list[ShardVectors]] = {}
        self._postings: dict[str, Postings] = {}
        self._times: np.ndarray | None = None

    @property
    def plain(self) -> bool:
        """Return whether the model is a single part with embeddings."""
        return self.model is self.first

    def vectors(self, part: Model) -> list[ShardVectors]:
        """Return the embeddings of all posts by a part."""
        if id(part) not in self._vectors:
            name = self._names[id(part)]

            def made(shard: Shard) -> dict[str, np.ndarray]:
                if name == VECTORS and "vector" in shard.columns:  # a corpus of format 1
                    return stored_vectors(shard)
                vectors = part.post_vectors([Post("", text) for text in shard.texts()])
                assert vectors is not None  # it has vectors
                return packed(vectors)

            arrays = self.shards.arrays(name, "encoding posts", made)
            self._vectors[id(part)] = vectors_of(self.shards, arrays)
        return self._vectors[id(part)]

    def times(self) -> np.ndarray:
        """Return when the posts were created: float64, seconds since 1970 in UTC; NaN where unknown."""
        if self._times is None:
            import pyarrow as pa  # of the extra `corpus`

            parts = [np.zeros(0)]
            for batch in batches(self.shards.dataset, ["created_at"]):
                micros = batch.column("created_at").cast(pa.timestamp("us", "UTC")).cast(pa.int64())
                parts.append(micros.to_numpy(zero_copy_only=False) / 1e6)
            self._times = np.concatenate(parts)
        return self._times

    def postings(self, stop_words: str) -> Postings:
        """Return the postings of all posts without these `stop_words` of `lexical_words`."""
        if stop_words not in self._postings:
            arrays = self.shards.arrays(
                words_file(stop_words), "reading words", lambda shard: words_of(shard.texts(), stop_words)
            )
            segments = [Segment.of(one, shard.live) for one, shard in zip(arrays, self.shards)]
            self._postings[stop_words] = Postings(segments, stop_words)
        return self._postings[stop_words]
