"""The posts of one version of a corpus as a table of features."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np
from typing_extensions import override

from linker.corpus.encoding import WORDS, encoders
from linker.corpus.filters import is_in, passing_rows
from linker.corpus.indexes.estimates import can_estimate, estimated_scores
from linker.corpus.indexes.exact import exact_scores
from linker.corpus.indexes.near_duplicates import stored_groups
from linker.corpus.indexes.vectors import CorpusVectors, packed, vectors_of
from linker.corpus.storage.reader import OF_POSTS, batches, posts_from
from linker.corpus.storage.rows import Rows
from linker.corpus.storage.shards import Shard, Shards
from linker.data.labels.post_labels import LabelFile
from linker.data.labels.records import SampledLabels
from linker.data.post_filter import Filter
from linker.data.types import Article, Post
from linker.models.features.content_words import shortened
from linker.models.features.post_times import PostTimes
from linker.models.features.postings import Segment, postings_of
from linker.models.features.table import PostTable
from linker.models.features.text_encoder import TextEncoder
from linker.models.model import Model

# Articles that are kept encoded, and explained posts: about 17 kB each, 70 MB in all.
_ARTICLES, _SHORTENED = 64, 4_096
#: Posts whose languages are identified.
_SAMPLED = 300


class CorpusTable(PostTable):
    """The posts of a corpus. What is missing of features is computed and stored.

    Args:
        shards: the posts, and what was computed from them.
        model: the model that encoded them.
    """

    def __init__(self, shards: Shards, model: Model) -> None:
        super().__init__()
        self.dataset, self._shards = shards.dataset, shards
        self._rows = Rows(self.dataset)
        self._count = shards.posts  # counting them opens files
        self._names = {encoder: name for name, encoder in encoders(model).items()}
        self._vectors: dict[TextEncoder, CorpusVectors] = {}
        self._encoded = lru_cache(_ARTICLES)(lambda encoder, articles: encoder.article_vectors(articles))
        self._shortened = lru_cache(_SHORTENED)(
            lambda encoder, text: encoder.post_vectors(shortened(text).posts)
        )

    @override
    def __len__(self) -> int:
        return self._count

    @cached_property
    def times(self) -> PostTimes:
        """Return when the posts were created."""
        import pyarrow as pa  # of the extra `corpus`

        parts = [np.zeros(0)]
        for batch in batches(self.dataset, ["created_at"]):
            micros = batch.column("created_at").cast(pa.timestamp("us", "UTC")).cast(pa.int64())
            parts.append(micros.to_numpy(zero_copy_only=False) / 1e6)
        return PostTimes(np.concatenate(parts))

    @override
    def posts(self, rows: np.ndarray | None = None) -> Sequence[Post]:
        rows = np.arange(len(self)) if rows is None else rows
        return posts_from(self._rows.at(rows, OF_POSTS)) if len(rows) else []

    @override
    def ids(self, rows: np.ndarray) -> list[str]:
        return list(self._rows.at(rows, ["id"]).column("id").to_pylist()) if len(rows) else []

    @cached_property
    def groups(self) -> np.ndarray:
        """Return the group of near-duplicates of each post: int64."""
        return stored_groups(self._shards)

    @override
    def passing(self, conditions: Filter) -> np.ndarray | None:
        return passing_rows(conditions, self.dataset)

    @override
    def labeled(self, labels: LabelFile) -> tuple[SampledLabels, np.ndarray]:
        rows = passing_rows(Filter(where=is_in("id", labels.ids)), self.dataset) if labels.ids else None
        rows = np.arange(0) if rows is None else rows
        return labels.among_ids(set(self.ids(rows))), rows

    @override
    def sample(self, rows: np.ndarray | None) -> Sequence[Post]:
        count = len(self) if rows is None else len(rows)
        spaced = np.arange(0, count, max(1, -(-count // _SAMPLED)))
        chosen = spaced if rows is None else rows[spaced]
        sampled = self._rows.at(chosen, ["text", "lang"]).to_pylist() if len(chosen) else []
        return [Post(str(n), row["text"], extra={"lang": row["lang"]}) for n, row in enumerate(sampled)]

    @override
    def segments(self, stop_words: str) -> Sequence[Segment]:
        arrays = self._shards.arrays(
            WORDS + stop_words, "reading words", lambda shard: postings_of(shard.texts(), stop_words)
        )
        return [Segment.of(of_shard, shard.live) for of_shard, shard in zip(arrays, self._shards)]

    @override
    def similarities(self, encoder: TextEncoder, vectors: np.ndarray, rows: np.ndarray | None) -> np.ndarray:
        """Return the exact similarities of posts, each independent of the others in every bit: float32, n × rows."""
        of_posts = self._vectors_of(encoder)
        scored = of_posts if rows is None else of_posts.taken(rows)
        return np.stack([exact_scores(scored, vector, encoder.similarity) for vector in vectors])

    @override
    def upper_similarities(self, encoder: TextEncoder, vector: np.ndarray) -> np.ndarray | None:
        vectors = self._vectors_of(encoder)
        if not can_estimate(vectors, encoder.similarity):
            return None
        scores, error = estimated_scores(vectors, vector)
        return np.add(scores, np.float32(error), out=scores)

    @override
    def article_vectors(self, encoder: TextEncoder, articles: Sequence[Article]) -> np.ndarray:
        """Return the embeddings of articles, those of recent questions without encoding them: float32, n × dim."""
        return np.asarray(self._encoded(encoder, tuple(articles)))

    @override
    def shortened_vectors(self, encoder: TextEncoder, text: str) -> np.ndarray:
        """Return the embeddings of a text and of it without each of its content words: float32, texts × dim.

        They do not depend on the article: those of recently explained posts are not computed again.
        """
        return np.asarray(self._shortened(encoder, text))

    def _vectors_of(self, encoder: TextEncoder) -> CorpusVectors:
        if encoder not in self._vectors:

            def made(shard: Shard) -> dict[str, np.ndarray]:
                return packed(encoder.post_vectors([Post("", text) for text in shard.texts()]))

            arrays = self._shards.arrays(self._names[encoder], "encoding posts", made)
            self._vectors[encoder] = vectors_of(self._shards, arrays)
        return self._vectors[encoder]
