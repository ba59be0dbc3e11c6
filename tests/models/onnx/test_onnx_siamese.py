"""Bi-encoders over word vectors as graphs: the embeddings of PyTorch, from nothing but the exported folder."""

from __future__ import annotations

import inspect
import io
import json
import subprocess
import sys
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch

from linker.common.errors import ModelError
from linker.config import build, resolve
from linker.data.types import Post
from linker.models.archive import load_model, save_model
from linker.models.model import Model, embedding_submodel
from linker.models.onnx.export import export_model
from linker.models.onnx.siamese import OnnxSiameseModel, padded_inputs
from linker.models.siamese.word_siamese import WordSiamese
from linker.modules.kernels.reference import PlainKernels
from linker.training.experiment import Experiment
from tests.conftest import toy_posts
from tests.helpers.training_runs import write_workplace

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnx", reason="the extra onnx writes graphs")

ENCODERS: dict[str, dict] = {
    "cnn": {"type": "cnn", "num_filters": 5, "ngram_sizes": [1, 2, 4]},
    "gru": {"type": "gru", "hidden_dim": 6},
    "bigru": {"type": "bigru", "hidden_dim": 6},
    "star_transformer": {"type": "star_transformer", "num_heads": 2},
    "star_all_options": {
        "type": "star_transformer", "num_heads": 2, "cycles": 2, "window": 2, "score": "cosine", "positions": True,
    },
    "star_softmax": {"type": "star_transformer", "num_heads": 2, "alpha": 1.0},
    "star_sparsemax": {"type": "star_transformer", "num_heads": 2, "alpha": 2.0, "window": 0},
}  # fmt: skip
WORDS = [post.text for post in toy_posts().posts]
#: Alone, several, many; of one token and of thousands; without a token; with words outside the vocabulary.
BATCHES = [
    ["harbour0"],
    ["never-seen"],
    ["", "harbour1 w3"],
    ["harbour0 w1 never-seen", "w2", "another unheard-of never-seen " * 30],
    WORDS,
    [" ".join(WORDS * 3), WORDS[0]],
]


def config(encoder: dict, **settings: object) -> dict:
    embedder = {"type": "word_vectors", "dim": 8, "trainable": True, "buckets": 50, **settings}
    return {
        "type": "siamese",
        "tokenizer": "whitespace",
        "encoder": encoder,
        "embedder": embedder,
        "max_post_tokens": 3000,
    }


def trained(folder: Path, model: dict) -> Path:
    """A model folder after three epochs."""
    write_workplace(folder)
    data = {"type": "articles_and_posts", "articles": "articles.jsonl", "posts": "posts.jsonl"}
    data |= {key: str(folder / data[key]) for key in ("articles", "posts")}
    run = {
        "data": {"reader": data}, "model": model, "miner": "all_pairs", "loss": {"type": "nt_xent"},
        "trainer": {"optimizer": {"type": "adam", "lr": 0.05}, "batches": {"articles": 4}, "epochs": 3}, "seed": 1,
    }  # fmt: skip
    build(Experiment, run).run(folder / "model")
    return folder / "model"


def untrained(folder: Path, model_config: dict) -> Path:
    model: Model = build(Model, model_config)
    model.prepare(toy_posts())
    folder.mkdir(exist_ok=True)
    save_model(model, folder / "model", {"model": resolve(Model, model_config)}, {}, "")
    return folder / "model"


def compare(folder: Path, out: Path) -> None:
    """Check the embeddings of all batches against those of PyTorch, in the session itself."""
    export_model(folder, out)
    model = load_model(folder)
    assert isinstance(model, WordSiamese)
    session = onnxruntime.InferenceSession(str(out / "model.onnx"))
    assert session.get_outputs()[0].shape[1] == model.encoder.output_dim
    names = {given.name for given in session.get_inputs()}
    for texts in BATCHES:
        tokens = [model.post_tokens(Post("", text)) for text in texts]
        inputs = padded_inputs(tokens, len(model.vocabulary))
        found = session.run(["embeddings"], {name: inputs[name] for name in names})[0]
        np.testing.assert_allclose(found, model.encode(tokens), atol=1e-4)


@pytest.mark.parametrize("name", ENCODERS)
def test_embeddings_equal_those_of_the_trained_model(tmp_path: Path, name: str) -> None:
    compare(trained(tmp_path, config(ENCODERS[name])), tmp_path / "onnx")


@pytest.mark.parametrize("unknown", ["learned", "zero"])
def test_other_vectors_of_unknown_words(tmp_path: Path, unknown: str) -> None:
    compare(untrained(tmp_path, config(ENCODERS["gru"], unknown=unknown)), tmp_path / "onnx")


def test_negative_distances_keep_the_lengths_of_embeddings(tmp_path: Path) -> None:
    folder = untrained(tmp_path, config(ENCODERS["cnn"]) | {"similarity": "euclidean"})
    compare(folder, tmp_path / "onnx")
    model = load_model(tmp_path / "onnx")
    vectors = model.post_vectors([Post("", text) for text in WORDS])
    assert vectors is not None
    assert np.ptp(np.linalg.norm(vectors, axis=1)) > 1e-3


class Entmax(torch.nn.Module):
    def forward(self, scores: torch.Tensor, alpha: torch.Tensor) -> torch.Tensor:
        return PlainKernels().entmax(scores, alpha)


