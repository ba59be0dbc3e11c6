"""The bundled word vectors as a part: the same scores, a copy in every model folder, nothing to train."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from linker import load
from linker.common.errors import ModelError
from linker.config import build, resolve
from linker.data.types import Article, LinkedPosts, Post
from linker.models.bundled_part import BundledWordVectorsModel
from linker.models.embedding_model import eight_bits
from linker.models.files.archive import load_model, save_model
from linker.models.model import Model, embedding_submodel
from linker.models.pretrained import FOLDERS

ARTICLES = [Article("a", "Doctors strike over pay"), Article("b", "A late goal wins the cup")]
POSTS = [Post("p", "physicians want better wages"), Post("q", "the striker scored"), Post("r", "")]


def test_its_scores_are_the_cosines_of_the_bundled_model() -> None:
    vectors = embedding_submodel(load("distilled").model)
    assert vectors is not None
    scores = build(Model, "bundled_word_vectors").score(ARTICLES, POSTS)
    of_posts = vectors.post_vectors(POSTS)
    assert of_posts is not None
    whole, factors = eight_bits(of_posts)
    of_articles = vectors.article_vectors(ARTICLES)
    assert of_articles is not None
    rounded = vectors.similarities(of_articles, whole * factors[:, None])
    np.testing.assert_array_equal(scores, rounded)
    np.testing.assert_allclose(scores, vectors.score(ARTICLES, POSTS), atol=1e-3)
    assert scores.argmax(axis=0).tolist()[:2] == [0, 1]


def test_a_model_folder_has_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = {
        "type": "ensemble",
        "fusion": "sum",
        "parts": ["tfidf", "bundled_word_vectors"],
        "weights": [1, 0.2],
    }
    model = build(Model, config)
    model.prepare(LinkedPosts(ARTICLES, POSTS))
    save_model(model, tmp_path / "model", {"model": resolve(Model, config)}, {}, "")
    before = model.score(ARTICLES, POSTS)
    # Another linker brings other vectors along.
    other = tmp_path / "other"
    part = {"type": "siamese", "encoder": "mean", "min_count": 1}
    part["embedder"] = {"type": "word_vectors", "dim": 8, "buckets": 4, "trainable": True}
    smaller = build(Model, part)
    smaller.prepare(LinkedPosts(ARTICLES, POSTS))
    save_model(smaller, other, {"model": resolve(Model, part)}, {}, "")
    monkeypatch.setitem(FOLDERS, "distilled", other)
    np.testing.assert_allclose(load_model(tmp_path / "model").score(ARTICLES, POSTS), before, atol=1e-6)


def test_a_copy_of_nothing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(FOLDERS["distilled"], moved)
    monkeypatch.setattr(BundledWordVectorsModel, "origin", moved)
    model = build(Model, "bundled_word_vectors")
    shutil.rmtree(moved)
    with pytest.raises(ModelError, match="was removed since it was read"):
        model.save_state(tmp_path / "model")
