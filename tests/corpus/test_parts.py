"""A model made of others in a corpus and in a labeling session: the part with vectors does what needs vectors."""

from __future__ import annotations

import numpy as np
import pytest

from linker.annotation.build_pool import build_pool
from linker.common.errors import ModelError
from linker.config import build, resolve
from linker.corpus.builder import build_corpus
from linker.corpus.corpus import Corpus
from linker.data.io.columns import PostColumns
from linker.data.io.records import read_posts
from linker.data.types import Article
from linker.models.files.archive import load_model, save_model
from linker.models.model import Model
from linker.models.pretrained import DISTILLED
from tests.conftest import toy_posts
from tests.corpus.conftest import CONFIG, some_posts, write_posts

WHOLE = {
    "type": "article_softmax",
    "temperature": 0.1,
    "null_score": 0.2,
    "model": {"type": "ensemble", "parts": ["tfidf", CONFIG], "weights": [0.5, 1], "fusion": "sum"},
}
ARTICLE = "harbour0 harbour1 harbour2 w1"


@pytest.fixture
def folder(tmp_path):
    model = build(Model, WHOLE)
    model.prepare(toy_posts())
    save_model(model, tmp_path / "model", {"model": resolve(Model, WHOLE)}, {}, "")
    return tmp_path / "model"


def test_a_corpus_scores_as_the_whole_model(folder, tmp_path):
    posts = write_posts(tmp_path / "posts.jsonl", some_posts(60))
    build_corpus(tmp_path / "corpus", [posts], str(folder), PostColumns())
    got = Corpus.open(tmp_path / "corpus").rank(ARTICLE, top=None, copies=True)
    model = load_model(folder)
    raw = model.score_independently([Article("a", ARTICLE)], [ranked.post for ranked in got])[0]
    np.testing.assert_allclose([ranked.score for ranked in got], model.score_scale()(raw), atol=1e-3)
    assert [ranked.score for ranked in got] == sorted((ranked.score for ranked in got), reverse=True)


def test_the_bundled_model_is_found_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    posts = write_posts(tmp_path / "posts.jsonl", some_posts(20))
    build_corpus(tmp_path / "corpus", [posts], DISTILLED, PostColumns())
    assert len(Corpus.open(tmp_path / "corpus").rank(ARTICLE, top=5)) == 5


def test_a_model_whose_parts_have_no_vectors_is_refused(tmp_path):
    lexical = {"type": "ensemble", "parts": ["tfidf", "bm25"]}
    save_model(build(Model, lexical), tmp_path / "lexical", {"model": resolve(Model, lexical)}, {}, "")
    posts = write_posts(tmp_path / "posts.jsonl", some_posts(5))
    with pytest.raises(ModelError, match="has no embeddings to store in a corpus"):
        build_corpus(tmp_path / "corpus", [posts], str(tmp_path / "lexical"), PostColumns())


def test_a_labelling_session_has_the_scores_of_the_whole(folder, tmp_path):
    posts = read_posts(write_posts(tmp_path / "posts.jsonl", some_posts(60)))
    articles = [Article("a", ARTICLE), Article("b", "glacier0 glacier1 w2")]
    model = load_model(folder)
    pool = build_pool(articles, posts, model)
    assert pool.vectors is not None
    assert pool.vectors.shape == (len(pool.posts), 8)
    alone = model.score_independently(articles, pool.posts)
    np.testing.assert_allclose(pool.scores, alone.mean(axis=0), atol=1e-4)
    assert np.abs(pool.scores - model.score(articles, pool.posts).mean(axis=0)).max() > 1e-3
