"""Scores of an ensemble for all posts of a corpus, equal to its scores for the same posts in a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np

from linker.corpus.encoding import check_parts, vector_parts
from linker.corpus.engines.engine import Engine
from linker.corpus.indexes.estimates import scores_at
from linker.corpus.indexes.exact import Query
from linker.corpus.indexes.postings import Postings, postings_of
from linker.corpus.indexes.tfidf import TfidfQuery
from linker.corpus.indexes.times import Times
from linker.corpus.indexes.vectors import CorpusVectors, packed, vectors_of
from linker.corpus.storage.shards import Shard, Shards
from linker.data.types import Article, Post
from linker.models.article_softmax import ArticleSoftmaxModel
from linker.models.bundled_word_vectors import BundledWordVectorsModel
from linker.models.elapsed_time import ElapsedTimeModel
from linker.models.ensemble import EnsembleModel
from linker.models.lexical import BM25Model, TfidfModel
from linker.models.model import Model
from linker.models.passage_pooling import Passages, split_articles
from linker.models.word_statistics import WordStatistics, kept_statistics
from linker.ranking.contributions import shortened

# Questions whose articles are kept encoded, and explained posts: about 17 kB each, 70 MB in all.
_ARTICLES, _SHORTENED = 64, 4_096


def scores_of_parts(parts: Parts, query: PartsQuery, starts: np.ndarray, passages: Passages) -> np.ndarray:
    """Return the mean score of every post over the articles, as `Ranker.rank` does: float32, one per post.

    Passages are scored one by one, so memory does not grow with their number.

    Args:
        parts: the parts of the model.
        query: the articles or passages, from `pieces_of`.
        starts: where those of each article begin.
        passages: how articles are scored.
    """
    total = np.zeros(parts.posts)
    for start, stop in pairwise([*starts.tolist(), len(query.articles)]):
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

    Of a single article, scores by words and by dates are computed once.

    Args:
        parts: the parts of the model.
        articles: the articles, each a query by itself, as in `Model.score_independently`.
        engine: engine that compares vectors, within its `with` block.

    Attributes:
        articles: the articles.
    """

    def __init__(self, parts: Parts, articles: Sequence[Article], engine: Engine) -> None:
        self._parts, self.articles, self._engine = parts, articles, engine
        self._computed: dict[int, np.ndarray] = {}
        self._computed_at: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._queries: dict[tuple[int, int], Query] = {}
        self._last_tfidf: tuple[tuple[str, Article, int], TfidfQuery] | None = None

    def scores(self, number: int) -> np.ndarray:
        """Return the model's scores for article `number`: float32, one per post."""
        return self.scores_of(self._parts.model, number)

    def scores_of(self, model: Model, number: int) -> np.ndarray:
        """Return the scores of a part of the model for article `number`: float32, one per post."""
        return composed(model, self.articles[number], lambda part: self.scores_of_leaf(part, number))

    def scores_at(self, model: Model, places: np.ndarray) -> np.ndarray:
        """Return the scores of a part of the model for the only article, of some posts: float32, one per place.

        Args:
            model: the part.
            places: int64, ascending: indices of the posts.
        """

        return composed(model, self.articles[0], lambda part: self.leaf_scores_at(part, places))

    def leaf_scores_at(self, model: Model, places: np.ndarray) -> np.ndarray:
        """Return what `scores_at` does for a part that contains no others.

        Scores by words and dates are kept for later calls with the same posts or some of them.
        """
        if is_embedded(model):
            return scores_at(self._parts.vectors(model), self.query_of(model, 0), places)
        if id(model) in self._computed:
            return self._computed[id(model)][places]
        known, scores = self._computed_at.get(id(model), (places[:0], np.zeros(0, dtype=np.float32)))
        at = np.searchsorted(known, places)
        if not len(places) or (at[-1] < len(known) and np.array_equal(known[at], places)):
            return scores[at]
        found = self._without_embeddings_at(model, self.articles[0], places)
        self._computed_at[id(model)] = places, found
        return found

    def scores_of_leaf(self, model: Model, number: int) -> np.ndarray:
        """Return the scores of a part that contains no others for article `number`: float32, one per post."""
        if is_embedded(model):
            return self._engine.scores(self._parts.vectors(model), self.query_of(model, number))
        if len(self.articles) > 1:
            return self._without_embeddings(model, self.articles[number])
        if id(model) not in self._computed:
            self._computed[id(model)] = self._without_embeddings(model, self.articles[0])
        return self._computed[id(model)]

    def _without_embeddings(self, model: Model, article: Article) -> np.ndarray:
        if isinstance(model, TfidfModel):
            return self._tfidf(model, article).scores()
        if isinstance(model, BM25Model):
            postings = self._parts.postings(model.stop_words)
            return postings.scores([article], model.k1, model.b)
        assert isinstance(model, ElapsedTimeModel)  # `is_embedded`
        return self._parts.times.scores(model, article)

    def _without_embeddings_at(self, model: Model, article: Article, places: np.ndarray) -> np.ndarray:
        if isinstance(model, TfidfModel):
            return self._tfidf(model, article).scores_at(places)
        if isinstance(model, ElapsedTimeModel):
            return self._parts.times.scores(model, article, places)
        return self.scores_of_leaf(model, 0)[places]

    def _tfidf(self, model: TfidfModel, article: Article) -> TfidfQuery:
        asked = model.stop_words_for(article), article, model.min_words
        if self._last_tfidf is None or self._last_tfidf[0] != asked:
            self._last_tfidf = asked, TfidfQuery(self._parts.postings(asked[0]), *asked[1:])
        return self._last_tfidf[1]

    def query_of(self, model: Model, number: int) -> Query:
        """Return the query of a part with embeddings for article `number`."""
        if (id(model), number) not in self._queries:
            vectors = self._parts.article_vectors(model, tuple(self.articles))
            assert vectors is not None  # it has vectors
            query = Query(vectors[number][None], getattr(model, "similarity", "cosine"))
            self._queries[id(model), number] = query
        return self._queries[id(model), number]


