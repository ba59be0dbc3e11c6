"""configs/minilm/finetune.jsonnet: training that starts from the bundled model."""

import gzip
from pathlib import Path

import numpy as np

import linker
from linker.data.types import Article, Post
from linker.models.files.archive import load_model
from linker.models.pretrained import FOLDERS
from tests.helpers.forked import run_linker

ROOT = Path(__file__).parents[2]


def test_it_begins_with_the_bundled_model_and_needs_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    for name in ("articles", "posts"):
        lines = (ROOT / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        few = [line for line in lines if "s01-a" in line or "s16-a" in line]
        with gzip.open(tmp_path / "links" / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join(few) + "\n")
    command = ["train", str(ROOT / "configs/minilm/finetune.jsonnet")]
    command += ["--out", "same", "--data", "links", "-o", "trainer.epochs=0"]
    command += ["-o", "model.model.parts.0.precision=float32"]  # bfloat16 rounds more than the tolerance
    done = run_linker(tmp_path, *command)
    assert done.returncode == 0, done.stderr
    article = Article("a", "Doctors strike over pay", "Hospitals will be closed on #BankHoliday Monday.")
    posts = [
        Post("p", "physicians want better wages"),
        Post("q", "he scored"),
        Post("r", "a strike on bank holiday"),
    ]
    scores = linker.load(str(tmp_path / "same")).model.score([article], posts)
    # The network that it starts from, of which linker.load("best") runs an int8 graph.
    bundled = load_model(FOLDERS["best"])
    np.testing.assert_allclose(scores, bundled.score([article], posts), atol=1e-3)
    assert "started from the weights of best" in (tmp_path / "same/README.md").read_text(encoding="utf-8")
