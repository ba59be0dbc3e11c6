"""Models with parts or without embeddings: a labeling session and a corpus have the scores of the whole."""

import numpy as np
import pytest

from linker.annotation.build_pool import build_pool
from linker.common.errors import DataError
from linker.config import build
from linker.corpus.compaction import compact
from linker.corpus.export import export_parquet
from linker.corpus.storage.store import Store
from linker.corpus.table import CorpusTable
from linker.data.io.records import read_posts
from linker.data.types import Article
from linker.models.features.memory_table import MemoryTable
from linker.models.model import Model
from tests.conftest import toy_posts
from tests.corpus.conftest import CONFIG, add, build_of, some_posts, write_posts

WHOLE = {
    "type": "article_softmax",
    "temperature": 0.1,
    "null_score": 0.2,
    "model": {"type": "ensemble", "parts": ["tfidf", CONFIG], "weights": [0.5, 1], "fusion": "sum"},
}
ARTICLE = "harbour0 harbour1 harbour2 w1"


def test_models_without_embeddings_have_the_scores_of_the_whole(tmp_path):
    class Lengths(Model):
        def score(self, articles, posts):
            return np.tile(np.array([len(post.text) for post in posts], np.float32), (len(articles), 1))

    build_of(tmp_path / "words", some_posts(60), "bm25")
    add(tmp_path / "words", some_posts(70))
    compact(Store.open(tmp_path / "words"))
    for model in (build(Model, "bm25"), Lengths()):
        shards = Store.open(tmp_path / "words").shards()
        assert shards is not None
        table = CorpusTable(shards, model)
        expected = model.score_table(MemoryTable(table.posts()), [Article("a", ARTICLE)])
        np.testing.assert_array_equal(model.score_table(table, [Article("a", ARTICLE)]), expected)
    with pytest.raises(DataError, match=r"its model \(bm25\) has no embeddings to export"):
        export_parquet(Store.open(tmp_path / "words"), tmp_path / "e.parquet")


def test_a_labelling_session_has_the_scores_of_the_whole(tmp_path):
    posts = read_posts(write_posts(tmp_path / "posts.jsonl", some_posts(60)))
    articles = [Article("a", ARTICLE), Article("b", "glacier0 glacier1 w2")]
    model = build(Model, WHOLE)
    model.prepare(toy_posts())
    pool = build_pool(articles, posts, model)
    assert pool.vectors is not None
    assert pool.vectors.shape == (len(pool.posts), 8)
    alone = model.score_independently(articles, pool.posts)
    np.testing.assert_allclose(pool.scores, alone.mean(axis=0), atol=1e-4)
    assert np.abs(pool.scores - model.score(articles, pool.posts).mean(axis=0)).max() > 1e-3