@pytest.mark.parametrize("alpha", [1.0001, 1.01, 1.5, 1.99, 2.0])
def test_entmax_keeps_its_digits(alpha: float) -> None:
    """With α barely above 1, exp(x) − 1 and log(1 + x) as ONNX has them are wrong from the fifth digit on."""
    scores = 4 * torch.randn(50, 7, generator=torch.Generator().manual_seed(0))
    alphas, file = torch.full((1,), alpha), io.BytesIO()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options: dict = {"opset_version": 17, "input_names": ["scores", "alpha"]}
        if "dynamo" in inspect.signature(torch.onnx.export).parameters:
            options["dynamo"] = False
        torch.onnx.export(Entmax(), (scores, alphas), file, **options)  # type: ignore[arg-type]
    session = onnxruntime.InferenceSession(file.getvalue())
    found = session.run(None, {"scores": scores.numpy(), "alpha": alphas.numpy()})[0]
    expected = PlainKernels().entmax(scores.double(), alphas.double()).numpy()
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_folder_is_enough_without_linker(tmp_path: Path) -> None:
    """What docs/commands/export.md says about inputs, followed literally."""
    folder = untrained(tmp_path, config(ENCODERS["star_transformer"]))
    export_model(folder, tmp_path / "onnx")
    text = "harbour0 never-seen w1 harbour0"
    words = (tmp_path / "onnx/vocabulary.txt").read_text().split("\n")[:-1]
    number = {word: line for line, word in enumerate(words)}
    ids, outside = [], list[str]()
    for token in text.split():
        if token not in number and token not in outside:
            outside.append(token)
        ids.append(number[token] if token in number else len(words) + outside.index(token))
    marked = "<never-seen>"
    grams = [marked[i : i + n] for n in (3, 4, 5, 6) for i in range(len(marked) - n + 1)] + [marked]
    session = onnxruntime.InferenceSession(str(tmp_path / "onnx/model.onnx"))
    inputs = {
        "input_ids": np.array([ids]), "lengths": np.array([len(ids)]),
        "ngram_hashes": np.array([[zlib.crc32(gram.encode()) for gram in grams]]),
    }  # fmt: skip
    vector = session.run(None, inputs)[0]
    expected = load_model(folder).post_vectors([Post("", text)])
    assert expected is not None
    np.testing.assert_allclose(vector, expected, atol=1e-4)


def test_a_part_of_an_ensemble_is_exported_and_the_rest_kept(tmp_path: Path) -> None:
    parts = [
        "tfidf",
        {"type": "siamese", "encoder": "mean", "embedder": config({})["embedder"]},
        config(ENCODERS["cnn"]),
    ]
    ensemble = {"type": "ensemble", "parts": parts, "fusion": "sum"}
    whole = {"type": "article_softmax", "model": ensemble, "temperature": 0.1, "null_score": 0.3}
    folder = untrained(tmp_path, whole)
    export_model(folder, tmp_path / "onnx")
    before, after = load_model(folder, for_scoring=True), load_model(tmp_path / "onnx", for_scoring=True)
    data = toy_posts()
    np.testing.assert_allclose(
        before.score(data.articles, data.posts), after.score(data.articles, data.posts), atol=1e-3
    )
    types = [
        part["type"]
        for part in json.loads((tmp_path / "onnx/config.json").read_text())["model"]["model"]["parts"]
    ]
    assert types == ["tfidf", "siamese", "onnx_siamese"]


def test_scoring_imports_no_torch(tmp_path: Path) -> None:
    export_model(untrained(tmp_path, config(ENCODERS["bigru"])), tmp_path / "onnx")
    code = (
        f"import sys, linker; linker.load({str(tmp_path / 'onnx')!r}).rank('harbour0 w1', ['harbour0', 'w2 w3']); "
        "print(sorted({'torch', 'transformers'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
    assert isinstance(embedding_submodel(load_model(tmp_path / "onnx")), OnnxSiameseModel)


def test_the_command_exports_and_says_nothing_else(tmp_path: Path) -> None:
    untrained(tmp_path, config(ENCODERS["gru"]))
    command = [sys.executable, "-m", "linker", "export", "model", "--onnx"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (run.returncode, run.stdout, run.stderr) == (0, "model-onnx\n", "")


@pytest.mark.parametrize("name", ["model.onnx", "vocabulary.txt", "model.safetensors"])
def test_a_damaged_folder_is_reported(tmp_path: Path, name: str) -> None:
    export_model(untrained(tmp_path, config(ENCODERS["cnn"])), tmp_path / "onnx")
    file = tmp_path / "onnx" / name
    content = file.read_bytes()
    for damaged in (None, b"", content[: len(content) // 2]):
        file.unlink()
        if damaged is not None:
            file.write_bytes(damaged)
        with pytest.raises(ModelError, match="copy the model folder again"):
            load_model(tmp_path / "onnx")
        file.write_bytes(content)


def test_what_cannot_be_exported_is_refused_in_one_line(tmp_path: Path) -> None:
    mean = untrained(tmp_path / "mean", config({"type": "mean"}))
    with pytest.raises(ModelError, match="has no transformer or siamese to export"):
        export_model(mean, tmp_path / "onnx")
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("harbour0 1 0\nharbour1 0 1\n")
    weights = untrained(
        tmp_path / "weights",
        {
            "type": "siamese", "encoder": {"type": "word_weights"}, "embedder": {"type": "word_vectors_idf"},
            "vectors": {"source": str(vectors)},
        },
    )  # fmt: skip
    with pytest.raises(
        ModelError, match=r"the encoder WordWeightsEncoder has no ONNX form; .* star_transformer"
    ):
        export_model(weights, tmp_path / "onnx")
    assert not (tmp_path / "onnx").exists()
