"""Scoring articles one at a time is what scoring a single article is, for every model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.config import build
from linker.data.types import Article, LinkedPosts, Post
from linker.models.model import Model
from linker.models.tfidf import TfidfModel

TIMED_WORDS = {"type": "ensemble", "parts": ["tfidf", "elapsed_time"], "fusion": "sum"}
CONFIGS: list[Any] = [
    "bm25",
    "tfidf",
    {"type": "tfidf", "stop_words": "none"},
    "elapsed_time",
    "bundled_multilingual",
    {"type": "ensemble", "parts": ["tfidf", "bm25"]},
    {
        "type": "article_softmax",
        "temperature": 0.1,
        "null_score": 0.3,
        "neighbor_weight": 0.3,
        "model": TIMED_WORDS,
    },
    {
        "type": "article_softmax",
        "temperature": 0.1,
        "null_score": 0.3,
        "model": "tfidf",
        "time": "elapsed_time",
    },
]


def one_by_one(model: Model, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
    return np.concatenate([model.score([article], posts) for article in articles])


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_one_at_a_time_is_one_call_per_article(config: Any, toy: LinkedPosts) -> None:
    model: Model = build(Model, config)
    undated = [Article("undated", "harbour1 volcano2 w3 w4"), Article("wordless", "…")]
    articles, posts = [*toy.articles, *undated], [*toy.posts, Post("empty", ""), Post("p", "unheard words")]
    alone = model.score_independently(articles, posts)
    assert alone.dtype == np.float32
    np.testing.assert_allclose(alone, one_by_one(model, articles, posts), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("config", ["tfidf", CONFIGS[-1]], ids=str)
def test_it_differs_from_scoring_all_articles_together(config: Any, toy: LinkedPosts) -> None:
    model: Model = build(Model, config)
    together = model.score(toy.articles, toy.posts)
    assert np.abs(together - model.score_independently(toy.articles, toy.posts)).max() > 0.01


TEXTS = st.lists(st.lists(st.sampled_from(["storm", "flood", "vote", "court"]), max_size=5), max_size=6)


@given(TEXTS, TEXTS, st.integers(0, 4))
def test_tfidf_of_any_texts(articles: list[list[str]], posts: list[list[str]], min_words: int) -> None:
    queries = [Article(str(i), " ".join(words)) for i, words in enumerate([*articles, ["storm"]])]
    pool = [Post(str(i), " ".join(words)) for i, words in enumerate([*posts, ["flood"]])]
    model = TfidfModel(min_words=min_words)
    alone = model.score_independently(queries, pool)
    np.testing.assert_allclose(alone, one_by_one(model, queries, pool), rtol=1e-5, atol=1e-6)
