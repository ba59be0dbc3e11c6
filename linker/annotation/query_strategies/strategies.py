"""Query strategies that need no classifier."""

import numpy as np

from linker.annotation.pool import Labels, Pool
from linker.annotation.query_strategies.query_strategy import (
    QueryStrategy,
    hybrid_scores,
    rank_unlabeled,
    unlabeled,
)
from linker.models.features.words import lexical_words


@QueryStrategy.register("random")
class RandomStrategy(QueryStrategy):
    """A new random order each time: a baseline of other strategies. In a session, all its posts are a random sample."""

    learns = False
    draws = True

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
