"""Training runs of the quality benchmark: word vectors, distilled students, trained models."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.minilm import minilm_folder
from linker.data.readers.texts import texts_of
from linker.data.tokenizers.social import SocialTokenizer
from linker.data.word_vectors.file import VectorFile

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).resolve().parent / "results"
ENCODERS = ("ast", "bigru", "gru", "cnn")
SEEDS = (1, 2, 3)
# The recipes whose models learn from a teacher first: configs/students.
TAUGHT = ("best", "two_layers", *ENCODERS)
# The paper's setting, the mean of the word vectors as its floor; cheap runs first.
PAPER = ("mean", "cnn", "ast", "gru", "bigru")
# The author's four GPUs saw 4 × 16 articles a step; the learning rate and the epochs make up for less time.
PAPER_CHANGES = (
    "trainer.batches.articles=64",
    "trainer.optimizer.lr=5e-4",
    "trainer.epochs=3",
    "trainer.patience=null",
)
TEXTS = ("--column", "title", "--column", "text", "--column", "claim")


def linker(*arguments: str) -> None:
    """Run a linker command in a separate process on one thread, so that two can run at once."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", "linker.cli.main", *arguments]
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"{' '.join(command)}\n{result.stderr}")


@dataclass(frozen=True)
class Workplace:
    """Folder of everything that is computed once, and configs of sentence-transformers to compare with."""

    work: Path
    rivals: tuple[Path, ...] = ()

    @property
    def vectors(self) -> Path:
        """The distilled word vectors."""
        return self.work / "vectors.txt.gz"

    @property
    def paper_vectors(self) -> Path:
        """The word vectors of the paper's setting."""
        return self.work / "paper-vectors.txt.gz"

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
        """Distill word vectors from the teacher, unless they exist."""
        if not self.vectors.exists():
            self._made("vectors", "vectors", "distill", *self._texts(), "--out", str(self.vectors))

    def train_vectors(self, start: Path) -> None:
        """Train the skip-grams of the paper's setting with gensim, unless they exist.

        Args:
            start: published vectors to begin with.
        """
        if self.paper_vectors.exists():
            return
        from gensim.models import Word2Vec

        files = [str(file) for file in sorted((self.work / "texts").iterdir())]
        texts = dict.fromkeys(texts_of(files, TEXTS[1::2]))
        sentences = list(map(SocialTokenizer().tokenize, texts))
        model = Word2Vec(vector_size=300, min_count=2, sg=1, sample=1e-4, negative=5, seed=1, workers=1)
        model.build_vocab(sentences)
        words, matrix = VectorFile(str(start), max_words=0).read(set(model.wv.index_to_key))
        model.wv.vectors[[model.wv.key_to_index[word] for word in words]] = matrix
        model.train(sentences, total_examples=model.corpus_count, epochs=10)
        model.wv.save_word2vec_format(str(self.paper_vectors))

    def teach(self, recipe: str) -> None:
        """Train a student that the recipe's runs begin with, unless it exists."""
        name = f"{recipe}-student"
        if self.seconds(name) is None:
            loss = {"teacher": str(minilm_folder()), "cache": str(self.work / "said")}
            changes = _overrides(
                f"data.reader.columns={json.dumps(list(TEXTS[1::2]))}",
                *(f"loss.{key}={value}" for key, value in loss.items()),
            )
            self._made(
                name, "train", f"configs/students/{recipe}.jsonnet", "--data", str(self.work / "texts"),
                "--out", str(self.model(name)), "--resume", *changes, *self._sources(recipe),
            )  # fmt: skip

    def train(
        self,
        name: str,
        recipe: str,
        seed: int,
        start: str | None,
        data: str = "train",
    ) -> None:
        """Train on the links of WORK/data, unless that was done; resume an interrupted run."""
        given = ["--data", str(self.work / data), *self._sources(recipe)]
        start_there = (f"start={self.model(start)}",) if start else ()
        self._train(name, _config(recipe), *given, *_overrides(f"seed={seed}", *start_there))

    def train_as_the_paper(self, encoder: str, seed: int) -> None:
        """Train an encoder by the recipe of Danovitch 2020, unless that was done."""
        given = ["--data", str(self.work / "train"), "--vectors", str(self.paper_vectors)]
        changes = _overrides(f"seed={seed}", *PAPER_CHANGES)
        self._train(f"paper-{encoder}-{seed}", f"configs/{encoder}.jsonnet", *given, *changes)

    def _train(self, name: str, config: str, *arguments: str) -> None:
        if not (self.work / "models" / f"{name}.seconds").exists():
            self._made(name, "train", config, "--out", str(self.model(name)), "--resume", *arguments)

    def _texts(self) -> list[str]:
        files = [str(file) for file in sorted((self.work / "texts").iterdir())]
        return [*files, *TEXTS, "--teacher", str(minilm_folder()), "--teacher-cache", str(self.work / "said")]

    def _sources(self, recipe: str) -> list[str]:
        """The word vectors of an encoder; the transformer's folder of the others."""
        if recipe in (*ENCODERS, "mean"):
            return ["--vectors", str(self.vectors)]
        part = "model.model.parts.0.path"
        return list(_overrides(f"{part}={minilm_folder()}"))

    def _made(self, name: str, *arguments: str) -> None:
        started = time.monotonic()
        linker(*arguments)
        seconds = time.monotonic() - started
        (self.work / "models").mkdir(exist_ok=True)
        (self.work / "models" / f"{name}.seconds").write_text(f"{seconds:.0f}\n")
        print(f"{time.strftime('%H:%M:%S')} made {name} in {seconds:,.0f} s", flush=True)


def _config(recipe: str) -> str:
    if recipe in (*ENCODERS, "mean"):
        return f"configs/distilled/{recipe}.jsonnet"
    # Runs of the base config keep the name that their folders in WORK have.
    return f"configs/minilm/{'base' if recipe == 'best' else recipe}.jsonnet"


def _overrides(*settings: str) -> list[str]:
    return [word for setting in settings for word in ("-o", setting)]
