"""scripts/train_for_int8.py: training computes as the exported graph does, and brings it closer to float32."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linker.config import build, resolve
from linker.data.types import LinkedPosts, Post
from linker.models.files.archive import load_model, save_model
from linker.models.model import Model, embedding_submodel
from linker.models.onnx.export import export_model
from scripts import train_for_int8
from tests.helpers.tiny_transformers import tiny

WORDS = "ferry harbor strike doctors pay late goal wins cup bread rises fog nurses want wages".split()  # noqa: SIM905


def texts(count: int) -> list[str]:
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice(WORDS, size=rng.integers(3, 14))) for _ in range(count)]


def saved(folder: Path, network: Path) -> Path:
    config: dict[str, Any] = {
        "type": "transformer",
        "path": str(tiny("bert", network, heads=4)),
        "pooling": "mean",
    }
    model = build(Model, config)
    model.prepare(LinkedPosts([], []))
    save_model(model, folder, {"model": resolve(Model, config)}, {}, "")
    return folder


def vectors(folder: Path, some: list[str], for_scoring: bool) -> np.ndarray:
    part = embedding_submodel(load_model(folder, for_scoring=for_scoring))
    assert part is not None
    found = part.post_vectors([Post("", text) for text in some])
    assert found is not None
    return found


def test_the_training_computes_as_the_exported_graph(tmp_path: Path) -> None:
    folder, some = saved(tmp_path / "model", tmp_path / "network"), texts(60)
    once, again = tmp_path / "once", tmp_path / "again"
    export_model(folder, once, some)
    export_model(once, again, some)  # from weights that are rounded already, as those of training
    graph = vectors(again, some, for_scoring=True)
    _, part = train_for_int8.transformer_of(once)
    train_for_int8.calibrate(part, some)
    of_training = train_for_int8.embeddings(part, [part.post_tokens(Post("", text)) for text in some]).numpy()
    error = np.square(vectors(once, some, for_scoring=False) - graph).sum()
    assert np.square(of_training - graph).sum() < 0.05 * error


@pytest.mark.slow
def test_trained_for_int8_an_exported_network_is_closer_to_float32(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = saved(tmp_path / "model", tmp_path / "network")
    some, unseen = texts(1800)[:1500], texts(1800)[1500:]
    (tmp_path / "texts.txt").write_text("\n".join(some) + "\n", encoding="utf-8")
    (tmp_path / "typical.txt").write_text("\n".join(some[:100]) + "\n", encoding="utf-8")
    command = ["train_for_int8", str(folder), str(tmp_path / "trained"), "--lr", "2e-4"]
    command += ["--texts", str(tmp_path / "texts.txt"), "--typical", str(tmp_path / "typical.txt")]
    monkeypatch.setattr("sys.argv", command)
    train_for_int8.main()
    assert capsys.readouterr().err.count("cosine") == 4
    targets = vectors(folder, unseen, for_scoring=False)
    errors = []
    for trained in (folder, tmp_path / "trained"):
        out = tmp_path / f"{trained.name}-int8"
        export_model(trained, out, some[:100])
        errors.append(np.square(vectors(out, unseen, for_scoring=True) - targets).sum())
    assert errors[1] < 0.9 * errors[0]
