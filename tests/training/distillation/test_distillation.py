"""Distillation with `linker train`: a student learns from a teacher, then from links."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from linker.cli.main import app
from linker.common.errors import ConfigError, LinkerError, ModelError
from linker.config import EXPERIMENT, build, check, load_config
from linker.data.types import Post
from linker.models.files.archive import load_model, save_model
from linker.models.model import Model
from linker.training.experiment import Experiment
from tests.conftest import toy_posts
from tests.helpers.cli import invoke
from tests.helpers.encoders import encoder
from tests.helpers.training_runs import write_workplace
from tests.training.test_transformer_training import StopAfter

ROOT = Path(__file__).parents[3]
DIM = 12
CONFIG = """{
  data: { reader: { type: 'articles_and_posts', articles: 'articles.jsonl', posts: 'posts.jsonl' } },
  model: {
    type: 'article_softmax', temperature: 0.1, null_score: 0.3,
    model: {
      type: 'ensemble', fusion: 'sum', parts: [
        { type: 'siamese', encoder: 'mean', embedder: { type: 'word_vectors', dim: 12, trainable: true, buckets: 50 },
          min_count: 1 },
        'tfidf',
      ],
    },
  },
  miner: 'all_pairs',
  loss: 'info_nce',
  trainer: { optimizer: { type: 'adam', lr: 0.01 }, epochs: 0 },
  seed: 4,
}"""
STUDENT = """(import 'c.jsonnet') + {
  data: { reader: { type: 'texts', files: 'texts.jsonl' }, splitter: 'by_text' },
  loss: { type: 'distillation', teacher: 'teacher' },
  trainer: {
    optimizer: { type: 'adam', lr: 5e-4 },
    schedule: { type: 'linear', warmup: 0.05 },
    batches: { type: 'texts', size: 50 },
    epochs: 3,
    patience: null,
    metric: 'teacher_cosine',
    callbacks: ['json_lines'],
  },
}"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A teacher, a config, and texts of more sorts than articles."""
    monkeypatch.chdir(tmp_path)
    data = toy_posts()
    teacher = {
        "type": "siamese",
        "encoder": "mean",
        "embedder": {"type": "word_vectors", "dim": DIM, "trainable": True, "buckets": 50},
        "min_count": 1,
    }
    torch.manual_seed(0)  # with one of three other teachers, the student ends in a poorer minimum
    model = build(Model, teacher)
    model.prepare(data)
    save_model(model, tmp_path / "teacher", {"model": teacher}, {}, "")
    words = sorted({word for post in data.posts for word in post.text.split()})
    generator = np.random.default_rng(1)
    texts = [" ".join(generator.choice(words, size=6)) for _ in range(1040)]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    write_workplace(tmp_path)
    (tmp_path / "c.jsonnet").write_text(CONFIG)
    (tmp_path / "student.jsonnet").write_text(STUDENT)
    return tmp_path


run = partial(invoke, app)


def distil(*arguments: str) -> str:
    """Run `linker train`; `--epochs` and `--lr` set the config keys."""
    keys = {"--epochs": "trainer.epochs", "--lr": "trainer.optimizer.lr", "--cache": "loss.cache"}
    options = list(arguments)
    for at, word in enumerate(options[:-1]):
        if word in keys:
            options[at : at + 2] = ["-o", f"{keys[word]}={options[at + 1]}"]
    return run("train", "student.jsonnet", *options)


def cosine(folder: Path) -> float:
    return json.loads((folder / "metrics.json").read_text())["dev"]["teacher_cosine"]


def test_a_student_learns_in_the_precision_of_the_trainer(place: Path) -> None:
    cnn = f"{{ type: 'cnn', num_filters: 4, hidden_dim: {DIM}, dropout: 0 }}"  # a mean multiplies nothing
    (place / "c.jsonnet").write_text(CONFIG.replace("encoder: 'mean'", f"encoder: {cnn}"))
    for out, precision in (("exact", "float32"), ("lower", "bfloat16")):
        distil("--out", out, "--epochs", "3", "--lr", "0.01", "-o", f"trainer.precision={precision}")
    exact, lower = (load_file(place / out / "part-0" / "model.safetensors") for out in ("exact", "lower"))
    # Rounded products change every step of Adam somewhat; the dev set's cosine may agree by chance.
    assert max(np.abs(lower[name] - value).max() for name, value in exact.items()) > 1e-4
    assert cosine(place / "exact") == pytest.approx(cosine(place / "lower"), abs=0.02)


def test_a_student_says_more_and_more_what_its_teacher_says_of_texts_kept_out(place: Path) -> None:
    assert "cosine to the teacher" in distil("--out", "once", "--epochs", "1", "--cache", "said")
    kept = {path: path.stat().st_mtime_ns for path in (place / "said").iterdir()}
    more = ["-o", "trainer.batches.size=250"]
    distil("--out", "often", "--epochs", "120", "--lr", "0.1", "--cache", "said", *more)
    assert {path: path.stat().st_mtime_ns for path in (place / "said").iterdir()} == kept
    assert cosine(place / "often") > max(0.95, cosine(place / "once"))
    student = load_model(place / "often").submodels()[0].submodels()[0]
    new = ["unseen words", *(post.text for post in toy_posts(seed=9).posts)]
    vectors = encoder(student).post_vectors([Post(text, text) for text in new])
    assert vectors.shape == (len(new), DIM)
    assert "no links" in (place / "often" / "README.md").read_text()


