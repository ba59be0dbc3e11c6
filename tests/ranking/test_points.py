"""Points: what the parts of a score add to that of the average post."""

import re
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
from linker.ranking.explanation import AVERAGE, Explainer, Explanation
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
    return Explainer(model, MemoryTable(POSTS), articles)._parts(None)[1], scores


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


@pytest.mark.parametrize("fusion", ["sum", "zscore"])
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


def test_points_by_hand() -> None:
    posts = [Post(str(n), "text") for n in range(3)]
    # The means are 2, 0 and 5.
    assert Explainer(ByHand(), MemoryTable(posts), [ARTICLE])._points(np.arange(3)) == [
        {AVERAGE: 7, TEXT: 1, WORDS: 0, DATE: -1},
        {AVERAGE: 7, TEXT: -1, WORDS: 0, DATE: -1},
        {AVERAGE: 7, TEXT: 0, WORDS: 0, DATE: 2},
    ]
    squares: Any = np.square  # one part after the other: from 49 to 64 and back, or to 36 and back
    first, *_ = Explainer(ByHand(), MemoryTable(posts), [ARTICLE], scale=squares)._points(np.arange(3))
    assert first == pytest.approx({AVERAGE: 49, TEXT: 14, WORDS: 0, DATE: -14})
    alone = Explainer(ByHand(), MemoryTable(posts[:1]), [ARTICLE])._points(np.arange(1))
    assert alone == [{AVERAGE: 7, TEXT: 0, WORDS: 0, DATE: 0}], "a single post"


@given(st.dictionaries(st.sampled_from([TEXT, WORDS, DATE]), st.floats(-100, 100), min_size=1))
def test_shown_points_add_up_to_the_shown_score(points: dict[str, float]) -> None:
    parts = {AVERAGE: 400.0, **points}
    *terms, total = re.findall(r"[+−]?\d+\.\d", Explanation([], [], [], parts).decided_by)
    tenths = [round(10 * float(term.replace("−", "-"))) for term in terms]
    assert sum(tenths) == round(10 * float(total)) == round(10 * round(sum(parts.values()), 1))
    assert tenths[1:] == pytest.approx([10 * value for value in points.values()], abs=2.51)


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
    found = [one.explanation.points for one in ranking if one.explanation]
    assert found[0][DATE] > 0 > found[-1][DATE]
    assert [points[WORDS] for points in found] == [0, 0, 0, 0]
    assert [sum(points.values()) for points in found] == pytest.approx([one.score for one in ranking])


def test_the_sentence_names_what_lowered_the_score() -> None:
    points = {AVERAGE: 12.04, TEXT: 31.21, WORDS: 0.01, DATE: -5.12}
    sentence = "average post 12.0, text similarity +31.2, shared words +0.0, date −5.1 = 38.1"
    assert Explanation([], [], [], points).decided_by == sentence


def test_function_words_of_any_language_explain_nothing() -> None:
    texts = {
        "pl": ("Wydra wróciła do rzeki, która płynie przez miasto.", "już jest wydra w rzece, która płynie"),
        "id": ("Berang-berang kembali ke sungai yang ada di kota itu.", "yang di sungai itu berang-berang"),
        "fr": (
            "Les loutres sont de retour dans la rivière, c'est une joie.",
            "c'est dans la rivière, une loutre",
        ),
        "zh": ("水獭回到了城市的河里，我们很高兴。", "我们的水獭在河里了"),
    }
    for code, (article, post) in texts.items():
        query = Article("a", article, language=code)
        shown = linker.load("best").rank(query, [Post("1", post, extra={"lang": code})], explain=True)
        assert shown[0].explanation is not None
        words = {word for word, _ in (*shown[0].explanation.post_words, *shown[0].explanation.article_words)}
        assert words & {"rzece", "sungai", "rivière", "水獭"}
        assert not words & {
            "już",
            "która",
            "jest",
            "yang",
            "itu",
            "di",
            "c'est",
            "dans",
            "une",
            "我们",
            "的水",
            "们的",
        }
