"""Nearness in time: hand-computed values, what is not known, and beside words."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import numpy as np
import pytest

from linker.common.errors import ConfigError
from linker.config import build
from linker.data.types import Article, Post
from linker.models.model import Model

NOON = datetime(2031, 5, 14, 12, tzinfo=timezone.utc)


def article(name: str, days: float | None) -> Article:
    return Article(name, "flood", published=None if days is None else NOON + timedelta(days=days))


def post(name: str, days: float | None, text: str = "flood") -> Post:
    return Post(name, text, created_at=None if days is None else NOON + timedelta(days=days))


def near(**settings: float) -> Model:
    model: Model = build(Model, {"type": "near_in_time", **settings})
    return model


def test_by_hand_before_and_after_alike() -> None:
    articles, posts = [article("a", 0), article("b", 3)], [post("p", 1), post("q", -1), post("r", 0)]
    ours = near(days=1).score(articles, posts)
    np.testing.assert_allclose(ours, -np.log([[2, 2, 1], [3, 5, 4]]), rtol=1e-6)
    np.testing.assert_allclose(near(days=2).score(articles, posts)[0, 0], -np.log(1.5), rtol=1e-6)
    assert ours.dtype == np.float32


def test_a_pair_without_a_time_is_like_the_others_of_its_post() -> None:
    articles, posts = [article("a", 0), article("b", None), article("c", 2)], [post("p", 1), post("q", None)]
    scores = near().score(articles, posts)
    np.testing.assert_allclose(scores[:, 0], [-np.log(2)] * 3, rtol=1e-6)
    assert not scores[:, 1].any()
    assert near().score([article("b", None)], posts).tolist() == [[0, 0]]
    assert near().score([], posts).shape == (0, 2)


def test_beside_words_it_decides_between_stories_that_read_alike() -> None:
    parts = ["tfidf", {"type": "near_in_time"}]
    model: Model = build(Model, {"type": "hybrid", "fusion": "sum", "parts": parts, "weights": [1, 0.06]})
    articles = [article("this week's", 0), article("last year's", -365)]
    posts = [post("p", 1), post("q", -360), post("far in words", 0, "a goal in the last minute")]
    scores = model.score(articles, posts)
    assert scores[0, 0] > scores[1, 0]
    assert scores[1, 1] > scores[0, 1]
    assert scores[0].argmin() == 2


def test_days_are_above_0() -> None:
    with pytest.raises(ConfigError, match="days"):
        near(days=0)
