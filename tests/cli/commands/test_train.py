"""`linker train` as a subprocess, from config to model folder."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from linker.models.files.archive import load_model
from linker.models.siamese.word_siamese import WordSiamese
from tests.helpers.forked import run_linker
from tests.helpers.training_runs import outcome, write_workplace


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    return write_workplace(tmp_path)


def from_nothing(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`linker ARGUMENTS` in a process that shares nothing with others."""
    return subprocess.run(
        [sys.executable, "-m", "linker.cli.main", *arguments], cwd=folder, capture_output=True, text=True
    )


def test_the_same_seed_gives_the_same_folder_byte_for_byte(workplace):
    for name, seed, linker in (("a", 4, from_nothing), ("b", 4, run_linker), ("c", 5, run_linker)):
        options = ("-o", f"seed={seed}", "-o", "trainer.epochs=2")
        result = linker(workplace, "train", "config.jsonnet", "--out", f"runs/{name}", *options)
        assert result.returncode == 0, result.stderr
        assert "epoch 2/2" in result.stderr
        assert "have a vector" in result.stderr
        assert result.stderr.endswith(
            f"next: linker evaluate --model runs/{name} best --articles FILE --posts FILE\n"
        )
    first, second, other = (outcome(workplace, f"runs/{name}") for name in "abc")
    assert first == second
    assert first["model.safetensors"] != other["model.safetensors"]
    assert set(first) == {
        "README.md", "config.json", "last.safetensors", "log", "manifest.json", "metrics.json",
        "model.safetensors", "vocabulary.txt",
    }  # fmt: skip
    metrics = json.loads((workplace / "runs/a/metrics.json").read_text())
    assert set(metrics["dev"]) >= {"pair AP", "AUC", "MAP", "R-precision"}
    assert first["log"]
    model = load_model(workplace / "runs/a")
    assert isinstance(model, WordSiamese)
    assert model.encoder.output_dim == 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "model.encoder.num_head=2"], "num_heads"),
        (["-o", "trainer.metric=accuracy"], "accuracy"),
        (["-o", "data.reader.posts=absent.jsonl"], "absent.jsonl"),
        (["-o", "trainer.epochs=many"], "trainer.epochs"),
        (["-o", "{model: {type: 'bm25'}}"], "no weights to train"),
    ],
)
def test_errors_are_reported_without_a_traceback_and_leave_nothing(workplace, arguments, message):
    result = run_linker(workplace, "train", "config.jsonnet", "--out", "out", *arguments)
    assert result.returncode == 2, result.stderr
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not (workplace / "out").exists()


@pytest.mark.parametrize(("out", "blocker"), [("file/model", "file"), ("model", "model-log")])
def test_a_place_that_cannot_be_written_is_reported_before_any_work(workplace, out, blocker):
    (workplace / blocker).write_text("a file")
    result = run_linker(workplace, "train", "config.jsonnet", "--out", out)
    assert result.returncode == 2
    first, error = result.stderr.splitlines()
    assert first == f"training config.jsonnet; the model will be in {out}"
    assert f"{blocker} is not a folder" in error
    assert not (workplace / "model").exists()
