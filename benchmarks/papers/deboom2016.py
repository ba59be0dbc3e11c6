"""Compare learned word weights with pooling baselines on neighboring passages; write results/deboom2016.md.

    python -m benchmarks.papers.deboom2016 --articles ARTICLES --tweets TWEETS --vectors VECTORS --other OTHER \\
        --work WORK

ARTICLES is a file of running text, TWEETS the file t6.tsv.gz of CrisisLex; VECTORS are 300-d word vectors, OTHER
others to which the learned weights are transferred without training. WORK receives the model folders. The protocol is
that of De Boom et al. 2016: weights from train, the threshold between related and unrelated pairs from dev, all
reported figures from test.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.papers.deboom2016_metrics import (
    PairDistances,
    Result,
    WordTfidf,
    best_threshold,
    jensen_shannon,
    split_error,
)
from benchmarks.papers.deboom2016_report import CONTRASTIVE, MEDIAN, draw_distances, table
from linker.config import build, load_config
from linker.contrib.deboom2016.word_weights import WordPoolingEncoder, WordWeightsEncoder
from linker.data.data_source import DataSource
from linker.data.splitters.splitter import Splits
from linker.data.types import LinkedPosts
from linker.models.files.archive import load_model
from linker.models.model import Model
from linker.models.siamese.word_siamese import WordSiamese
from linker.training.experiment import Experiment

ROOT = Path(__file__).resolve().parents[2]
NOTES, REPORT, PICTURE = (
    Path(__file__).parent / "results" / name
    for name in ("deboom2016-notes.md", "deboom2016.md", "deboom2016.svg")
)
KAPPAS = (10, 40, 160)
SEED = 13
# The paper has 30,000 batches an epoch, here are some 500: each counts for more. For the median-based loss 0.01 belongs
# to κ = 160, which multiplies its gradient.
RATE_CONTRASTIVE, RATE_TIMES_KAPPA = 1.0, 1.6
POOLINGS: dict[str, dict[str, Any]] = {
    "mean": {"pool": "mean"},
    "max": {"pool": "max"},
    "min": {"pool": "min"},
    "min/max": {"pool": "min_max"},
    "mean, top 30 % idf": {"pool": "mean", "top": 0.3},
    "max, top 30 % idf": {"pool": "max", "top": 0.3},
    "min/max, top 30 % idf": {"pool": "min_max", "top": 0.3},
    "mean, idf-weighted": {"pool": "mean", "idf_weighted": True},
}
Distance = Callable[[LinkedPosts, np.ndarray], np.ndarray]


@dataclass
class Compared:
    """All methods on one kind of pairs: a result for each seed, or one of a method without training."""

    results: dict[str, list[Result]]
    splits: Splits
    kappa: int


def partners(part: LinkedPosts, seed: int) -> np.ndarray:
    """Return for each first text a second one of another article, or without a common hashtag."""
    rng = np.random.default_rng(seed)
    groups = [
        set(post.extra.get("hashtags") or [article.story]) for article, post in zip(part.articles, part.posts)
    ]
    chosen = rng.permutation(len(groups))
    while wrong := [i for i, j in enumerate(chosen) if groups[i] & groups[j]]:
        chosen[wrong] = rng.integers(len(groups), size=len(wrong))
    return chosen


def tweets_of(path: Path, work: Path) -> Path:
    """Return the tweets as posts; since November 2010 their ids contain the time in milliseconds."""
    out = work / "tweets.jsonl"
    with (
        gzip.open(path, "rt", encoding="utf-8", newline="") as file,
        out.open("w", encoding="utf-8") as posts,
    ):
        seen = set()
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            number = row["tweet_id"]
            if number in seen:
                continue
            seen.add(number)
            time = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(
                milliseconds=(int(number) >> 22) + 1288834974657
            )
            post = {"id": number, "text": row["text"], "created_at": time.isoformat()}
            posts.write(json.dumps(post) + "\n")
    return out


def measured(distance: Distance, splits: Splits) -> Result:
    """Return the metrics on test at the threshold of dev; unrelated pairs are the same for every method."""
    of = {}
    for name, part in (("dev", splits.dev), ("test", splits.test)):
        assert part is not None
        own = np.arange(len(part.articles))
        of[name] = PairDistances(distance(part, own), distance(part, partners(part, seed=1)))
    threshold = best_threshold(of["dev"])
    return Result(split_error(of["test"], threshold), jensen_shannon(of["test"]), of["test"], threshold)


def vector_distance(model: WordSiamese) -> Distance:
    """Euclidean distance of a model's vectors."""
    known: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def distance(part: LinkedPosts, chosen: np.ndarray) -> np.ndarray:
        if id(part) not in known:
            known[id(part)] = (
                model.encode([model.article_tokens(article) for article in part.articles]),
                model.encode([model.post_tokens(post) for post in part.posts]),
            )
        firsts, seconds = known[id(part)]
        return np.linalg.norm(firsts - seconds[chosen], axis=1)

    return distance