def is_embedded(part: Model) -> bool:
    """Return whether a part that contains no others scores by embeddings, not by words or dates."""
    return not isinstance(part, (TfidfModel, BM25Model, ElapsedTimeModel))


def composed(model: Model, article: Article, scores_of_leaf: Callable[[Model], np.ndarray]) -> np.ndarray:
    """Return the scores of a model from those of its parts that contain no others: float32, one per post.

    Args:
        model: the model.
        article: the query.
        scores_of_leaf: returns the scores of such a part, of all posts or of some.
    """
    if isinstance(model, ArticleSoftmaxModel):
        scores = model.against_none(composed(model.model, article, scores_of_leaf))
        return scores if model.time is None else scores + scores_of_leaf(model.time)
    if isinstance(model, EnsembleModel):
        of_parts = [composed(part, article, scores_of_leaf)[None] for part in model.submodels()]
        return model.fuse_independently(of_parts, [article])[0]
    return scores_of_leaf(model.vectors if isinstance(model, BundledWordVectorsModel) else model)


class Parts:
    """Data that the parts of a model need to score all posts of a corpus; what is missing is computed and stored.

    Args:
        shards: the posts.
        model: the model.

    Attributes:
        posts: number of posts.

    Raises:
        ModelError: if a corpus cannot score a part; see `check_parts`.
    """

    def __init__(self, shards: Shards, model: Model) -> None:
        self.first = check_parts(model)
        self.model, self.shards = model, shards
        self.posts = shards.posts  # counting them opens files
        self._names = {id(part): name for name, part in vector_parts(model).items()}
        self._vectors: dict[int, CorpusVectors] = {}
        self._postings: dict[str, Postings] = {}
        self._counted: dict[str, tuple[WordStatistics, Postings]] = {}  # those of a calibration
        self._article_vectors = lru_cache(_ARTICLES)(_article_vectors)
        self._shortened_vectors = lru_cache(_SHORTENED)(_shortened_vectors)

    @property
    def plain(self) -> bool:
        """Return whether the model is a single part with embeddings."""
        return self.model is self.first

    def vectors(self, part: Model) -> CorpusVectors:
        """Return the embeddings of all posts by a part."""
        if id(part) not in self._vectors:
            name = self._names[id(part)]

            def made(shard: Shard) -> dict[str, np.ndarray]:
                vectors = part.post_vectors([Post("", text) for text in shard.texts()])
                assert vectors is not None  # it has vectors
                return packed(vectors)

            arrays = self.shards.arrays(name, "encoding posts", made)
            self._vectors[id(part)] = vectors_of(self.shards, arrays)
        return self._vectors[id(part)]

    def article_vectors(self, part: Model, articles: tuple[Article, ...]) -> np.ndarray | None:
        """Return the embeddings of articles, those of recent questions without encoding them: float32, n × dim."""
        return self._article_vectors(part, articles)

    def shortened_vectors(self, part: Model, text: str) -> np.ndarray | None:
        """Return the embeddings of a post without each of its words, see `shortened`: float32, texts × dim.

        They do not depend on the article: those of recently explained posts are not computed again.
        """
        return self._shortened_vectors(part, text)

    @cached_property
    def times(self) -> Times:
        """Return when the posts were created."""
        return Times.of(self.shards)

    def postings(self, stop_words: str) -> Postings:
        """Return the postings of all posts without these `stop_words` of `lexical_words`.

        Their words are counted in the posts, or as `counted_in` says.
        """
        if stop_words not in self._postings:
            self._postings[stop_words] = postings_of(self.shards, stop_words)
        statistics = kept_statistics(stop_words)
        if statistics is None:
            return self._postings[stop_words]
        if stop_words not in self._counted or self._counted[stop_words][0] is not statistics:
            self._counted[stop_words] = statistics, self._postings[stop_words].counted_by(statistics)
        return self._counted[stop_words][1]


def _article_vectors(part: Model, articles: tuple[Article, ...]) -> np.ndarray | None:
    return part.article_vectors(articles)


def _shortened_vectors(part: Model, text: str) -> np.ndarray | None:
    return part.post_vectors(shortened(text).posts)
