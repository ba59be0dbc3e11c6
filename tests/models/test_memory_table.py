"""Posts that are ranked for several articles are encoded once."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import linker
from linker.data.types import Article, Post
from linker.models.averaged_word_vectors import AveragedWordVectorsModel
from linker.ranking.ranker import Ranker

ARTICLES = ["Otters at the mill", "The goal keeper of the year"]
TEXTS = ["an otter in the river", "what a goal", "the storm took the bridge", "an otter in the river"]


@pytest.fixture
def encoded(monkeypatch) -> list[int]:
    """Numbers of texts that were encoded together."""
    found: list[int] = []
    encode = AveragedWordVectorsModel.encode

    def counted(self, texts, description="encoding", count=None):
        texts = list(texts)
        if description == "encoding posts":
            found.append(len(texts))
        return encode(self, texts, description, count)

    monkeypatch.setattr(AveragedWordVectorsModel, "encode", counted)
    return found


def scores(ranker: Ranker, article: str, texts: list[str]) -> list[float]:
    ranking = ranker.rank(article, [Post(str(n), text) for n, text in enumerate(texts)], copies=True)
    return [hit.score for hit in sorted(ranking, key=lambda hit: int(hit.post.id))]


def test_other_articles_encode_nothing_again(encoded):
    ranker = linker.load("distilled")
    found = [scores(ranker, article, TEXTS) for article in (*ARTICLES, ARTICLES[0])]
    assert encoded == [3]
    assert found == [scores(linker.load("distilled"), article, TEXTS) for article in (*ARTICLES, ARTICLES[0])]


def test_other_posts_are_encoded(encoded):
    ranker = linker.load("distilled")
    lists = (TEXTS, TEXTS[:2], TEXTS[:2], [*TEXTS[:2], "a new one"])
    found = [scores(ranker, ARTICLES[0], texts) for texts in lists]
    assert encoded == [3, 3]
    assert found == [scores(linker.load("distilled"), ARTICLES[0], texts) for texts in lists]


def test_embeddings_for_a_single_question_are_not_kept(encoded):
    ranker = Ranker(linker.load("distilled").model, once=True)
    for article in ARTICLES:
        scores(ranker, article, TEXTS)
    assert encoded == [3, 3]


def test_explanations_do_not_take_the_place_of_the_posts(encoded):
    ranker = linker.load("distilled")
    posts = [Post(str(n), f"{TEXTS[n % 3]} {n}") for n in range(50)]
    for article in ARTICLES:
        assert ranker.rank(article, posts, explain=True)[0].explanation is not None
    assert encoded.count(50) == 1


def test_threads_get_their_own_scores():
    ranker, alone = linker.load("distilled"), linker.load("distilled")
    texts = [[f"{TEXTS[n % 3]} {n} {m}" for n in range(200)] for m in range(4)]
    expected = [scores(alone, ARTICLES[m % 2], texts[m]) for m in range(4)]

    def work(m: int) -> list[list[float]]:
        return [scores(ranker, ARTICLES[m % 2], texts[m]) for _ in range(5)]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [[one] * 5 for one in expected]


def test_models_that_can_be_trained_encode_every_time():
    import torch

    from linker.config import build
    from linker.models.model import Model
    from tests.conftest import toy_posts

    torch.manual_seed(0)
    config = {"type": "siamese", "encoder": "mean", "embedder": {"dim": 8, "trainable": True}}
    model = build(Model, config)
    model.prepare(toy_posts())
    ranker, article = Ranker(model, "m"), Article("a", toy_posts().articles[0].text)
    posts = toy_posts().posts[:6]
    before = np.array([hit.score for hit in ranker.rank(article, posts, copies=True)])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_()
    after = np.array([hit.score for hit in ranker.rank(article, posts, copies=True)])
    assert not np.array_equal(before, after)
