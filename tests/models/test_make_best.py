"""scripts/make_best.py: a trained folder becomes one that can come along, and ranks as it did."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from linker.config import build, resolve
from linker.data.types import Article, LinkedPosts, Post
from linker.models.archive import load_model, save_model
from linker.models.model import Model
from tests.helpers.tiny_transformers import tiny

SCRIPT = Path(__file__).parents[2] / "scripts" / "make_best.py"


def test_it_ranks_as_before_and_does_not_tell_where_it_was_trained(tmp_path: Path) -> None:
    network = {"type": "transformer", "path": str(tiny("bert", tmp_path / "network")), "title_share": 0.25}
    parts = {"type": "hybrid", "fusion": "sum", "parts": [network, "tfidf", "shipped_vectors"]}
    config = {"type": "competing", "temperature": 1.0, "none": 0.3, "model": parts}
    articles = [
        Article("a", "Doctors strike over pay", "A strike"),
        Article("b", "A late goal wins the cup", ""),
    ]
    posts = [Post("p", "physicians want better wages"), Post("q", "the striker scored a goal"), Post("r", "")]
    model = build(Model, config)
    model.prepare(LinkedPosts(articles, posts))
    whole = {"model": resolve(Model, config), "data": {"reader": "private"}}
    save_model(model, tmp_path / "trained", whole, {"MAP": 0.5}, "")
    made = tmp_path / "made"
    subprocess.run([sys.executable, str(SCRIPT), str(tmp_path / "trained"), "--out", str(made)], check=True)
    before, after = model.score(articles, posts), load_model(made).score(articles, posts)
    np.testing.assert_allclose(after, before, atol=0.03)
    assert before.std() > 0.3
    assert not (made / "part-0/transformer/model.safetensors").exists()
    assert json.loads((made / "config.json").read_text()).keys() == {"format", "linker_version", "model"}
    assert str(tmp_path) not in (made / "config.json").read_text()
