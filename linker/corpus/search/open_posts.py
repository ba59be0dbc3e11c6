"""Posts of a corpus that is open: what the searches of one version share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import lance
import numpy as np

from linker.corpus.engines.engine import Engine
from linker.corpus.indexes.exact import Query
from linker.corpus.indexes.near_duplicates import Groups
from linker.corpus.indexes.vectors import CorpusVectors
from linker.corpus.search.fusion import Fusion, fuse
from linker.corpus.search.parts import Parts, PartsQuery, pieces_of, scores_of_parts
from linker.corpus.search.pruning import PrunedQuery
from linker.corpus.storage.rows import Rows
from linker.corpus.storage.shards import Shards
from linker.data.types import Article, Post
from linker.models.elapsed_time import uses_dates
from linker.models.model import Model
from linker.models.passage_pooling import Passages
from linker.models.score_scale import ScoreScale

#: Posts whose languages are identified.
_SAMPLED = 300


class OpenPosts:
    """The posts of one version of a corpus, with the indexes that score them.

    Args:
        dataset: the posts.
        shards: what was computed from them.
        model: the model that encoded them.
        similarity: `cosine`, `dot` or `euclidean`.
        engine: where posts are scored.
    """

    def __init__(
        self, dataset: lance.LanceDataset, shards: Shards, model: Model, similarity: str, engine: Engine
    ) -> None:
        self.dataset, self.model, self.engine = dataset, model, engine
        self.rows = Rows(dataset)
        self.parts = Parts(shards, model)
        self._shards, self._similarity = shards, similarity

    def __len__(self) -> int:
        return self.parts.posts

    def uses_dates(self, articles: Sequence[Article]) -> bool:
        """Return whether scores depend on when the articles and the posts were published."""
        return uses_dates(self.model, articles, dated_posts=True) and self.parts.times.known

    def scale(self, articles: Sequence[Article], fusion: Fusion) -> ScoreScale:
        """Return the map from raw scores to those that users see."""
        if fusion != "none":
            return ScoreScale("standardized")
        scale = self.model.score_scale()
        return scale if self.uses_dates(articles) else scale.without_dates()

    @cached_property
    def sample(self) -> list[Post]:
        """Return the texts and languages of up to 300 posts, evenly spaced."""
        return self.sample_of(range(len(self)))

    def sample_of(self, places: np.ndarray | range) -> list[Post]:
        """Return the texts and languages of up to 300 of the posts at these indices, evenly spaced."""
        at = np.asarray(places[:: max(1, -(-len(places) // _SAMPLED))], dtype=np.int64)
        rows = self.rows.at(at, ["text", "lang"]).to_pylist() if len(at) else []
        return [Post(str(n), row["text"], extra={"lang": row["lang"]}) for n, row in enumerate(rows)]

    def ids(self, places: np.ndarray) -> list[str]:
        """Return the ids of the posts at these indices."""
        return list(self.rows.at(places, ["id"]).column("id").to_pylist()) if len(places) else []

    def scores(
        self,
        query: PartsQuery,
        starts: np.ndarray,
        articles: Sequence[Article],
        passages: Passages,
        fusion: Fusion,
    ) -> np.ndarray:
        """Return the mean raw score of every post over the articles: float32, in the order of the store."""
        with self.engine:
            if self.parts.plain:
                scores = self.engine.scores(self.vectors(), self.query(articles, passages))
            else:
                scores = scores_of_parts(self.parts, query, starts, passages)
        if fusion == "none":
            return scores
        return fuse(scores, self.parts.postings("english").scores(articles))

    def can_prune(self, articles: Sequence[Article], passages: Passages, fusion: Fusion) -> bool:
        """Return whether bounds of scores can leave posts out; see `PrunedQuery`."""
        return (
            fusion == "none"
            and self.engine.prunes
            and len(articles) == 1
            and passages == "whole"
            and PrunedQuery.supports(self.model)
        )

    def query(self, articles: Sequence[Article], passages: Passages) -> Query:
        """Return the query by the embeddings of the first part."""
        pieces, starts = pieces_of(articles, passages)
        vectors = self.parts.first.article_vectors(pieces)
        assert vectors is not None  # the fingerprint says that it has vectors
        how: Literal["best", "mean"] = "mean" if passages == "mean" else "best"
        return Query(np.split(vectors, starts[1:]), self._similarity, how)

    def vectors(self) -> CorpusVectors:
        """Return the embeddings of the first part."""
        return self.parts.vectors(self.parts.first)

    @cached_property
    def groups(self) -> np.ndarray:
        """Return the group of near-duplicates of every post: int64, in the order of the store."""
        return Groups(self._shards).complete()

    @cached_property
    def members(self) -> np.ndarray:
        """Return the number of posts of each group, 0 for other numbers: int64, see `groups`."""
        return np.bincount(self.groups)

    @cached_property
    def posts_per_group(self) -> float:
        """Return the mean number of posts of a group; 1 for no posts."""
        return max(1.0, len(self) / max(1, int(np.count_nonzero(self.members))))
