"""Shares: what moved the score of a post away from that of the average post."""

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linker
from linker.config import build
from linker.data.types import Article, Post
from linker.models.article_softmax import ArticleSoftmaxModel
from linker.models.elapsed_time import ElapsedTimeModel
from linker.models.ensemble import EnsembleModel
from linker.models.features.feature import DATE, TEXT, WORDS, Share
from linker.models.features.memory_table import MemoryTable
from linker.models.model import Model
from linker.models.tfidf import TfidfModel
from linker.ranking.explanation import Explainer, Explanation, _percent
from linker.ranking.ranker import Ranker

DAY = datetime(2031, 4, 12, tzinfo=timezone.utc)
ARTICLE = Article("a", "An otter swims in the river again.", "Otter returns", published=DAY)
POSTS = [
    Post("1", "the otter is in the river", created_at=DAY + timedelta(days=1)),
    Post("2", "river boats", created_at=DAY + timedelta(days=300)),
    Post("3", "what a goal", created_at=DAY + timedelta(days=1)),
    Post("4", "a goal in the river", created_at=DAY - timedelta(days=90)),
]


class Lengths(Model):
    """A tenth of a post's length."""

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        return np.array([[len(post.text) / 10 for post in posts] for _ in articles], dtype=np.float32)


def of(model: Model, articles: Sequence[Article] = (ARTICLE,)) -> tuple[dict[Share, np.ndarray], np.ndarray]:
    scores = model.score_independently(articles, POSTS).mean(axis=0)
    return Explainer(model, MemoryTable(POSTS), articles)._parts(None), scores


def test_the_parts_of_the_default_model_add_up_to_its_score() -> None:
    lengths, words, time = Lengths(), TfidfModel(), ElapsedTimeModel()
    ensemble = EnsembleModel([lengths, words], [1.0, 2.0], "sum")
    model = ArticleSoftmaxModel(ensemble, temperature=0.5, null_score=0.3, time=time)
    for articles in (
        (ARTICLE,),
        (ARTICLE, Article("b", "boats and goals", published=DAY - timedelta(days=5))),
    ):
        parts, scores = of(model, articles)
        assert list(parts) == [TEXT, WORDS, DATE]
        expected = {
            name: factor * part.score_independently(articles, POSTS).mean(axis=0)
            for name, part, factor in ((TEXT, lengths, 2), (WORDS, words, 4), (DATE, time, 1))
        }
        np.testing.assert_allclose(parts[DATE], expected[DATE], atol=1e-4)
        if len(articles) == 1:  # text counts less above a knee, both parts of it alike
            np.testing.assert_allclose(
                parts[TEXT] * expected[WORDS], parts[WORDS] * expected[TEXT], atol=1e-3
            )
            assert (parts[TEXT] <= expected[TEXT] + 1e-4).all()
        np.testing.assert_allclose(sum(parts.values()) - 0.3 / 0.5, scores, atol=1e-4)


@pytest.mark.parametrize("fusion", ["sum", "zscore", "rrf"])
def test_the_parts_of_an_ensemble(fusion: str) -> None:
    parts, scores = of(EnsembleModel([Lengths(), TfidfModel()], [1, 1], fusion))  # type: ignore[arg-type]
    np.testing.assert_allclose(np.diff(parts[TEXT] + parts[WORDS]), np.diff(scores), atol=1e-5)
    alone = EnsembleModel([TfidfModel()], [1], fusion).score_independently([ARTICLE], POSTS)[0]  # type: ignore[arg-type]
    np.testing.assert_allclose(np.diff(parts[WORDS]), np.diff(alone), atol=1e-5)


def test_models_of_one_part() -> None:
    assert list(of(Lengths())[0]) == [TEXT]
    assert list(of(TfidfModel())[0]) == list(of(EnsembleModel([TfidfModel()], fusion="sum"))[0]) == [WORDS]
    assert list(of(EnsembleModel([Lengths()], fusion="sum"))[0]) == [TEXT]


PARTS: dict[Share, list[float]] = {TEXT: [3.0, 1.0, 2.0], WORDS: [0.0, 0.0, 0.0], DATE: [4.0, 4.0, 7.0]}


class ByHand(Model):
    """Scores that are sums of known parts."""

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        return np.array([[sum(part[int(post.id)] for part in PARTS.values()) for post in posts]], np.float32)

    def parts_by_kind(self, scores: Any, articles: Sequence[Article]) -> dict[Share, np.ndarray]:
        posts = next(iter(scores.values())).shape[1]
        return {share: np.array([part[:posts]]) for share, part in PARTS.items()}


def test_shares_by_hand() -> None:
    posts = [Post(str(n), "text") for n in range(3)]
    # The means are 2, 0 and 5.
    assert Explainer(ByHand(), MemoryTable(posts), [ARTICLE])._shares(np.arange(3)) == [
        {TEXT: 50, WORDS: 0, DATE: -50},
        {TEXT: -50, WORDS: 0, DATE: -50},
        {TEXT: 0, WORDS: 0, DATE: 100},
    ]
    alone = Explainer(ByHand(), MemoryTable(posts[:1]), [ARTICLE])._shares(np.arange(1))
    assert alone == [{TEXT: 43, WORDS: 0, DATE: 57}], "a single post"


@given(st.dictionaries(st.sampled_from([TEXT, WORDS, DATE]), st.floats(-1e6, 1e6), min_size=1))
def test_absolute_percentages_add_up_to_100(moved: dict[Share, float]) -> None:
    found = _percent(moved)
    total = sum(map(abs, moved.values()))
    assert sum(map(abs, found.values())) == (100 if total else 0)
    for name in moved:
        value = found[name]
        assert value * moved[name] >= 0
        assert not total or abs(abs(value) - 100 * abs(moved[name]) / total) < 1 + 1e-6


def test_without_dates_no_share_of_a_score_is_theirs() -> None:
    ranker = linker.load("distilled")
    everything = ranker.rank(ARTICLE, POSTS, explain=True)
    assert all(one.explanation and list(one.explanation.shares) == [TEXT, WORDS, DATE] for one in everything)
    day_after = ranker.rank(ARTICLE, POSTS, ignore_dates=True, explain=True)
    assert all(one.explanation is not None and DATE not in one.explanation.shares for one in day_after)


def test_the_date_decides_between_equal_texts() -> None:
    posts = [Post(str(n), "an otter", created_at=DAY + timedelta(days=30 * n + 1)) for n in range(4)]
    model = build(
        Model,
        {
            "type": "article_softmax",
            "model": "tfidf",
            "temperature": 0.1,
            "null_score": 0.3,
            "time": "elapsed_time",
        },
    )
    ranking = Ranker(model).rank(ARTICLE, posts, explain=True, copies=True)
    found = [one.explanation.shares for one in ranking if one.explanation]
    assert found[0] == {WORDS: 0, DATE: 100}
    assert found[-1] == {WORDS: 0, DATE: -100}


def test_the_sentence_names_what_lowered_the_score() -> None:
    explanation = Explanation([], [], [], {TEXT: 70, WORDS: 20, DATE: -10})
    assert explanation.decided_by == "text similarity 70 %, shared words 20 %, date 10 % against it"
    assert Explanation([], [], []).decided_by == ""
