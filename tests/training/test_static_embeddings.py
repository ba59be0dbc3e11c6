"""Word vectors fitted to a teacher: they say what it says, of new texts too, and nothing is asked twice."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from linker.cli.main import app
from linker.common.errors import DataError, ModelError
from linker.config import build
from linker.data.tokenizers.simple import WhitespaceTokenizer
from linker.data.word_vectors.file import VectorFile
from linker.models.files.archive import save_model
from linker.models.model import Model
from linker.training.distillation.teacher import CachedTeacher, Teacher
from linker.training.static_embeddings import distill_vectors
from tests.conftest import toy_posts

WORDS = [f"w{i}" for i in range(80)]


class SumOfWords:
    """A teacher whose words have weights that no single word shows."""

    def __init__(self) -> None:
        generator = np.random.default_rng(1)
        self.vectors = dict(zip(WORDS, generator.normal(size=(80, 16))))
        self.weights = dict(zip(WORDS, generator.uniform(0.05, 3, size=80)))
        self.asked: list[str] = []

    def __call__(self, texts):
        self.asked += texts
        sums = [sum(self.weights[w] * self.vectors[w] for w in text.split()) for text in texts]
        return np.array([s / np.linalg.norm(s) for s in sums], dtype=np.float32)


def random_texts(count: int, seed: int) -> list[str]:
    generator = np.random.default_rng(seed)
    return [" ".join(generator.choice(WORDS, size=generator.integers(2, 9))) for _ in range(count)]


def distil(tmp_path: Path, teacher, texts, name="v.txt.gz", **settings):
    settings = {"epochs": 30} | settings
    cached = CachedTeacher(tmp_path / "said", "sum", teacher)
    result = distill_vectors(texts, cached, WhitespaceTokenizer(), tmp_path / name, **settings)
    return result, VectorFile(str(tmp_path / name)).read(None)


def unit(matrix: np.ndarray) -> np.ndarray:
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def test_sums_of_the_vectors_say_what_the_teacher_says_of_new_texts(tmp_path: Path) -> None:
    teacher = SumOfWords()
    (count, read, cosine), (words, matrix) = distil(tmp_path, teacher, random_texts(3000, 2))
    assert (count, set(words)) == (80, set(WORDS))
    assert read == len(set(random_texts(3000, 2)))
    row = dict(zip(words, matrix))
    new = random_texts(200, 3)
    sums = unit(np.array([sum(row[word] for word in text.split()) for text in new]))
    own = (sums * SumOfWords()(new)).sum(1)
    plain = unit(np.array([sum(teacher.vectors[word] for word in text.split()) for text in new]))
    assert own.mean() > 0.97 > (plain * SumOfWords()(new)).sum(1).mean()
    assert cosine > 0.97


def test_nothing_is_asked_twice_and_an_interrupted_run_continues(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("linker.training.distillation.teacher.TEXTS_PER_FILE", 100)
    teacher, texts = SumOfWords(), random_texts(500, 4)

    def interrupted(part):
        if len(teacher.asked) > 300:
            raise KeyboardInterrupt
        return teacher(part)

    with pytest.raises(KeyboardInterrupt):
        distil(tmp_path, interrupted, texts, epochs=2)
    assert not (tmp_path / "v.txt.gz").exists()
    _, (_, first) = distil(tmp_path, teacher, texts, epochs=2)
    assert sorted(teacher.asked) == sorted({*texts, *WORDS})
    # More texts: only these are new. Damage: only what it held is asked again.
    distil(tmp_path, teacher, [*texts, "w1 w2 w3 w4 w5 w6 w7 w8 w9 w10"], "more.txt", epochs=1)
    assert len(teacher.asked) == len({*texts, *WORDS}) + 1
    next(iter(sorted((tmp_path / "said").glob("*.npz")))).write_bytes(b"torn")
    _, (_, again) = distil(tmp_path, teacher, texts, epochs=2)
    assert len(teacher.asked) <= len({*texts, *WORDS}) + 1 + 100
    np.testing.assert_array_equal(first, again)


def test_long_texts_are_read_in_pieces_and_rare_words_left_out(tmp_path: Path) -> None:
    teacher = SumOfWords()
    long = " ".join(WORDS[i % 79] for i in range(250))
    (words, read, _), _ = distil(tmp_path, teacher, [long, "w79 w1 w2"], epochs=1)
    assert max(len(text.split()) for text in teacher.asked) == 100
    assert (words, read) == (79, 4)
    with pytest.raises(DataError, match="no word occurs 9 times"):
        distil(tmp_path, teacher, ["w1 w2"], min_count=9)


def test_the_command_with_a_model_folder_as_teacher(tmp_path: Path) -> None:
    data = toy_posts()
    config = {
        "model": {
            "type": "siamese",
            "encoder": "mean",
            "embedder": {"type": "word_vectors", "dim": 12, "trainable": True, "buckets": 50},
            "min_count": 1,
        }
    }
    model = build(Model, config["model"])
    model.prepare(data)
    save_model(model, tmp_path / "teacher", config, {}, "")
    lines = [json.dumps({"text": post.text}) for post in data.posts]
    (tmp_path / "posts.jsonl").write_text("\n".join(lines) + "\n")
    arguments = ["vectors", "distill", str(tmp_path / "posts.jsonl"), "--teacher", str(tmp_path / "teacher")]
    out = tmp_path / "v.txt"
    result = CliRunner().invoke(app, [*arguments, "--out", str(out), "--epochs", "3"])
    assert result.exit_code == 0, result.output
    assert "cosine to the teacher" in result.output
    assert VectorFile(str(out)).read(None)[1].shape[1] == 12
    assert Teacher(str(tmp_path / "teacher")).encode(["a", "b"]).shape == (2, 12)


def test_what_is_not_a_teacher_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="neither the folder of a sentence-transformers model nor"):
        Teacher(str(tmp_path))
    save_model(build(Model, "tfidf"), tmp_path / "lexical", {"model": "tfidf"}, {}, "")
    with pytest.raises(ModelError, match="has no embeddings to learn from"):
        Teacher(str(tmp_path / "lexical"))
