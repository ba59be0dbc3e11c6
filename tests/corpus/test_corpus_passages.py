"""A corpus asked passage by passage."""

from __future__ import annotations

import numpy as np
import pytest

import linker
from linker.common.errors import LinkerError
from linker.config import build, resolve
from linker.corpus.builder import build_corpus
from linker.corpus.corpus import Corpus
from linker.data.io.columns import PostColumns
from linker.data.types import Article
from linker.models.files.archive import save_model
from linker.models.model import Model
from tests.conftest import toy_posts
from tests.corpus.conftest import CONFIG, some_posts, write_posts

LONG = Article(
    "a", "The harbour0 met harbour1 at w3 w4. " * 20 + "Then glacier1 w5 came to glacier2. " * 12, "News"
)
SHORT = Article("b", "orchard1 orchard2 w7", "Apples")


@pytest.mark.parametrize("passages", ["best", "mean"])
@pytest.mark.parametrize("articles", [[LONG], [LONG, SHORT]], ids=["one", "two"])
def test_ranks_as_without_a_corpus(tmp_path, model_folder, passages, articles):
    posts = write_posts(tmp_path / "posts.jsonl", some_posts(120))
    build_corpus(tmp_path / "corpus", [posts], str(model_folder), PostColumns())
    corpus = Corpus.open(tmp_path / "corpus")
    expected = linker.load(model_folder).rank(articles, tmp_path / "posts.jsonl", passages=passages)
    got = corpus.rank(articles, top=None, copies=True, passages=passages)
    np.testing.assert_allclose([r.score for r in got], [r.score for r in expected], atol=1e-4)
    assert [r.post.id for r in got][:10] == [r.post.id for r in expected][:10]
    whole = corpus.rank(articles, top=None, copies=True)
    assert [r.score for r in got] != [r.score for r in whole]
    with pytest.raises(LinkerError, match="explanations"):
        corpus.rank(articles, explain=True, passages=passages)


@pytest.mark.parametrize("passages", ["best", "mean"])
def test_distances_are_taken_passage_by_passage(tmp_path, passages):
    config = {**CONFIG, "similarity": "euclidean"}
    model = build(Model, config)
    model.prepare(toy_posts())
    save_model(model, tmp_path / "model", {"model": resolve(Model, config)}, {}, "")
    posts = write_posts(tmp_path / "posts.jsonl", some_posts(60))
    build_corpus(tmp_path / "corpus", [posts], str(tmp_path / "model"), PostColumns())
    corpus = Corpus.open(tmp_path / "corpus")
    expected = linker.load(tmp_path / "model").rank(
        [LONG, SHORT], tmp_path / "posts.jsonl", passages=passages
    )
    got = corpus.rank([LONG, SHORT], top=None, copies=True, passages=passages)
    of_post = {r.post.id: r.score for r in expected}
    assert all(0 < r.score < 100 for r in got)
    np.testing.assert_allclose([r.score for r in got], [of_post[r.post.id] for r in got], atol=1e-2)
