"""The similarity of the posts that a model ranks first, by a network that is too slow for all posts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from typing_extensions import override

from linker.data.types import Article
from linker.models.features.feature import TEXT, Feature
from linker.models.features.table import PostTable
from linker.models.features.text_encoder import TextEncoder

if TYPE_CHECKING:
    from linker.models.model import Model

#: Posts that are ranked again; more of them change little.
_FIRST = 30
#: Posts that tie with the last are ranked again, too, unless there are more in all, such as copies.
_MOST = 1_000
#: The highest similarity that unrelated texts usually have.
UNRELATED = 0.2


@dataclass(frozen=True)
class FirstPosts(Feature):
    """How much the similarity of each of the first 30 posts for an article is above 0.2; 0 of the other posts.

    No post falls behind the others. Posts with the score of the last one count, too. All have 0 where dates are known,
    which text would outweigh, and where several articles are scored together.

    Attributes:
        model: ranks the posts first.
        network: embeds the first ones and the articles.
    """

    model: Model
    network: TextEncoder
    share = TEXT

    @override
    def scores(
        self, table: PostTable, articles: Sequence[Article], rows: np.ndarray | None = None
    ) -> np.ndarray:
        scores = np.zeros((len(articles), len(table)), dtype=np.float32)
        undated = np.flatnonzero([one.published is None or not table.times.known for one in articles])
        if len(undated) and len(table):
            query, last = [articles[i] for i in undated.tolist()], max(len(table) - _FIRST, 0)
            before = self.model.score_table(table, query)
            least = np.partition(before, last)[:, last, None]
            first = before >= least
            first &= (first.sum(axis=1, keepdims=True) <= _MOST) | (before > least)
            chosen = np.flatnonzero(first.any(axis=0))
            of_articles = table.article_vectors(self.network, query)
            found = self.network.similarities(of_articles, self.network.post_vectors(table.posts(chosen)))
            scores[np.ix_(undated, chosen)] = (found - UNRELATED).clip(0) * first[:, chosen]
        return scores if rows is None else scores[:, rows]

    @override
    def scores_together(self, table: PostTable, articles: Sequence[Article]) -> np.ndarray:
        zeros = np.zeros((len(articles), len(table)), dtype=np.float32)
        return self.scores(table, articles) if len(articles) == 1 else zeros