def tfidf_distance(train: LinkedPosts) -> Distance:
    """1 − cosine of TF-IDF vectors."""
    texts = [article.text.split() for article in train.articles] + [post.text.split() for post in train.posts]
    tfidf = WordTfidf(texts)

    def distance(part: LinkedPosts, chosen: np.ndarray) -> np.ndarray:
        firsts = tfidf.vectors([article.text.split() for article in part.articles])
        seconds = tfidf.vectors([post.text.split() for post in part.posts])
        return 1 - np.asarray(firsts.multiply(seconds[chosen]).sum(axis=1)).ravel()

    return distance


def config_of(options: argparse.Namespace, overrides: Sequence[str], vectors: Path | None = None) -> Any:
    inputs = [f"model.vectors.source={vectors or options.vectors}"]
    if not any(override.startswith("data.reader=") for override in overrides):
        inputs.append(f"data.reader.articles={options.articles}")
    return load_config(ROOT / "configs" / "papers" / "deboom2016.jsonnet", overrides=[*inputs, *overrides])


def trained(options: argparse.Namespace, name: str, overrides: Sequence[str]) -> WordSiamese:
    """Return the model of a run, trained unless WORK has it."""
    out = options.work / name
    if not (out / "config.json").is_file():
        config = config_of(options, overrides)
        build(Experiment, config).run(out)
    model = load_model(out)
    assert isinstance(model, WordSiamese)
    return model


def compare(
    options: argparse.Namespace, name: str, overrides: Sequence[str], kappas: Sequence[int] = KAPPAS
) -> Compared:
    """Compare all methods on one kind of pairs; a seed decides only the order of the batches."""
    splits = build(DataSource, config_of(options, overrides)["data"]).load()
    results = {"tf-idf": [measured(tfidf_distance(splits.train), splits)]}
    assert splits.dev is not None
    own = np.arange(len(splits.dev.articles))
    on_dev = {}
    for kappa in kappas:
        distance = vector_distance(trained(options, f"{name}-median-{kappa}", [*overrides, *_median(kappa)]))
        pairs = PairDistances(distance(splits.dev, own), distance(splits.dev, partners(splits.dev, seed=1)))
        on_dev[kappa] = split_error(pairs, best_threshold(pairs))
        print(f"{name}, κ = {kappa}: error {on_dev[kappa]:.2%} on dev", flush=True)
    kappa = min(on_dev, key=lambda kappa: on_dev[kappa])
    rate = f"trainer.optimizer.lr={RATE_CONTRASTIVE}"
    settings = {
        CONTRASTIVE: ("contrastive", ["loss=contrastive_based", rate]),
        MEDIAN: (f"median-{kappa}", _median(kappa)),
    }
    learned: dict[str, list[Result]] = {}
    for method, (folder, changes) in settings.items():
        for seed in range(SEED, SEED + options.seeds):
            at = f"{name}-{folder}" + ("" if seed == SEED else f"-seed{seed}")
            model = trained(options, at, [*overrides, *changes, f"seed={seed}"])
            learned.setdefault(method, []).append(measured(vector_distance(model), splits))
    return Compared(results | pooled(model, splits) | learned, splits, kappa)


def _median(kappa: int) -> list[str]:
    loss = f'loss={{"type": "median_based", "kappa": {kappa}}}'
    return [loss, f"trainer.optimizer.lr={RATE_TIMES_KAPPA / kappa}"]


def epochs_of(options: argparse.Namespace, name: str) -> str:
    """Return the duration of a run and when its learning rate fell, from its log."""
    log = (options.work / f"{name}-log" / "train.jsonl").read_text(encoding="utf-8").splitlines()
    epochs = lowered = 0
    first = None
    for record in map(json.loads, log):
        epochs = max(epochs, record.get("epoch", 0))
        first = first or record["lr"]
        lowered = lowered or (epochs + 1 if record.get("lr", first) < first else 0)
    return f"{epochs} epochs, the rate lower from epoch {lowered} on" if lowered else f"{epochs} epochs"


