"""Statistics of a corpus for explanations: how rare words are in all its posts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from linker.common.stats import zscore
from linker.corpus.indexes.id_set import keys_of
from linker.corpus.indexes.tfidf import TfidfQuery
from linker.corpus.search.fusion import WORDS as BM25_WEIGHT
from linker.corpus.search.fusion import Fusion
from linker.corpus.search.parts import Parts, PartsQuery
from linker.data.types import Article, Post
from linker.models.lexical import BM25Model, TfidfModel, mean_terms
from linker.models.model import Model
from linker.ranking.contributions import Carried, SharesTerms, rarity
from linker.ranking.shares import WORDS as SHARED_WORDS
from linker.ranking.shares import parts_of


def shares_of_one(parts: Parts, query: PartsQuery, places: np.ndarray) -> dict[str, np.ndarray]:
    """Return the parts of the scores of some posts for a single article, as `shares_of` does of all.

    Args:
        parts: the parts of a model that `PrunedQuery.supports`.
        query: the article.
        places: int64, ascending: indices of the posts.
    """
    scores = query.scores_at(parts.model, places)
    return parts_of(parts.model, query.articles, scores, lambda part: query.scores_at(part, places)[None])


def shares_of(parts: Parts, query: PartsQuery, scores: np.ndarray, fusion: Fusion) -> dict[str, np.ndarray]:
    """Return the parts of the scores of all posts, as `linker.ranking.shares.parts_of` does.

    Args:
        parts: the parts of the model.
        query: the articles as they were scored.
        scores: the model's raw scores, without fusion: float32, one per post.
        fusion: whether BM25 scores were added.
    """
    articles = query.articles

    def scores_of(part: Model) -> np.ndarray:
        return np.stack([query.scores_of(part, number) for number in range(len(articles))])

    found = parts_of(parts.model, articles, scores, scores_of)
    if fusion == "none":
        return found
    spread = scores.std(dtype=np.float64) or 1.0
    found = {name: part / spread for name, part in found.items()}
    words = BM25_WEIGHT * zscore(parts.postings("english").scores(articles))
    return {**found, SHARED_WORDS: found.get(SHARED_WORDS, 0.0) + words}


class CorpusStatistics:
    """Word statistics of the posts of a corpus.

    Args:
        parts: the parts of the model.
        articles: the query.
    """

    def __init__(self, parts: Parts, articles: Sequence[Article]) -> None:
        self._parts, self._articles = parts, articles
        self._tfidf: dict[tuple[str, int], list[TfidfQuery]] = {}

    def terms(self, part: SharesTerms, posts: Sequence[Post]) -> Carried:
        """Return what `Statistics.terms` describes."""
        if isinstance(part, TfidfModel):
            settings = part.stop_words, part.min_words
            if settings not in self._tfidf:
                self._tfidf[settings] = [
                    TfidfQuery(self._parts.postings(part.stop_words_for(article)), article, part.min_words)
                    for article in self._articles
                ]
            queries = self._tfidf[settings]
            return [mean_terms([query.terms(post.text) for query in queries]) for post in posts]
        assert isinstance(part, BM25Model)  # a corpus scores no other lexical model
        postings = self._parts.postings(part.stop_words)
        return [postings.terms(self._articles, post.text, part.k1, part.b) for post in posts]

    def rarity(self, counts: Mapping[str, int]) -> dict[str, float]:
        """Return what `Statistics.rarity` describes."""
        words = sorted(counts)
        postings = self._parts.postings("english")
        containing = postings.containing(keys_of(words)[:, 0]).tolist()
        return rarity(counts, dict(zip(words, containing)), postings.posts)

    def article_vectors(self, model: Model) -> np.ndarray | None:
        """Return what `Statistics.article_vectors` describes."""
        return self._parts.article_vectors(model, tuple(self._articles))

    def shortened_vectors(self, model: Model, post: Post) -> np.ndarray | None:
        """Return what `Statistics.shortened_vectors` describes."""
        return self._parts.shortened_vectors(model, post.text)
