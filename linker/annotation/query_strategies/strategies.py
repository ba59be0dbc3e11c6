"""The seed articles moved towards what was found, and away from the rest."""

from __future__ import annotations

import numpy as np

from linker.annotation.pool import Labels, Pool
from linker.annotation.query_strategies.query_strategy import (
    QueryStrategy,
    rank_unlabeled,
    unlabeled,
)
from linker.common.checks import at_least
from linker.common.stats import zscore
from linker.models.lexical import lexical_words


@QueryStrategy.register("random")
class RandomStrategy(QueryStrategy):
    """Drawn anew each time: what the other strategies have to beat."""

    learns = False

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """A permutation, all equally likely."""
        return generator.permutation(unlabeled(pool, labels))


@QueryStrategy.register("keywords")
class KeywordStrategy(QueryStrategy):
    """By how many different words of a seed article's title stand in the post; its text's words without a title.

    Of several articles the one counts that has the most. Function words do not count; labels change nothing.
    """

    learns = False

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """The most words first."""
        titles = [set(lexical_words(article.title or article.text)) for article in pool.articles]
        posts = (set(lexical_words(post.text)) for post in pool.posts)
        counts = np.array([max(len(words & title) for title in titles) for words in posts], dtype=np.int64)
        return rank_unlabeled(counts, pool, labels)


@QueryStrategy.register("lexical")
class LexicalStrategy(QueryStrategy):
    """By BM25 for the seed articles; labels change nothing."""

    learns = False

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """The best score first."""
        return rank_unlabeled(pool.lexical_scores, pool, labels)


@QueryStrategy.register("seed_similarity")
class SeedSimilarityStrategy(QueryStrategy):
    """By the model's score for the seed articles, as in Danovitch 2020, section 5; labels change nothing."""

    learns = False

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """The best score first."""
        return rank_unlabeled(pool.scores, pool, labels)


@QueryStrategy.register("hybrid")
class HybridStrategy(QueryStrategy):
    """By the sum of the model's and BM25's scores, each with mean 0 and standard deviation 1 over the pool."""

    learns = False

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """The best sum first; labels change nothing."""
        return rank_unlabeled(zscore(pool.scores) + zscore(pool.lexical_scores), pool, labels)


@QueryStrategy.register("rocchio")
class RocchioStrategy(QueryStrategy):
    """Rocchio's relevance feedback (1971), on TF-IDF words and on the model's vectors, the scores of both added.

    The query is the mean of the seed articles + `relevant` × the mean of the relevant posts − `other` × the mean of
    the others.

    Args:
        relevant: how strongly relevant posts attract.
        other: how strongly posts that are not relevant repel.
    """

    def __init__(self, relevant: float = 0.75, other: float = 0.15) -> None:
        at_least(0, relevant=relevant, other=other)
        self.relevant, self.other = relevant, other

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """The best score for the query first."""
        found, rest = labels.posts[labels.relevant], labels.posts[~labels.relevant]
        query = np.asarray(pool.article_words.mean(axis=0))[0]
        for factor, places in ((self.relevant, found), (-self.other, rest)):
            if len(places):
                query = query + factor * np.asarray(pool.words[places].mean(axis=0))[0]
        scores = zscore(pool.words @ query)
        if pool.vectors is not None and pool.article_vectors is not None:
            vector = pool.article_vectors.mean(axis=0)
            for factor, places in ((self.relevant, found), (-self.other, rest)):
                if len(places):
                    vector = vector + factor * pool.vectors[places].mean(axis=0)
            scores = scores + zscore(pool.vectors @ vector)
        return rank_unlabeled(scores, pool, labels)
