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
from scipy.stats import binomtest

from benchmarks.papers.deboom2016_metrics import (
    PairDistances,
    WordTfidf,
    best_threshold,
    jensen_shannon,
    split_error,
)
from linker.common.files import atomic_write
from linker.config import build, load_config
from linker.contrib.deboom2016.word_weights import WordPoolingEncoder, WordWeightsEncoder
from linker.data.data_source import DataSource
from linker.data.splitters.splitter import Splits
from linker.data.types import LinkedPosts
from linker.models.archive import load_model
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
CONTRASTIVE, MEDIAN = "learned weights, contrastive", "learned weights, median"
# Of the paper's tables: error in percent and divergence at 20 words, at 10 to 30, with other vectors, on tweets.
PAPER = {
    "tf-idf": (19.60, 0.3698, 22.23, 0.3190, 22.50, 0.3130, 43.09, 0.0634),
    "mean": (19.43, 0.3781, 25.61, 0.2543, 34.41, 0.1130, 33.68, 0.0783),
    "max": (19.05, 0.3981, 27.09, 0.2308, 37.05, 0.0842, 34.85, 0.0668),
    "min/max": (16.78, 0.4520, 26.19, 0.2487, 35.82, 0.1032, 33.80, 0.0734),
    "mean, top 30 % idf": (17.02, 0.4435, 22.67, 0.3182, 32.07, 0.1512, 32.60, 0.0811),
    "max, top 30 % idf": (18.05, 0.4193, 28.32, 0.2150, 36.38, 0.0999, 33.38, 0.0740),
    "min/max, top 30 % idf": (16.40, 0.4581, 27.86, 0.2260, 35.61, 0.1140, 32.86, 0.0762),
    "mean, idf-weighted": (24.00, 0.2767, 27.51, 0.2139, 33.88, 0.1185, 31.28, 0.0886),
    CONTRASTIVE: (14.44, 0.5080, 21.20, 0.3503, 30.50, 0.1776, 35.48, 0.0658),
    MEDIAN: (14.06, 0.5184, 16.41, 0.4602, 25.10, 0.2641, 30.88, 0.0900),
}
Distance = Callable[[LinkedPosts, np.ndarray], np.ndarray]


@dataclass
class Result:
    """One method on the test pairs."""

    error: float
    divergence: float
    distances: PairDistances
    threshold: float

    def right(self) -> np.ndarray:
        """Which pairs are on the right side, related ones first."""
        related = self.distances.related <= self.threshold
        return np.concatenate([related, self.distances.unrelated > self.threshold])


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
    inputs = [
        f"data.reader.articles={options.articles}",
        f"model.vectors.source={vectors or options.vectors}",
    ]
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
) -> tuple[dict[str, Result], Splits, int]:
    """Compare all methods on one kind of pairs; also return the data and the best κ on dev."""
    splits = build(DataSource, config_of(options, overrides)["data"]).load()
    results = {"tf-idf": measured(tfidf_distance(splits.train), splits)}
    rate = f"trainer.optimizer.lr={RATE_CONTRASTIVE}"
    plain = trained(options, f"{name}-contrastive", [*overrides, "loss=contrastive_based", rate])
    learned = {CONTRASTIVE: measured(vector_distance(plain), splits)}
    medians = {}
    for kappa in kappas:
        model = trained(options, f"{name}-median-{kappa}", [*overrides, *_median(kappa)])
        distance = vector_distance(model)
        assert splits.dev is not None
        own = np.arange(len(splits.dev.articles))
        on_dev = PairDistances(distance(splits.dev, own), distance(splits.dev, partners(splits.dev, seed=1)))
        medians[kappa] = (split_error(on_dev, best_threshold(on_dev)), measured(distance, splits))
        print(
            f"{name}, κ = {kappa}: error {medians[kappa][0]:.2%} on dev, {medians[kappa][1].error:.2%} on test",
            flush=True,
        )
    kappa = min(medians, key=lambda kappa: medians[kappa][0])
    learned[MEDIAN] = medians[kappa][1]
    return results | pooled(plain, splits) | learned, splits, kappa


def other_seeds(
    options: argparse.Namespace, name: str, overrides: Sequence[str], splits: Splits, kappa: int
) -> dict[str, list[float]]:
    """Return the test errors of both losses with all seeds; a seed decides only the order of the batches."""
    rate = f"trainer.optimizer.lr={RATE_CONTRASTIVE}"
    settings = {
        CONTRASTIVE: ("contrastive", ["loss=contrastive_based", rate]),
        MEDIAN: (f"median-{kappa}", _median(kappa)),
    }
    errors: dict[str, list[float]] = {}
    for method, (folder, own) in settings.items():
        for seed in range(SEED, SEED + options.seeds):
            at = f"{name}-{folder}" + ("" if seed == SEED else f"-seed{seed}")
            model = trained(options, at, [*overrides, *own, f"seed={seed}"])
            errors.setdefault(method, []).append(measured(vector_distance(model), splits).error)
    return errors


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


def pooled(model: WordSiamese, splits: Splits) -> dict[str, Result]:
    """Return the baselines, each in place of a model's encoder."""
    results = {}
    for name, settings in POOLINGS.items():
        model.encoder = WordPoolingEncoder(**settings, input_dim=model.embedder.output_dim)
        results[name] = measured(vector_distance(model), splits)
    return results


