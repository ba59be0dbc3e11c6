"""What a search for the words of the headline finds."""

from __future__ import annotations

import numpy as np

from linker.annotation.labels import Labels
from linker.annotation.ordering import OrderingStrategy
from linker.annotation.pool import Pool
from linker.annotation.strategies.by_score import best_first
from linker.models.lexical import lexical_words


@OrderingStrategy.register("keywords")
class KeywordOrder(OrderingStrategy):
    """By how many different words of a seed article's title stand in the post; its text's words without a title.

    Of several articles the one counts that has the most. Function words do not count; labels change nothing.
    """

    learns = False

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """The most words first."""
        titles = [set(lexical_words(article.title or article.text)) for article in pool.articles]
        posts = (set(lexical_words(post.text)) for post in pool.posts)
        counts = np.array([max(len(words & title) for title in titles) for words in posts], dtype=np.int64)
        return best_first(counts, pool, labels)
