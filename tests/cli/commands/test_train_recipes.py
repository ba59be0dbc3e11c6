"""The recipes in `configs/`, as `linker train` runs them with nothing to look up."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linker.cli.commands.train import _default_out
from linker.cli.main import app
from linker.common.errors import ConfigError, DataError, LinkerError
from linker.config import EXPERIMENT, check, load_config
from linker.data.tokenizers.simple import TorchtextTokenizer
from linker.data.torchtext_import import import_torchtext
from linker.models.files.archive import load_model
from linker.models.siamese.word_siamese import WordSiamese
from linker.modules.encoders.gru import BiGruEncoder
from linker.modules.encoders.star_transformer import Cycle, StarTransformerEncoder
from tests.helpers.cli import invoke

ROOT = Path(__file__).parents[3]
CONFIGS = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("configs/**/*.jsonnet"))
SIBLINGS = ("cnn", "gru", "bigru", "mean")
NO_NETWORK = """
import socket

def refuse(*arguments, **keywords):
    raise OSError("this test has no network")

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a fresh clone holds."""
    folder = tmp_path_factory.mktemp("clone")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "linker", "configs", "data"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        pytest.skip("not a git repository")
    kernels = [str(path.relative_to(ROOT)) for path in ROOT.glob("linker/modules/kernels/liblinker.*")]
    for name in [*filter(None, listed.stdout.split("\0")), *kernels]:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def shell(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Runs a command line in the clone, without a network and without word vectors in a cache."""
    tools = tmp_path_factory.mktemp("tools")
    (tools / "sitecustomize.py").write_text(NO_NETWORK)
    (tools / "linker").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m linker.cli.main "$@"\n')
    (tools / "linker").chmod(0o755)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("LINKER_", "COLUMNS"))
    }
    environment |= {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{tools}{os.pathsep}{clone}",
    }

    def run(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            line, shell=True, cwd=clone, env=environment, capture_output=True, text=True, timeout=600
        )

    return run


def siamese(folder: Path) -> WordSiamese:
    model = load_model(folder)
    assert isinstance(model, WordSiamese)
    return model


@pytest.fixture(scope="module")
def trained(shell: Any) -> subprocess.CompletedProcess[str]:
    return shell("linker train configs/ast.jsonnet -o trainer.epochs=2")


def test_the_paper_s_model_is_trained_by_the_command_that_its_name_suggests(
    trained: subprocess.CompletedProcess[str], clone: Path
) -> None:
    assert trained.returncode == 0, trained.stderr
    first, *rest = trained.stderr.splitlines()
    assert first == "training configs/ast.jsonnet; the model will be in runs/ast"
    epochs = [line for line in rest if line.startswith("epoch ")]
    assert [line.split()[1] for line in epochs] == ["1/2", "2/2"]
    assert load_config(ROOT / "configs" / "ast.jsonnet")["trainer"]["epochs"] == 10
    for line in epochs:
        for figure in ("mined triplets per batch", "r-Precision (mRP) ", "pair AP ", "AUC "):
            assert figure in line
    config = json.loads((clone / "runs/ast/config.json").read_text())
    assert config["model"]["type"] == "siamese"
    assert config["model"]["encoder"]["type"] == "star_transformer"
    assert config["model"]["vectors"]["source"] == "data/vectors.txt.gz"
    assert config["miner"]["type"] == "multi_similarity"
    assert config["loss"] == {"type": "triplet_margin", "margin": 0.15}
    assert config["trainer"]["optimizer"]["type"] == "adam"
    dev = json.loads((clone / "runs/ast/metrics.json").read_text())["dev"]
    assert dev["AUC"] > 0.55
    reached = {line[2:25].strip(): float(line[-6:-1]) / 100 for line in rest[-5:-2]}
    assert list(reached) == ["runs/ast", "untrained word vectors", "best"]
    assert reached["runs/ast"] == pytest.approx(dev["MAP"], abs=1e-4)
    assert reached["runs/ast"] < reached["untrained word vectors"] < 0.5 < 0.8 < reached["best"]
    assert rest[-1].split() == ["linker", "train", "configs/minilm/finetune.jsonnet"]


def test_a_second_run_says_what_to_do_and_changes_nothing(
    trained: subprocess.CompletedProcess[str], shell: Any, clone: Path
) -> None:
    before = (clone / "runs/ast/model.safetensors").stat().st_mtime_ns
    again = shell("linker train configs/ast.jsonnet")
    assert again.returncode == 2
    for option in ("-o start=", "--overwrite", "--out"):
        assert option in again.stderr
    assert (clone / "runs/ast/model.safetensors").stat().st_mtime_ns == before


