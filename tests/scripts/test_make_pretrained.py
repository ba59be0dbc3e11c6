"""scripts/make_pretrained.py: the bundled copy of a trained model ranks as the original does."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file

from linker.config import build, resolve
from linker.data.types import Article, LinkedPosts, Post
from linker.models.files.archive import load_model, save_model
from linker.models.model import Model
from linker.models.siamese.word_siamese import WEIGHTS
from scripts.make_pretrained import main, make_best
from tests.helpers.tiny_transformers import tiny


def test_the_default_model_ranks_as_before_without_the_paths_of_its_training(tmp_path: Path) -> None:
    path = str(tiny("bert", tmp_path / "network", heads=4))
    network = {"type": "transformer", "path": path, "title_weight": 0.25}
    parts = {"type": "ensemble", "fusion": "sum", "parts": [network, "tfidf"]}
    config = {"type": "article_softmax", "temperature": 1.0, "null_score": 0.3, "model": parts}
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
    make_best(tmp_path / "trained", made)
    before, after = model.score(articles, posts), load_model(made).score(articles, posts)
    np.testing.assert_allclose(after, before, atol=0.03)
    assert before.std() > 0.3
    assert not (made / "part-0/transformer/model.safetensors").exists()
    assert json.loads((made / "config.json").read_text()).keys() == {"format", "linker_version", "model"}
    assert str(tmp_path) not in (made / "config.json").read_text()


def test_the_small_model_has_half_precision_vectors_without_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    words = ["ferry", "harbor", "bread", "@anna", "t.co/x"]
    lines = [f"{word} {' '.join(f'{value:.4f}' for value in rng.normal(size=8))}\n" for word in words]
    (tmp_path / "vectors.txt").write_text("".join(lines))
    config = {
        "type": "siamese",
        "tokenizer": "social",
        "vectors": {"source": str(tmp_path / "vectors.txt")},
        "embedder": {"type": "word_vectors", "dim": 8, "buckets": 50},
        "encoder": "mean",
    }
    model = build(Model, config)
    model.prepare(LinkedPosts([], [Post("p", " ".join(words))]))
    save_model(model, tmp_path / "run", {"model": resolve(Model, config)}, {}, "")
    made = tmp_path / "made"
    command = ["make_pretrained", "distilled", str(tmp_path / "run"), "--dim", "4", "--out", str(made)]
    monkeypatch.setattr("sys.argv", command)
    main()
    weights = load_file(made / "part-0" / WEIGHTS)
    assert {str(tensor.dtype) for tensor in weights.values()} == {"torch.float16"}
    assert "3 words" in (made / "README.md").read_text()
    posts = [Post("p", "the ferry left the harbor"), Post("q", "bread rises")]
    scores = load_model(made).score([Article("a", "ferry harbor"), Article("b", "bread")], posts)
    assert scores.argmax(axis=0).tolist() == [0, 1]
