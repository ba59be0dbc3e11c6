"""Which pairs a reranker scores again, and what becomes of their scores."""

import numpy as np
import pytest
from typing_extensions import override

from linker.common.errors import ConfigError, LinkerError, ModelError
from linker.config import build
from linker.data.types import Article, Post
from linker.models.model import Model
from linker.models.pretrained import FOLDERS
from linker.models.reranking.reranker import RerankerModel


class Table(Model):
    """Scores by ids from a table; counts what it is asked for."""

    def __init__(self, table) -> None:
        self.table = np.array(table, dtype=np.float32)
        self.asked: list[tuple[int, int]] = []

    @override
    def score(self, articles, posts):
        return self.table[np.ix_([int(a.id) for a in articles], [int(p.id) for p in posts])]

    @override
    def score_pairs(self, articles, posts):
        self.asked += [(int(a.id), int(p.id)) for a, p in zip(articles, posts)]
        return np.array([self.table[int(a.id), int(p.id)] for a, p in zip(articles, posts)])


def reranker(first, second, **options):
    model = RerankerModel(Table(second), **options)
    model._loaded = Table(first)
    return model


ARTICLES = [Article(str(i), f"article {i}") for i in range(3)]
POSTS = [Post(str(j), f"post {j}") for j in range(4)]
FIRST = [[4, 3, 2, 1], [1, 2, 3, 4], [5, 0, 0, 5]]


def test_only_the_first_posts_of_an_article_are_scored_again():
    model = reranker(FIRST, np.full((3, 4), 10.0), top=2, weight=0.5)
    found = model.score_independently(ARTICLES[:2], POSTS)
    assert model.second_stage.asked == [(0, 0), (0, 1), (1, 2), (1, 3)]
    np.testing.assert_allclose(found, [[9, 8, 2, 1], [1, 2, 8, 9]])
    assert found.dtype == np.float32


def test_together_the_article_is_also_among_the_first_of_the_post():
    model = reranker(FIRST, np.ones((3, 4)), top=1, weight=1)
    found = model.score(ARTICLES, POSTS)
    # Post 0 is the first of articles 0 and 2, but article 2 is its first; post 3 likewise.
    assert model.second_stage.asked == [(2, 0), (2, 3)]
    np.testing.assert_allclose(found, [[4, 3, 2, 1], [1, 2, 3, 4], [6, 0, 0, 6]])


def test_one_article_has_the_same_scores_alone_and_in_a_call():
    model = reranker(FIRST, np.arange(12).reshape(3, 4), top=2)
    for article in ARTICLES:
        np.testing.assert_array_equal(
            model.score([article], POSTS), model.score_independently([article], POSTS)
        )


@pytest.mark.parametrize(("option", "value"), [("top", 0), ("weight", 0)])
def test_impossible_numbers_are_refused(option, value):
    with pytest.raises((ConfigError, LinkerError, ValueError), match=option):
        RerankerModel(Table([[1]]), **{option: value})


def test_a_missing_first_stage_is_one_message(tmp_path):
    with pytest.raises(ModelError, match="nowhere: model folder not found"):
        _ = RerankerModel(Table([[1]]), first_stage=str(tmp_path / "nowhere")).first_stage


def test_its_scale_is_that_of_the_first_stage():
    model = build(Model, {"type": "reranker", "second_stage": "tfidf", "first_stage": "distilled"})
    assert model.score_scale() == model.first_stage.score_scale()


def test_a_saved_one_contains_its_first_stage(tmp_path):
    model = build(Model, {"type": "reranker", "second_stage": "tfidf", "first_stage": "distilled", "top": 2})
    model.save_state(tmp_path)
    kept = {path.relative_to(tmp_path / "first-stage") for path in (tmp_path / "first-stage").rglob("*.*")}
    assert kept == {path.relative_to(FOLDERS["distilled"]) for path in FOLDERS["distilled"].rglob("*.*")}
    other = build(Model, {"type": "reranker", "second_stage": "tfidf", "first_stage": "gone", "top": 2})
    other.load_state(tmp_path)
    np.testing.assert_array_equal(other.score(ARTICLES, POSTS), model.score(ARTICLES, POSTS))
