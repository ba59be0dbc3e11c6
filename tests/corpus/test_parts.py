"""A model made of others in a labeling session: the part with vectors does what needs vectors."""

from __future__ import annotations

import numpy as np

from linker.annotation.build_pool import build_pool
from linker.config import build
from linker.data.io.records import read_posts
from linker.data.types import Article
from linker.models.model import Model
from tests.conftest import toy_posts
from tests.corpus.conftest import CONFIG, some_posts, write_posts

WHOLE = {
    "type": "article_softmax",
    "temperature": 0.1,
    "null_score": 0.2,
    "model": {"type": "ensemble", "parts": ["tfidf", CONFIG], "weights": [0.5, 1], "fusion": "sum"},
}
ARTICLE = "harbour0 harbour1 harbour2 w1"


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
