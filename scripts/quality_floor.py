"""Measure the quality of each model on the sample in data/ against pinned floors, which the tests check.

    python scripts/quality_floor.py                    measure and compare with tests/quality_floor.json
    python scripts/quality_floor.py --update           raise surpassed floors, add new models
    python scripts/quality_floor.py --update --allow-regression   write all figures, even lower ones, and the scores

Training is short and runs in float64 on one thread without dropout, so that neither rounding nor the version of torch
changes the model, and the figures are the same on every machine. The sample's digest is pinned with them.

The bundled models are measured as they are, with articles alone and together, with and without dates. Their scores of
200 pairs of an article and a post are pinned, too: a floor notices a worse model, a score notices any other model.
"""

from __future__ import annotations

import argparse
import csv
import functools
import hashlib
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from linker.common.files import atomic_write
from linker.config import EXPERIMENT, build, load_config, resolve
from linker.data.data_source import DataSource
from linker.data.types import LinkedPosts
from linker.evaluation.evaluate import evaluate
from linker.models.elapsed_time import without_dates
from linker.models.files.resolve import resolve_model
from linker.models.model import Model

ROOT = Path(__file__).resolve().parents[1]
FLOOR = ROOT / "tests" / "quality_floor.json"
#: Scores of pairs of an article and a post.
SCORES = ROOT / "tests" / "quality_scores.csv"
TOLERANCE = 0.0005
#: Points of 100. The embeddings of bundled models have the same bits with AVX2 and AVX-512 (decision 168); the sums of
#: TF-IDF and of the parts of a model are rounded differently, which changes scores by less than 0.001.
SCORE_TOLERANCE = 0.01
BUNDLED = ("best", "distilled")
PAIRS = 200
METRICS = ("r_precision@100", "pair AP", "AUC", "MAP", "R-precision")
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
    """Return the dev metrics of a model; those of an encoder after two epochs of the quickstart config."""
    if model in BUNDLED:
        return _measure_bundled(model)
    config = load_config(ROOT / "configs" / "quickstart.jsonnet", OVERRIDES)
    if model in SMALL:
        config["model"]["encoder"] = SMALL[model]
        metrics = _train(config)
    else:
        dev = _dev(config)
        metrics = evaluate(build(Model, model).score(dev.articles, dev.posts), dev)
    return {name: round(metrics[name], 6) for name in METRICS}


def _dev(config: dict[str, Any]) -> LinkedPosts:
    dev = build(DataSource, config["data"]).load().dev
    assert dev is not None
    return dev


@functools.cache
def _bundled(name: str) -> tuple[Model, LinkedPosts, dict[str, np.ndarray]]:
    """Return a bundled model, the dev part, and its scores with articles alone, with and without dates."""
    dev = _dev(load_config(ROOT / "configs" / "quickstart.jsonnet"))
    model = resolve_model(name).load()
    articles = {"": dev.articles, ", no dates": without_dates(dev.articles)}
    return model, dev, {dates: model.score_independently(some, dev.posts) for dates, some in articles.items()}


def _measure_bundled(name: str) -> dict[str, float]:
    """Return MAP and nDCG with articles alone and together, with and without dates."""
    model, dev, alone = _bundled(name)
    together = {"": model.score(dev.articles, dev.posts)}
    together[", no dates"] = model.score(without_dates(dev.articles), dev.posts)
    figures = {}
    for way, by_dates in (("alone", alone), ("together", together)):
        for dates, scores in by_dates.items():
            metrics = evaluate(scores, dev)
            for metric in ("MAP", "nDCG@10", "nDCG@100"):
                figures[f"{metric} {way}{dates}"] = round(metrics[metric], 6)
    return figures


def scores_of_pairs() -> list[dict[str, str]]:
    """Return the scores, 0 to 100, that the bundled models give 200 pairs of the dev part, half of them relevant.

    Each article is scored by itself, with all posts of the part.
    """
    _, dev, _ = _bundled(BUNDLED[0])
    relevance, draw = dev.relevance() > 0, random.Random(0)
    pairs = [
        pair
        for kind in (relevance, ~relevance)
        for pair in draw.sample([(int(a), int(p)) for a, p in np.argwhere(kind)], PAIRS // 2)
    ]
    rows = [{"article": dev.articles[a].id, "post": dev.posts[p].id} for a, p in pairs]
    for name in BUNDLED:
        model, _, alone = _bundled(name)
        for dates, raw in alone.items():
            scores = model.score_scale()(raw)
            for row, pair in zip(rows, pairs):
                row[f"{name}{dates}"] = f"{scores[pair]:.4f}"
    return rows


def changed_scores(found: list[dict[str, str]], pinned: list[dict[str, str]]) -> list[str]:
    """Return a message for each score that differs from the pinned one by more than the tolerance."""
    if [(row["article"], row["post"]) for row in found] != [(row["article"], row["post"]) for row in pinned]:
        return ["the pairs are others than the pinned ones"]
    return [
        f"{column}, article {old['article']}, post {old['post']}: {new[column]} was {old[column]}"
        for new, old in zip(found, pinned)
        for column in old
        if column not in ("article", "post")
        and abs(float(new[column]) - float(old[column])) > SCORE_TOLERANCE
    ]


def pinned_scores() -> list[dict[str, str]]:
    """Return the pinned scores of pairs."""
    with SCORES.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


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
    for model in ("bm25", "tfidf", *BUNDLED, *SMALL):
        measured, floor = measure(model), pinned["models"].get(model, {})
        missed += [f"{model} {line}" for line in shortfalls(measured, floor)]
        best = {name: max(value, floor.get(name, 0)) for name, value in measured.items()}
        new["models"][model] = measured if options.allow_regression else best
        print(model, measured)
    scores = scores_of_pairs()
    changed = changed_scores(scores, pinned_scores()) if SCORES.exists() else []
    missed += [f"{len(changed)} scores of bundled models changed", *changed[:5]] if changed else []
    if missed and not options.allow_regression:
        sys.exit("below the floor:\n" + "\n".join(missed))
    if options.update:
        with atomic_write(FLOOR) as file:
            json.dump(new, file, indent=2)
            file.write("\n")
        with atomic_write(SCORES) as file:
            writer = csv.DictWriter(file, list(scores[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(scores)


if __name__ == "__main__":
    main()
