"""Measure the quality of each model on the sample in data/ against pinned floors, which the tests check.

    python scripts/quality_floor.py                    measure and compare with tests/quality_floor.json
    python scripts/quality_floor.py --update           raise surpassed floors, add new models
    python scripts/quality_floor.py --update --allow-regression   write all figures, even lower ones

Training is short and runs in float64 on one thread without dropout, so that neither rounding nor the version of torch
changes the model, and the figures are the same on every machine. The sample's digest is pinned with them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

from linker.common.files import atomic_write
from linker.config import EXPERIMENT, build, load_config, resolve
from linker.data.data_source import DataSource
from linker.evaluation.evaluate import evaluate
from linker.models.model import Model

ROOT = Path(__file__).resolve().parents[1]
FLOOR = ROOT / "tests" / "quality_floor.json"
TOLERANCE = 0.0005
METRICS = ("r_precision@100", "mAP", "AUC", "MAP", "R-precision")
OVERRIDES = [
    "trainer.epochs=2",
    "trainer.callbacks=[]",
    "model.max_article_tokens=150",
    # Versions of torch draw different dropout masks from the same seed.
    "model.embedder.dropout=0",
]
SMALL = {
    "star_transformer": {"type": "star_transformer", "num_heads": 4, "head_dim": 16, "dropout": 0},
    "cnn": {"type": "cnn", "num_filters": 16, "ngram_sizes": [1, 2], "hidden_dim": 64, "dropout": 0},
    "gru": {"type": "gru", "hidden_dim": 32, "dropout": 0},
    "bigru": {"type": "bigru", "hidden_dim": 32, "dropout": 0},
    "mean": {"type": "mean"},
}


def sample_digest() -> str:
    """Return the SHA-256 of the sample's files."""
    digest = hashlib.sha256()
    for name in ("articles.jsonl", "posts.jsonl", "vectors.txt.gz"):
        digest.update((ROOT / "data" / name).read_bytes())
    return digest.hexdigest()


def measure(model: str) -> dict[str, float]:
    """Return the dev metrics of a lexical model, or of an encoder after two epochs of the quickstart config."""
    config = load_config(ROOT / "configs" / "quickstart.jsonnet", OVERRIDES)
    if model in SMALL:
        config["model"]["encoder"] = SMALL[model]
        metrics = _train(config)
    else:
        dev = build(DataSource, config["data"]).load().dev
        assert dev is not None
        metrics = evaluate(build(Model, model).score(dev.articles, dev.posts), dev)
    return {name: round(metrics[name], 6) for name in METRICS}


def _train(config: dict[str, Any]) -> dict[str, float]:
    """Train and return the dev metrics of the last epoch."""
    resolved = resolve(EXPERIMENT, config)
    threads = torch.get_num_threads()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    try:
        with tempfile.TemporaryDirectory() as folder:
            return build(EXPERIMENT, resolved).run(Path(folder) / "model").epochs[-1]
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_num_threads(threads)


def shortfalls(measured: dict[str, float], floor: dict[str, float]) -> list[str]:
    """Return a message for each metric below its floor by more than the tolerance."""
    return [
        f"{name}: {measured[name]:.4f} is below {floor[name]:.4f}"
        for name in floor
        if measured[name] < floor[name] - TOLERANCE
    ]


def main() -> None:
    """Measure everything and compare or update."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--update", action="store_true", help="raise surpassed floors, add new models")
    parser.add_argument("--allow-regression", action="store_true", help="write lower figures as well")
    options = parser.parse_args()
    pinned = json.loads(FLOOR.read_text()) if FLOOR.exists() else {"models": {}}
    new: dict[str, Any] = {"sample": sample_digest(), "models": {}}
    missed = []
    for model in ("bm25", "tfidf", *SMALL):
        measured, floor = measure(model), pinned["models"].get(model, {})
        missed += [f"{model} {line}" for line in shortfalls(measured, floor)]
        best = {name: max(measured[name], floor.get(name, 0)) for name in METRICS}
        new["models"][model] = measured if options.allow_regression else best
        print(model, measured)
    if missed and not options.allow_regression:
        sys.exit("below the floor:\n" + "\n".join(missed))
    if options.update:
        with atomic_write(FLOOR) as file:
            json.dump(new, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()
