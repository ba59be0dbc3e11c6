"""Write the golden set of this version: small model folders, a session, a project, a corpus and word vectors.

    python scripts/make_golden.py            tests/golden/MAJOR.MINOR/

Every later version must read them and give the scores, labels and vectors in `expected.json`; tests/test_golden.py
checks this. Run it once for each minor version, in an environment with the extras vectors, onnx and corpus. A set that
was released is never written again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

# Imported after the path is set.
from linker.annotation.formats.records import ImportedLabel  # noqa: E402
from linker.annotation.project.preparation import create_session  # noqa: E402
from linker.annotation.project.project import ProjectsFolder  # noqa: E402
from linker.annotation.project.settings import ProjectSettings, people_of  # noqa: E402
from linker.annotation.session.journal import Action  # noqa: E402
from linker.annotation.session.session import Session  # noqa: E402
from linker.corpus.storage.store import Store  # noqa: E402
from linker.data import Article  # noqa: E402
from linker.data.io.labels import LabelValue  # noqa: E402
from linker.version import __version__  # noqa: E402
from tests.helpers import golden  # noqa: E402

STORIES = ("s01", "s05", "s08")
ENCODERS: dict[str, Any] = {
    "star_transformer": {"type": "star_transformer", "num_heads": 2, "head_dim": 3, "cycles": 2},
    "cnn": {"type": "cnn", "num_filters": 4},
    "gru": "gru",
    "bigru": "bigru",
    "mean": "mean",
}
#: Rows of the sample in the set, by file.
ARTICLES, POSTS = 6, 60
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789#@:/.!?-'"


def main() -> None:
    """Write the set into a new folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    version = ".".join(__version__.split(".")[:2])
    parser.add_argument(
        "--out", type=Path, default=ROOT / "tests" / "golden" / version, help="folder to write"
    )
    out = parser.parse_args().out.resolve()
    out.mkdir(parents=True)
    # Paths in the files are relative to the set.
    os.chdir(out)
    _write_data()
    linker(
        *("vectors", "train", "articles.jsonl", "posts.jsonl", "--out", "vectors.txt.gz", "--dim", "8"),
        *("--min-count", "2", "--window", "100", "--epochs", "100"),
    )
    _write_models()
    _write_corpus()
    _write_session()
    _write_project()
    linker(
        *(
            "calibrate",
            "--model",
            f"models/{golden.MODEL}",
            "--articles",
            "articles.jsonl",
            "--posts",
            "posts.jsonl",
        ),
        *("--out", "calibration.json"),
    )
    Path("expected.json").write_text(
        json.dumps(expected(Path(".")), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    print(f"{out}: {size / 1e6:.2f} MB")


def linker(*arguments: str) -> None:
    """Run a command; stop if it fails."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-m", "linker", *arguments], check=True, env=environment)


def expected(folder: Path) -> dict[str, Any]:
    """Return what this version reads from a set; sessions and projects are read from copies."""
    with tempfile.TemporaryDirectory() as copied:
        copy = Path(shutil.copytree(folder, Path(copied, "set")))
        return {
            "version": __version__,
            "models": {name: golden.read_model(folder, name) for name in golden.models(folder)},
            "corpus": golden.read_corpus(copy),
            "calibration": golden.read_calibration(folder),
            "session": golden.read_session(copy / "session"),
            "project": golden.read_project(copy),
            "vectors": golden.read_vectors(folder),
        }


def _write_data() -> None:
    """Copy some articles of the sample, shortened, and their posts."""
    articles = [row for row in _rows("articles") if row["id"][:3] in STORIES and row["id"][-1] in "15"][
        :ARTICLES
    ]
    for row in articles:
        row["text"] = " ".join(row["text"].split()[:80])
        row["split"] = "train" if row["id"].endswith("1") else "dev"
    kept = {row["id"] for row in articles}
    linked = [row for row in _rows("posts") if row.get("article_id") in kept]
    chatter = list(islice((row for row in _rows("posts") if "article_id" not in row), 12))
    posts = [row for number, row in enumerate(linked) if number % 10 < 8][: POSTS - len(chatter)] + chatter
    for name, rows in (("articles", articles), ("posts", posts)):
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        Path(f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")


def _rows(name: str) -> Iterator[dict[str, Any]]:
    for line in (ROOT / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def _write_models() -> None:
    """Train one small model of each family."""
    siamese = {"type": "siamese", "vectors": {"source": "vectors.txt.gz"}}
    for name, encoder in ENCODERS.items():
        _train(
            name,
            {
                **siamese,
                "embedder": {"type": "word_vectors", "trainable": name == "mean", "buckets": 50},
                "encoder": encoder,
            },
        )
    _train(
        "word_weights",
        {**siamese, "embedder": "word_vectors_idf", "encoder": "word_weights", "similarity": "euclidean"},
        {"loss": {"type": "median_based", "kappa": 10}, "miner": "balanced"},
    )
    _write_network(Path("tiny"))
    transformer = {"type": "transformer", "path": "tiny", "normalization": "hashtags"}
    _train("transformer", transformer)
    linker("export", "models/transformer", "--onnx", "--out", "models/transformer_onnx")
    ensemble = {
        "type": "ensemble",
        "fusion": "sum",
        "parts": [
            {**transformer, "title_weight": 0.25, "article_prefixes": [32, 64]},
            {"type": "tfidf", "stop_words": "by_language"},
        ],
        "weights": [1, 1],
        "languages": ["en"],
        "other_weights": [0.2, 1],
    }
    softmax = {"type": "article_softmax", "temperature": 0.06, "null_score": 1, "neighbor_weight": 0.3}
    _train(
        "article_softmax",
        {**softmax, "score_center": 2, "score_width": 2, "time": "elapsed_time", "model": ensemble},
    )
    _train(
        "reranker",
        {
            "type": "reranker",
            "first_stage": "models/mean",
            "top": 20,
            "weight": 0.02,
            "second_stage": {"type": "cross_encoder", "path": "tiny", "max_tokens": 64},
        },
        {"loss": "listwise"},
        {
            "batches": {"type": "hard_negatives", "model": "models/mean", "lists": 2, "negatives": 3},
            "metric": "MAP",
        },
    )
    shutil.rmtree("tiny")
    for file in Path("models").rglob("last.safetensors"):
        file.unlink()
    for folder in Path("models").glob("*-log"):
        shutil.rmtree(folder)


def _write_corpus() -> None:
    """Build a corpus whose facts name the model by a relative path, which `linker corpus build` makes absolute."""
    model = f"models/{golden.MODEL}"
    linker("corpus", "build", "posts.jsonl", "--out", "built", "--model", model)
    Store.create(Path("corpus"), replace(Store.open(Path("built")).facts, model=model))
    linker("corpus", "add", "corpus", "posts.jsonl")
    shutil.rmtree("built")


def _train(
    name: str,
    model: dict[str, Any],
    more: dict[str, Any] | None = None,
    trainer: dict[str, Any] | None = None,
) -> None:
    config = {
        "data": {
            "reader": {"type": "articles_and_posts", "articles": "articles.jsonl", "posts": "posts.jsonl"}
        },
        "model": model,
        "miner": "all_pairs",
        "loss": {"type": "info_nce", "temperature": 0.1},
        "trainer": {
            "optimizer": {"type": "adam", "lr": 1e-3},
            "epochs": 1,
            "patience": None,
            "callbacks": [],
            **(trainer or {}),
        },
        "seed": 13,
        **(more or {}),
    }
    file = Path(f"{name}.jsonnet")
    file.write_text(json.dumps(config), encoding="utf-8")
    linker("train", str(file), "--out", f"models/{name}")
    file.unlink()


def _write_network(folder: Path) -> None:
    """Write a network of Hugging Face with two small layers and random weights."""
    import torch

    transformers: Any = import_module("transformers")
    torch.manual_seed(3)
    transformers.utils.logging.disable_progress_bar()
    folder.mkdir()
    text = Path("articles.jsonl").read_text(encoding="utf-8") + Path("posts.jsonl").read_text(
        encoding="utf-8"
    )
    words = sorted(
        {word for word in text.lower().split() if word.isalpha() and text.lower().split().count(word) > 4}
    )
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = dict.fromkeys([*special, *LETTERS, *(f"##{letter}" for letter in LETTERS), *words])
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    tokenizer = transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt"))
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), max_position_embeddings=192, pad_token_id=0, hidden_size=16, num_hidden_layers=2,
        num_attention_heads=2, intermediate_size=24, initializer_range=0.5,
    )  # fmt: skip
    tokenizer.save_pretrained(folder)
    transformers.BertModel(config).save_pretrained(folder)


def _write_session() -> None:
    """Two annotators label, one takes a label back, and a disagreement is adjudicated."""
    articles, posts = golden.texts(Path("."))
    labels = (
        {"name": "About it", "value": "relevant"},
        {"name": "Same story", "value": "not"},
        {"name": "Other", "value": "not"},
        {"name": "Unsure", "value": "skip"},
    )
    with Session.create(
        "session", articles[:1], posts, "models/mean", rule={"type": "recall", "target": 0.8},
        guidelines="# What counts\n\nNews of it.", overlap=0.5, question="Is the post about the ferry?", labels=labels,
        background=False,
    ) as session:  # fmt: skip
        seen: set[str] = set()
        disputed: list[str] = []
        for number in range(30):
            annotator = ("ann", "bo")[number % 2]
            post = session.next(annotator)[0].post
            relevant = post.article_ids == (articles[0].id,)
            if post.id in seen and len(disputed) < 2:
                disputed.append(post.id)
                relevant = not relevant
            seen.add(post.id)
            value: LabelValue = "skip" if number == 12 else "relevant" if relevant else "not"
            choice = {"skip": "Unsure", "relevant": "About it", "not": "Other"}[value]
            note = "quotes the captain" if number == 3 else None
            session.act(Action("label", annotator, post.id, value, note, f"request-{number}", choice))
        session.undo("ann")
        session.import_labels(
            [ImportedLabel(posts[0].id, "program", "relevant", machine=True)], "machine.jsonl"
        )
        session.resolve("ann", disputed[0], "relevant")


def _write_project() -> None:
    """Two people label in a project of the web page."""
    articles, posts = golden.texts(Path("."))
    first = articles[0]
    settings = ProjectSettings(
        title="Ferry", articles=(Article(first.id, first.text, first.title),), question="Is it about the ferry?",
        people=people_of(["Ann", "Bo"]), model="bm25", labels_per_post=2, overlap=0.5, target=0.9,
    )  # fmt: skip
    project = ProjectsFolder(Path("projects")).create(settings)
    with project.upload("posts.jsonl") as file:
        file.write(Path("posts.jsonl").read_bytes())
    create_session(project, posts)
    with Session.open(project.session_folder, background=False) as session:
        for annotator in ("Ann", "Bo"):
            for _ in range(4):
                post = session.next(annotator)[0].post
                session.label(annotator, post.id, "relevant" if post.article_ids == (first.id,) else "not")


if __name__ == "__main__":
    main()