@pytest.mark.parametrize("name", CONFIGS)
def test_every_config_needs_nothing_from_the_command_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # From another folder: the sample is found by the config's place.
    monkeypatch.chdir(tmp_path)
    config = load_config(os.path.relpath(ROOT / name))
    assert check(EXPERIMENT, config) == []
    reader = config["data"]["reader"]
    inputs = [reader[key] for key in ("articles", "posts", "labels", "texts") if key in reader]
    inputs += reader["files"] if isinstance(reader.get("files"), list) else []
    assert all(Path(path).is_file() for path in inputs)
    assert inputs or name == "configs/papers/twitter4sse.jsonnet"
    head = (ROOT / name).read_text(encoding="utf-8").split("local ")[0].split("(import")[0]
    assert f"linker train {name}" in head, "the header names the command"


@pytest.mark.parametrize("name", SIBLINGS)
def test_the_baselines_differ_from_ast_in_the_encoder_alone(name: str) -> None:
    ours, ast = (load_config(ROOT / "configs" / f"{one}.jsonnet") for one in (name, "ast"))
    assert ours["model"].pop("encoder") != ast["model"].pop("encoder")
    assert dict(ours) == dict(ast)


@pytest.mark.parametrize(
    ("config", "out"),
    [
        ("configs/ast.jsonnet", "runs/ast"),
        ("configs/distilled/ast.jsonnet", "runs/distilled/ast"),
        ("my/own.jsonnet", "runs/own"),
        ("configs/configs/x.jsonnet", "runs/x"),
    ],
)
def test_runs_are_named_after_their_config(config: str, out: str) -> None:
    assert _default_out(Path(config)) == Path(out)


def glove() -> str:
    """A few words of "GloVe", 300 numbers each."""
    rng = np.random.default_rng(0)
    words = ["the", "a", "of", "and", "ferry", "wolf", "sourdough", "court", "island", "people", "said"]
    return "".join(f"{word} {' '.join(f'{x:.3f}' for x in rng.normal(size=300))}\n" for word in words)


def train(name: str, *arguments: str) -> str:
    """What a short run prints, on standard error as well."""
    return invoke(
        app, "train", str(ROOT / "configs" / f"{name}.jsonnet"), "--out", "out", "-o", "trainer.epochs=0",
        "-o", "model.max_article_tokens=20", *arguments,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["ast", "bigru"])
def test_glove_in_the_cache_is_taken_and_sets_all_sizes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "glove.6B.300d.txt").write_text(glove())
    monkeypatch.setenv("LINKER_VECTOR_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    train(name, "--vectors", "6B.300d")
    config = json.loads((tmp_path / "out/config.json").read_text())
    assert config["model"]["vectors"]["source"] == "6B.300d"
    model = siamese(tmp_path / "out")
    assert model.embedder.output_dim == model.encoder.output_dim == 300
    if name == "ast":
        assert isinstance(model.encoder, StarTransformerEncoder)
        cycle = model.encoder.cycles[0]
        assert isinstance(cycle, Cycle)
        assert cycle.ring.head_dim == 30
    if name == "bigru":
        assert isinstance(model.encoder, BiGruEncoder)
        assert model.encoder.gru.hidden_size == 150


def test_glove_and_the_tokenizer_can_come_from_torchtext_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        import_torchtext("vocab")
    except ConfigError:
        pytest.skip("needs torchtext 0.18: make test-torchtext")
    (tmp_path / ".vector_cache").mkdir()
    (tmp_path / ".vector_cache" / "glove.6B.300d.txt").write_text(glove())
    monkeypatch.chdir(tmp_path)
    train("ast_torchtext")
    model = siamese(tmp_path / "out")
    assert isinstance(model.tokenizer, TorchtextTokenizer)
    assert model.embedder.output_dim == 300
    known = {line.split()[0] for line in glove().splitlines()}
    assert known <= set(model.vocabulary.words)
    assert {path.name for path in (tmp_path / ".vector_cache").iterdir()} == {
        "glove.6B.300d.txt",
        "glove.6B.300d.txt.pt",
    }


def test_vectors_are_looked_for_before_anything_slow_but_after_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=r"did you mean '6B\.300d'"):
        train("mean", "--vectors", "6B.301d")
    assert not list(tmp_path.iterdir())
    (tmp_path / "out").mkdir()
    (tmp_path / "out/notes.txt").write_text("mine")
    with pytest.raises(LinkerError, match="already exists"):
        train("mean", "--vectors", "6B.300d")


def test_a_file_of_vectors_sets_all_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("odd.txt").write_text("the 1 2 3 4 5 6 7\nferry 2 3 4 5 6 7 8\n")
    for name in ("ast", "bigru"):
        train(name, "--vectors", "odd.txt", "--overwrite")
        assert siamese(tmp_path / "out").embedder.output_dim == 7
