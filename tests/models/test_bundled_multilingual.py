"""The bundled multilingual network as a part: a copy in every model folder, nothing to train."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from linker.common.errors import ModelError
from linker.config import build, resolve
from linker.data.types import Article, Post
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
    # Another linker brings another network, or none.
    moved = tmp_path / "moved"
    shutil.copytree(MULTILINGUAL, moved)
    monkeypatch.setattr(bundled_multilingual, "MULTILINGUAL", moved)
    model = build(Model, "bundled_multilingual")
    shutil.rmtree(moved)
    with pytest.raises(ModelError, match="was removed since it was read"):
        model.save_state(tmp_path / "other")
    monkeypatch.setattr(bundled_multilingual, "MULTILINGUAL", MULTILINGUAL)
    np.testing.assert_array_equal(load_model(tmp_path / "model").score(ARTICLES, POSTS), before)
