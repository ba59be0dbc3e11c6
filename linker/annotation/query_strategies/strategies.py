"""Query strategies that need no classifier."""

from __future__ import annotations

import numpy as np

from linker.annotation.pool import Labels, Pool
from linker.annotation.query_strategies.query_strategy import (
    QueryStrategy,
    hybrid_scores,
    rank_unlabeled,
    unlabeled,
)
from linker.common.checks import at_least
from linker.common.stats import zscore
from linker.models.features.words import lexical_words


@QueryStrategy.register("random")
class RandomStrategy(QueryStrategy):
    """A new random order each time: the baseline of the other strategies."""

    learns = False

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """Return a uniformly random permutation."""
        return generator.permutation(unlabeled(pool, labels))


@QueryStrategy.register("keywords")
class KeywordStrategy(QueryStrategy):
    """Rank by the number of distinct words that a post shares with a seed article's title (its text, if untitled).

    Of several articles, the one with most shared words counts. Stop words are ignored; labels have no effect.
    """

    learns = False

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """Rank by the number of shared words."""
        titles = [set(lexical_words(article.title or article.text)) for article in pool.articles]
        posts = (set(lexical_words(post.text)) for post in pool.posts)
        counts = np.array([max(len(words & title) for title in titles) for words in posts], dtype=np.int64)
        return rank_unlabeled(counts, pool, labels)


@QueryStrategy.register("lexical")
class LexicalStrategy(QueryStrategy):
    """Rank by BM25 for the seed articles; labels have no effect."""

    learns = False

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """Rank by score."""
        return rank_unlabeled(pool.lexical_scores, pool, labels)


@QueryStrategy.register("seed_similarity")
class SeedSimilarityStrategy(QueryStrategy):
    """Rank by the model's score for the seed articles (Danovitch 2020, section 5); labels have no effect.

    Paper: Danovitch 2020, https://arxiv.org/abs/2001.03303
    """

    learns = False

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """Rank by score."""
        return rank_unlabeled(pool.scores, pool, labels)


@QueryStrategy.register("hybrid")
class HybridStrategy(QueryStrategy):
    """Rank by the sum of the z-scores of model and BM25 over the pool; labels have no effect."""

    learns = False

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """Rank by the sum of the z-scores."""
        return rank_unlabeled(hybrid_scores(pool), pool, labels)


@QueryStrategy.register("rocchio")
class RocchioStrategy(QueryStrategy):
    """Rocchio's relevance feedback (1971) on TF-IDF vectors and on the model's embeddings; the z-scores are added.

    The query is the mean of the seed articles + `beta` × the mean of the relevant posts − `gamma` × the mean of
    the posts that are not relevant.

    Args:
        beta: weight of relevant posts, at least 0.
        gamma: weight of posts that are not relevant, at least 0.
    """

    def __init__(self, beta: float = 0.75, gamma: float = 0.15) -> None:
        at_least(0, beta=beta, gamma=gamma)
        self.beta, self.gamma = beta, gamma

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """Rank by similarity to the moved query."""
        relevant, others = labels.posts[labels.relevant], labels.posts[~labels.relevant]
        scores = np.zeros(len(pool), dtype=np.float32)
        for vectors, seeds in ((pool.words, pool.article_words), (pool.vectors, pool.article_vectors)):
            if vectors is None or seeds is None:
                continue
            query = np.asarray(seeds.mean(axis=0)).ravel()
            for factor, places in ((self.beta, relevant), (-self.gamma, others)):
                if len(places):
                    query = query + factor * np.asarray(vectors[places].mean(axis=0)).ravel()
            scores = scores + zscore(vectors @ query)
        return rank_unlabeled(scores, pool, labels)
