"""The posts of one version of a corpus as a table of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

import lance
import numpy as np

from linker.corpus.encoding import encoders, words_file
from linker.corpus.engines.engine import Engine
from linker.corpus.indexes.estimates import can_estimate, estimated_scores
from linker.corpus.indexes.exact import Query, exact_scores
from linker.corpus.indexes.near_duplicates import Groups
from linker.corpus.indexes.vectors import CorpusVectors, packed, vectors_of
from linker.corpus.storage.reader import OF_POSTS, batches, posts_from
from linker.corpus.storage.rows import Rows
from linker.corpus.storage.shards import Shard, Shards
from linker.data.types import Article, Post
from linker.models.content_words import shortened
from linker.models.features import Encoder
from linker.models.model import Model
from linker.models.post_times import PostTimes
from linker.models.postings import Postings, Segment, words_of
from linker.models.word_statistics import WordStatistics

# Articles that are kept encoded, and explained posts: about 17 kB each, 70 MB in all.
_ARTICLES, _SHORTENED = 64, 4_096
#: Posts whose languages are identified.
_SAMPLED = 300


class CorpusTable:
    """The posts of a corpus; see `linker.models.features.PostTable`. What is missing is computed and stored.

    Args:
        dataset: the posts.
        shards: what was computed from them.
        model: the model that encoded them.
        engine: where posts are scored; within its `with` block.
    """

    def __init__(self, dataset: lance.LanceDataset, shards: Shards, model: Model, engine: Engine) -> None:
        self.dataset, self.model, self.engine = dataset, model, engine
        self.rows = Rows(dataset)
        self._shards, self._count = shards, shards.posts  # counting them opens files
        self._names = {encoder: name for name, encoder in encoders(model).items()}
        self._vectors: dict[Encoder, CorpusVectors] = {}
        self._postings: dict[str, Postings] = {}
        self._encoded = lru_cache(_ARTICLES)(lambda encoder, articles: encoder.article_vectors(articles))
        self._shortened = lru_cache(_SHORTENED)(
            lambda encoder, text: encoder.post_vectors(shortened(text).posts)
        )

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

    def posts(self, rows: np.ndarray | None = None) -> Sequence[Post]:
        """Return the posts in these rows; None: all."""
        rows = np.arange(len(self)) if rows is None else rows
        return posts_from(self.rows.at(rows, OF_POSTS)) if len(rows) else []

    def postings(self, stop_words: str) -> Postings:
        """Return the posts' words without these `stop_words` of `lexical_words`."""
        if stop_words not in self._postings:
            arrays = self._shards.arrays(
                words_file(stop_words), "reading words", lambda shard: words_of(shard.texts(), stop_words)
            )
            segments = [Segment.of(one, shard.live) for one, shard in zip(arrays, self._shards)]
            self._postings[stop_words] = Postings(segments, stop_words)
        return self._postings[stop_words]

    def article_vectors(self, encoder: Encoder, articles: Sequence[Article]) -> np.ndarray:
        """Return the embeddings of articles, those of recent questions without encoding them: float32, n × dim."""
        return np.asarray(self._encoded(encoder, tuple(articles)))

    def similarities(self, encoder: Encoder, vectors: np.ndarray, rows: np.ndarray | None) -> np.ndarray:
        """Return the exact similarities of posts, each independent of the others in every bit: float32, n × rows."""
        of_posts = self._vectors_of(encoder)
        queries = [Query(vector[None], encoder.similarity) for vector in vectors]
        if rows is not None:
            taken = of_posts.taken(rows)
            return np.stack([exact_scores(taken, query) for query in queries])
        with self.engine:
            return np.stack([self.engine.scores(of_posts, query) for query in queries])

    def upper_similarities(self, encoder: Encoder, vector: np.ndarray) -> np.ndarray | None:
        """Return upper bounds of the similarities of all posts: float32; None if exact ones take as long."""
        vectors, query = self._vectors_of(encoder), Query(vector[None], encoder.similarity)
        if not self.engine.prunes or not can_estimate(vectors, query):
            return None
        scores, error = estimated_scores(vectors, query)
        return np.add(scores, np.float32(error), out=scores)

    def shortened_vectors(self, encoder: Encoder, text: str) -> np.ndarray:
        """Return the embeddings of a text and of it without each of its content words: float32, texts × dim.

        They do not depend on the article: those of recently explained posts are not computed again.
        """
        return np.asarray(self._shortened(encoder, text))

    def _vectors_of(self, encoder: Encoder) -> CorpusVectors:
        if encoder not in self._vectors:

            def made(shard: Shard) -> dict[str, np.ndarray]:
                return packed(encoder.post_vectors([Post("", text) for text in shard.texts()]))

            arrays = self._shards.arrays(self._names[encoder], "encoding posts", made)
            self._vectors[encoder] = vectors_of(self._shards, arrays)
        return self._vectors[encoder]

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


class CountedElsewhere:
    """A table whose words are counted in other posts.

    Args:
        table: the table.
        statistics: the counts, by stop words; others are those of the table.
    """

    def __init__(self, table: CorpusTable, statistics: Mapping[str, WordStatistics]) -> None:
        self._table, self._statistics = table, statistics
        self._postings: dict[str, Postings] = {}

    def __len__(self) -> int:
        return len(self._table)

    def __getattr__(self, name: str) -> object:
        return getattr(self._table, name)

    def postings(self, stop_words: str) -> Postings:
        """Return the posts' words with the counts of words in the other posts."""
        if stop_words not in self._statistics:
            return self._table.postings(stop_words)
        if stop_words not in self._postings:
            counted = self._table.postings(stop_words).counted_by(self._statistics[stop_words])
            self._postings[stop_words] = counted
        return self._postings[stop_words]