def carried(
    options: argparse.Namespace, kappa: int, lengths: Sequence[str], splits: Splits
) -> dict[str, Result]:
    """Return the weights learned with the first vectors, applied to other vectors."""
    model = build(Model, config_of(options, lengths, options.other)["model"])
    assert isinstance(model, WordSiamese)
    model.prepare(splits.train)
    results = {"tf-idf": measured(tfidf_distance(splits.train), splits)}
    learned = {}
    for method, name in ((CONTRASTIVE, "variable-contrastive"), (MEDIAN, f"variable-median-{kappa}")):
        model.encoder = trained(options, name, ()).encoder
        learned[method] = measured(vector_distance(model), splits)
    return results | pooled(model, splits) | learned


def table(columns: dict[str, dict[str, Result]]) -> str:
    """Return our figures, each with the paper's in brackets."""
    lines = ["| | " + " | ".join(f"{heading}: error | JS" for heading in columns) + " |"]
    lines.append("|---" * (1 + 2 * len(columns)) + "|")
    for method in next(iter(columns.values())):
        cells = []
        for at, results in enumerate(columns.values()):
            paper = PAPER.get(method)
            published = (f" ({paper[2 * at]:.2f})", f" ({paper[2 * at + 1]:.3f})") if paper else ("", "")
            cells += [
                f"{results[method].error:.2%}{published[0]}",
                f"{results[method].divergence:.3f}{published[1]}",
            ]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def significance(results: dict[str, Result], better: str, worse: str) -> str:
    """Two-tailed binomial test on the pairs that only one of the methods classifies correctly."""
    first, second = results[better].right(), results[worse].right()
    gained, lost = int((first & ~second).sum()), int((second & ~first).sum())
    p = binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    only = f"{gained:,} pairs right where the other is wrong, {lost:,} the other way"
    return f"{better} against {worse}: {only} (p = {p:.2g})"


def draw_distances(path: Path, panels: dict[str, PairDistances], thresholds: dict[str, float]) -> None:
    """Draw the two distributions of distances, one panel per method, with its threshold if it has one."""
    from matplotlib.figure import Figure

    columns = min(len(panels), 3)
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(3.4 * columns, 2.4 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for axis in axes[len(panels) :]:
        axis.set_axis_off()
    for axis, (name, distances) in zip(axes, panels.items()):
        edges = np.histogram_bin_edges(np.concatenate([distances.related, distances.unrelated]), 60)
        axis.hist(distances.unrelated, edges, density=True, color="0.75", label="unrelated")
        axis.hist(distances.related, edges, density=True, color="0.25", alpha=0.6, label="related")
        if np.isfinite(thresholds.get(name, np.nan)):
            axis.axvline(thresholds[name], color="tab:red", linewidth=1)
        axis.set(title=name, yticks=[], xlabel="distance")
    axes[0].legend(frameon=False, fontsize="small")
    with atomic_write(path, "wb") as file:
        figure.savefig(file, format="svg", dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name in ("articles", "tweets", "vectors", "other", "work"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3, help="number of runs of each loss at 10–30 words")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    twenty = ["data.reader.min_words=20", "data.reader.max_words=20", "model.encoder.max_words=20"]
    reader = {
        "type": "hashtag_pairs",
        "posts": str(tweets_of(options.tweets, options.work)),
        "per_hashtag": 200,
    }
    variable, splits, kappa = compare(options, "variable", ())
    fixed, fixed_splits, _ = compare(options, "fixed", twenty, [kappa])
    other = carried(options, kappa, (), splits)
    tweets, tweet_splits, _ = compare(
        options, "tweets", [f"{{data+: {{reader: {json.dumps(reader)}}}}}"], [kappa]
    )
    seeds = other_seeds(options, "variable", (), splits, kappa)
    columns = {
        "20 words": fixed,
        "10–30 words": variable,
        "10–30 words, other vectors": other,
        "tweets": tweets,
    }
    best = min((name for name in variable if not name.startswith("learned")), key=lambda n: variable[n].error)
    sizes = []
    for name, parts in (("20 words", fixed_splits), ("10–30 words", splits), ("tweets", tweet_splits)):
        train, dev, test = (
            len(part.articles) if part else 0 for part in (parts.train, parts.dev, parts.test)
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
    shown = {name: variable[name] for name in ("mean", CONTRASTIVE, MEDIAN)}
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
        *sizes,
        f"- κ = {kappa} everywhere: of {', '.join(map(str, KAPPAS))} the best on dev at 10–30 words.",
        *(
            f"- 10–30 words, seeds from {SEED} on, {method}: {', '.join(f'{e:.2%}' for e in errors)}."
            for method, errors in seeds.items()
        ),
        *(
            f"- {name}: {epochs_of(options, name)}."
            for kind in ("fixed", "variable")
            for name in (f"{kind}-contrastive", f"{kind}-median-{kappa}")
        ),
        f"- 10–30 words: {significance(variable, MEDIAN, CONTRASTIVE)}.",
        f"- 10–30 words: {significance(variable, MEDIAN, best)}.",
        f"- 10–30 words: {significance(variable, CONTRASTIVE, 'mean')}.\n",
        "![Distances of related and unrelated test pairs, 10–30 words](deboom2016.svg)\n",
        "Weights learned on 10–30 words, first to last place by idf:\n",
        *(f"- {name}: {' '.join(f'{w:.2f}' for w in own)}" for name, own in weights.items()),
    ]
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(REPORT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
