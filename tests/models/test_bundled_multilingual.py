"""The bundled multilingual network as a part: a copy in every model folder, nothing to train."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from linker.common.errors import ModelError
from linker.config import build, resolve
from linker.data.types import Article, LinkedPosts, Post
from linker.models import bundled_multilingual
from linker.models.files.archive import load_model, save_model
from linker.models.model import Model
from linker.models.pretrained import MULTILINGUAL

ARTICLES = [Article("a", "Doctors strike over pay"), Article("b", "A late goal wins the cup")]
POSTS = [Post("p", "Ärzte wollen mehr Lohn"), Post("q", "Tor in der letzten Minute"), Post("r", "")]


def test_a_model_folder_has_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = ["tfidf", "bundled_multilingual"]
    config = {"type": "ensemble", "fusion": "sum", "parts": parts, "weights": [1, 0.2]}
    model = build(Model, config)
    before = model.score(ARTICLES, POSTS)
    assert before.argmax(axis=0).tolist()[:2] == [0, 1]
    save_model(model, tmp_path / "model", {"model": resolve(Model, config)}, {}, "")
    # Another linker brings another network along.
    other = tmp_path / MULTILINGUAL.name
    part = {"type": "siamese", "encoder": "mean", "min_count": 1}
    part["embedder"] = {"type": "word_vectors", "dim": 8, "buckets": 4, "trainable": True}
    smaller = build(Model, part)
    smaller.prepare(LinkedPosts(ARTICLES, POSTS))
    save_model(smaller, other, {"model": resolve(Model, part)}, {}, "")
    monkeypatch.setattr(bundled_multilingual, "MULTILINGUAL", other)
    assert not np.allclose(build(Model, config).score(ARTICLES, POSTS), before)
    np.testing.assert_array_equal(load_model(tmp_path / "model").score(ARTICLES, POSTS), before)


def test_a_copy_of_nothing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(MULTILINGUAL, moved)
    monkeypatch.setattr(bundled_multilingual, "MULTILINGUAL", moved)
    model = build(Model, "bundled_multilingual")
    shutil.rmtree(moved)
    with pytest.raises(ModelError, match="was removed since it was read"):
        model.save_state(tmp_path / "model")