def test_a_student_of_fewer_numbers_learns_from_a_teacher_of_more(place: Path) -> None:
    distil("--out", "small", "--epochs", "12", "--lr", "0.1", "-o", "model.model.parts.0.embedder.dim=10")
    teacher = load_model(place / "teacher")
    student = load_model(place / "small").submodels()[0].submodels()[0]
    new = toy_posts(seed=9).posts
    theirs, own = encoder(teacher).post_vectors(new), encoder(student).post_vectors(new)
    assert own.shape == (len(new), 10)
    pairs = np.triu_indices(len(new), 1)
    assert np.corrcoef((theirs @ theirs.T)[pairs], (own @ own.T)[pairs])[0, 1] > 0.9


def test_training_begins_with_the_weights_of_the_start_and_resumes_from_them(place: Path) -> None:
    distil("--out", "student", "--epochs", "2")
    weights = "part-0/model.safetensors"
    # Vectors that are named but gone are not missed.
    gone = "-o", "model.model.parts.0.vectors.source=gone.txt"
    run("train", "c.jsonnet", "--out", "same", "-o", "start=student", *gone)
    first, same = load_file(place / "student" / weights), load_file(place / "same" / weights)
    for name, value in first.items():
        np.testing.assert_array_equal(value, same[name])
    # The words are those of the start, although the links have others.
    assert (place / "same/part-0/vocabulary.txt").read_bytes() == (
        place / "student/part-0/vocabulary.txt"
    ).read_bytes()
    run("train", "c.jsonnet", "--out", "more", "-o", "start=student", "-o", "trainer.epochs=1")
    assert any((first[name] != value).any() for name, value in load_file(place / "more" / weights).items())
    assert "started from the weights of student" in (place / "more" / "README.md").read_text()


def test_a_start_that_is_none_or_another_model_is_one_message(place: Path) -> None:
    with pytest.raises(ModelError, match="model folder not found"):
        run("train", "c.jsonnet", "--out", "a", "-o", "start=nowhere")
    distil("--out", "student", "--epochs", "1")
    wider = ["-o", "start=student", "-o", "model.model.parts.0.embedder.dim=13"]
    there = r"another model: model\.model\.parts\.0\.embedder\.dim is 12 there and 13 here"
    with pytest.raises(ConfigError, match=there):
        run("train", "c.jsonnet", "--out", "a", *wider)
    assert not (place / "a").exists()


def test_what_makes_scores_of_vectors_may_differ_from_the_start(place: Path) -> None:
    distil("--out", "student", "--epochs", "1")
    other = [
        "-o", "model.null_score=0.5", "-o", "model.neighbor_weight=0.1", "-o",
        "model.model.weights=[1, 0.3]",
    ]  # fmt: skip
    run("train", "c.jsonnet", "--out", "a", "-o", "start=student", "-o", "trainer.epochs=1", *other)
    assert json.loads((place / "a" / "config.json").read_text())["model"]["null_score"] == 0.5


def test_a_teacher_of_too_few_numbers_and_too_few_texts_are_reported(place: Path) -> None:
    part = "-o", "model.model.parts.0.embedder.dim=13"
    with pytest.raises(
        ConfigError, match=r"loss\.teacher: its embeddings have 12 dimensions, the model's 13"
    ):
        distil("--out", "a", *part)
    (place / "texts.jsonl").write_text('{"text": "one"}\n')
    with pytest.raises(LinkerError, match="give at least 2"):
        distil("--out", "a")
    assert not (place / "a").exists()


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Use one thread, as other tests of resuming do: with more, sums of gradients differ in their last bits."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_a_distillation_resumes_as_if_nothing_had_happened(place: Path, one_thread: None) -> None:
    def experiment() -> Experiment:
        more = ["trainer.checkpoint_seconds=0", "trainer.batches.size=250"]
        return build(EXPERIMENT, load_config("student.jsonnet", [*more, "loss.cache=cache"]))

    experiment().run(place / "whole")
    broken = experiment()
    broken.trainer.callbacks.append(StopAfter(6))
    with pytest.raises(LinkerError, match="crash"):
        broken.run(place / "broken")
    experiment().run(place / "broken", resume=True)
    for name in ("part-0/model.safetensors", "last.safetensors", "metrics.json"):
        assert (place / "broken" / name).read_bytes() == (place / "whole" / name).read_bytes(), name
    log = [json.loads(line) for line in (place / "broken-log" / "train.jsonl").read_text().splitlines()]
    assert [line["step"] for line in log if "step" in line] == list(range(1, 13))


def test_the_fine_tuned_config_and_the_student_have_one_model(place: Path) -> None:
    """The recipes in configs/students differ from the configs they prepare in data, loss and training only."""
    files = sorted((ROOT / "configs/students").glob("*.jsonnet"))
    assert len(files) >= 6
    for file in files:
        minilm = {"best": "minilm/base.jsonnet"}
        minilm |= {name: f"minilm/{name}.jsonnet" for name in ("two_layers", "multilingual")}
        name = minilm.get(file.stem, f"distilled/{file.name}")
        student, model = load_config(file), load_config(ROOT / "configs" / name)
        assert student["model"] == model["model"]
        assert student["loss"]["type"] == "distillation"
        assert not check(EXPERIMENT, dict(student))


@pytest.mark.slow
def test_two_processes_share_the_encoding_and_distill_what_one_does(place: Path) -> None:
    command = [sys.executable, "-m", "linker.cli.main", "train", "student.jsonnet", "-o", "loss.cache=null"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    for out, more in (("alone", []), ("together", ["--devices", "2"])):
        subprocess.run([*command, "--out", out, *more], env=environment, check=True)
    alone, together = (load_file(place / out / "last.safetensors") for out in ("alone", "together"))
    for name, value in alone.items():
        np.testing.assert_allclose(together[name], value, atol=1e-5)
    assert cosine(place / "together") == pytest.approx(cosine(place / "alone"), abs=1e-5)
    assert len(list((place / "together-log/teacher-cache").iterdir())) == 2