def pooled(model: WordSiamese, splits: Splits) -> dict[str, list[Result]]:
    """Return the baselines, each in place of a model's encoder."""
    results = {}
    for name, settings in POOLINGS.items():
        model.encoder = WordPoolingEncoder(**settings, input_dim=model.embedder.output_dim)
        results[name] = [measured(vector_distance(model), splits)]
    return results


def carried(options: argparse.Namespace, kappa: int, splits: Splits) -> dict[str, list[Result]]:
    """Return the weights learned with the first vectors, applied to other vectors."""
    model = build(Model, config_of(options, (), options.other)["model"])
    assert isinstance(model, WordSiamese)
    model.prepare(splits.train)
    results = {"tf-idf": [measured(tfidf_distance(splits.train), splits)]}
    learned = {}
    for method, name in ((CONTRASTIVE, "variable-contrastive"), (MEDIAN, f"variable-median-{kappa}")):
        model.encoder = trained(options, name, ()).encoder
        learned[method] = [measured(vector_distance(model), splits)]
    return results | pooled(model, splits) | learned


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name in ("articles", "tweets", "vectors", "other", "work"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3, help="number of runs of each loss")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    twenty = ["data.reader.min_words=20", "data.reader.max_words=20", "model.encoder.max_words=20"]
    reader = {
        "type": "hashtag_pairs",
        "posts": str(tweets_of(options.tweets, options.work)),
        "per_hashtag": 200,
    }
    variable = compare(options, "variable", ())
    kappa = variable.kappa
    fixed = compare(options, "fixed", twenty, [kappa])
    tweets = compare(options, "tweets", [f"data.reader={json.dumps(reader)}"], [kappa])
    columns = {
        "20 words": fixed.results,
        "10–30 words": variable.results,
        "10–30 words, other vectors": carried(options, kappa, variable.splits),
        "tweets": tweets.results,
    }
    sizes = []
    for name, own in (("20 words", fixed), ("10–30 words", variable), ("tweets", tweets)):
        train, dev, test = (
            len(part.articles) if part else 0 for part in (own.splits.train, own.splits.dev, own.splits.test)
        )
        sizes.append(
            f"- {name}: {train:,} related pairs to train, {dev:,} dev, {test:,} test, and as many unrelated ones."
        )
    names = {"contrastive": "variable-contrastive", f"median, κ = {kappa}": f"variable-median-{kappa}"}
    weights = {}
    for name, folder in names.items():
        encoder = trained(options, folder, ()).encoder
        assert isinstance(encoder, WordWeightsEncoder)
        weights[name] = encoder.weights.tolist()
    shown = {name: variable.results[name][0] for name in ("tf-idf", CONTRASTIVE, MEDIAN)}
    draw_distances(
        PICTURE,
        {name: result.distances for name, result in shown.items()},
        {name: result.threshold for name, result in shown.items()},
    )
    lines = [
        "# Learned word weights on real texts\n",
        "Made by `python -m benchmarks.papers.deboom2016 --articles ARTICLES --tweets TWEETS --vectors VECTORS"
        f" --other OTHER --work WORK{'' if options.seeds == 3 else f' --seeds {options.seeds}'}`"
        f" (Python {platform.python_version()}, torch {torch.__version__}).\n",
        "Split error with the threshold from dev, and Jensen–Shannon divergence in bits, on the test pairs; in brackets"
        " the paper's figure on its own data (De Boom et al. 2016, tables 1 and 2).\n",
        NOTES.read_text(encoding="utf-8") if NOTES.is_file() else "",
        table(columns) + "\n",
        "## Data and runs\n",
        *sizes,
        f"- κ = {kappa} everywhere: of {', '.join(map(str, KAPPAS))} the best on dev at 10–30 words. {options.seeds}"
        f" seeds of each loss, from {SEED} on; a seed decides the order of the batches and nothing else.",
        *(
            f"- {name}: {epochs_of(options, name)}."
            for kind in ("fixed", "variable", "tweets")
            for name in (f"{kind}-contrastive", f"{kind}-median-{kappa}")
        ),
        "",
        "![Distances of related and unrelated test pairs, 10–30 words](deboom2016.svg)\n",
        "Weights learned on 10–30 words, first to last place by idf:\n",
        *(f"- {name}: {' '.join(f'{w:.2f}' for w in own)}" for name, own in weights.items()),
    ]
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(REPORT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
