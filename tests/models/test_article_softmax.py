"""Competition: hand-computed values, order for one article, one threshold for all, and training what is inside."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, softmax

from linker.common.errors import ConfigError
from linker.config import build
from linker.data.types import Article, Post
from linker.evaluation.evaluate import evaluate
from linker.models.article_softmax import ArticleSoftmaxModel
from linker.models.files.archive import load_model
from linker.models.model import Model, all_submodels, embedding_submodel
from linker.models.siamese.siamese import SiameseModel
from linker.training.experiment import Experiment
from tests.helpers.training_runs import write_workplace
from tests.training.test_transformer_training import config_of


class Fixed(Model):
    def __init__(self, scores: np.ndarray) -> None:
        self.scores = np.asarray(scores, dtype=np.float32)

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        rows = [int(article.id) for article in articles]
        return self.scores[rows][:, [int(post.id) for post in posts]]


def articles(count: int) -> list[Article]:
    return [Article(str(i), "text") for i in range(count)]


def posts(count: int) -> list[Post]:
    return [Post(str(i), "text") for i in range(count)]


def test_by_hand() -> None:
    inner = np.log([[1.0, 3.0], [1.0, 1.0]])
    scores = ArticleSoftmaxModel(Fixed(inner), temperature=1.0, null_score=np.log(2)).score(
        articles(2), posts(2)
    )
    # Shares of 1, 1 and 2 (none of them); of 3, 1 and 2.
    np.testing.assert_allclose(np.exp(scores), [[1 / 3, 1], [1 / 3, 1 / 5]], rtol=1e-6)


def test_temperature_divides_scores_and_the_level_of_none() -> None:
    inner = np.random.default_rng(1).normal(size=(4, 9))
    cold = ArticleSoftmaxModel(Fixed(inner), 0.05, null_score=0.3).score(articles(4), posts(9))
    with_none = np.concatenate([np.float32(inner), np.full((1, 9), 0.3)]) / 0.05
    np.testing.assert_allclose(expit(cold), softmax(with_none, axis=0)[:-1], rtol=1e-4, atol=1e-9)
    assert np.isfinite(ArticleSoftmaxModel(Fixed(1e4 * inner), 0.01, 0.3).score(articles(4), posts(9))).all()


def test_the_surest_pairs_still_differ() -> None:
    inner = np.array([[2.0, 3.0, 4.0], [0.0, 0.0, 0.0]])
    scores = ArticleSoftmaxModel(Fixed(inner), 0.01, null_score=0).score(articles(2), posts(3))
    np.testing.assert_allclose(scores[0], [200 - np.log(2), 300 - np.log(2), 400 - np.log(2)], rtol=1e-5)
    assert ArticleSoftmaxModel(Fixed(inner), 0.01, null_score=0).score([], posts(3)).shape == (0, 3)


def test_one_article_is_a_logistic_curve_whoever_else_is_asked() -> None:
    inner = np.random.default_rng(2).normal(size=(3, 50)) / 5
    model = ArticleSoftmaxModel(Fixed(inner), 0.1, null_score=0.2)
    alone = model.score_independently(articles(3), posts(50))
    np.testing.assert_allclose(alone, (inner - 0.2) / 0.1, rtol=1e-4, atol=1e-5)
    for row, article in enumerate(articles(3)):
        np.testing.assert_allclose(model.score([article], posts(50))[0], alone[row], rtol=1e-6)


def test_the_order_of_articles_for_a_post_stays() -> None:
    inner = np.random.default_rng(5).normal(size=(30, 40)).astype(np.float32)
    scores = ArticleSoftmaxModel(Fixed(inner), 0.5, null_score=0).score(articles(30), posts(40))
    np.testing.assert_array_equal(scores.argsort(axis=0), inner.argsort(axis=0))


def config(tmp_path: Path, model: object) -> dict[str, Any]:
    config = config_of(write_workplace(tmp_path), "")
    config["trainer"]["epochs"] = 2
    return config | {"model": model}


SIAMESE = {
    "type": "siamese",
    "encoder": "mean",
    "embedder": {"type": "word_vectors", "dim": 8, "trainable": True, "buckets": 50},
    "min_count": 1,
}


def test_the_part_with_weights_is_trained_and_the_whole_is_saved(tmp_path: Path) -> None:
    model = {
        "type": "article_softmax",
        "temperature": 0.5,
        "null_score": 0.3,
        "model": {"type": "ensemble", "parts": [SIAMESE, "tfidf"], "weights": [1, 0.2], "fusion": "sum"},
    }
    given = config(tmp_path, model)
    result = build(Experiment, given).run(tmp_path / "out")
    loaded = load_model(tmp_path / "out")
    assert isinstance(loaded, ArticleSoftmaxModel)
    assert [type(part).__name__ for part in all_submodels(loaded)] == [
        "ArticleSoftmaxModel", "EnsembleModel", "WordSiamese", "TfidfModel",
    ]  # fmt: skip
    assert isinstance(embedding_submodel(loaded), SiameseModel)
    # What chose the best epoch is what the folder gives.
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())["dev"]
    data = build(Experiment, given).data.load().dev
    assert metrics == pytest.approx(evaluate(loaded.score(data.articles, data.posts), data), abs=1e-6)
    assert len(result.epochs) == 2


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        (
            {"type": "article_softmax", "temperature": 1, "null_score": 0, "model": "tfidf"},
            "no weights to train",
        ),
        ({"type": "ensemble", "parts": [SIAMESE, SIAMESE]}, "2 parts with weights"),
    ],
)
def test_what_cannot_be_trained_is_reported(tmp_path: Path, model: object, problem: str) -> None:
    given = config(tmp_path, model)
    with pytest.raises(ConfigError, match=problem):
        build(Experiment, given).run(tmp_path / "out")


@pytest.mark.parametrize("shape", [(3, 40), (40, 3)])
def test_kinship_is_the_same_for_many_articles_as_for_many_posts(shape: tuple[int, int]) -> None:
    inner = np.random.default_rng(6).normal(size=shape)
    scores = ArticleSoftmaxModel(Fixed(inner), 0.5, null_score=0, neighbor_weight=2.0).score(
        articles(shape[0]), posts(shape[1])
    )
    chances = expit(
        ArticleSoftmaxModel(Fixed(inner), 0.5, null_score=0).score(articles(shape[0]), posts(shape[1]))
    )
    together = chances @ chances.T * (1 - np.eye(shape[0]))
    kin = together / np.maximum(chances.sum(axis=1, keepdims=True), 1) @ chances
    np.testing.assert_allclose(np.exp(scores), chances / (1 - chances) + 2.0 * kin, rtol=1e-4)
