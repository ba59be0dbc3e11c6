"""What configs/best.jsonnet reaches, against what users would pick instead, and what each ingredient is worth.

    python benchmarks/best.py --data ../shared/data --vectors VECTORS --work WORK

DATA holds plazz_commentary, politifact_tweets and snopes_claims; VECTORS was made by `linker vectors distil` from texts
of the training parts; WORK takes the training set (as of quality.py), the model folders and the scores. What is there
already is not made again. Needs MiniLM (extra `bench`). Makes benchmarks/best.md.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from quality import ROOT, SOURCES, Source, Trained, dev_set, minilm, options_of, prepare

from linker.config import build
from linker.data.types import Article, LinkedPosts, Post
from linker.evaluation.comparison import Comparison
from linker.models.competing import CompetingModel
from linker.models.folder import load_model
from linker.models.hybrid import HybridModel
from linker.models.lexical import BM25Model, TfidfModel
from linker.models.model import Model, all_parts
from linker.models.siamese import SiameseModel

NOTES = ROOT / "benchmarks" / "best-notes.md"
METRICS = ("mAP", "mRP", "AUC", "MAP", "P@1")
FUSION = "TF-IDF + MiniLM"
ROUNDS = 5


class Kept(Model):
    """A model that encodes each set once, however many models it is a part of."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._scores: dict[tuple[int, int], np.ndarray] = {}

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        key = (len(articles), len(posts))
        if key not in self._scores:
            self._scores[key] = self.model.score(articles, posts)
        return self._scores[key]


def trained(folder: Path) -> dict[str, Model]:
    """The model of a folder, and what remains of it without each of its ingredients."""
    best = load_model(folder)
    assert isinstance(best, CompetingModel)
    assert isinstance(best.model, HybridModel)
    siamese = next(part for part in all_parts(best) if isinstance(part, SiameseModel))
    untitled = load_model(folder)
    whole = next(part for part in all_parts(untitled) if isinstance(part, SiameseModel))
    whole.title_view = False
    ast, words, wholes = Kept(siamese), Kept(TfidfModel()), Kept(whole)
    weights = best.model.weights

    def competing(model: Model) -> Model:
        return CompetingModel(model, best.temperature, best.none)

    def both(model: Model) -> Model:
        return HybridModel([model, words], weights, "sum")

    return {
        "best": competing(both(ast)),
        "without competition": both(ast),
        "without TF-IDF": competing(ast),
        "without a title view": competing(both(wholes)),
        "without TF-IDF and competition": ast,
    }


def others(best: Path, mean: Path | None) -> dict[str, Model]:
    """What users would pick instead, as it is and with our competition."""
    words = Kept(TfidfModel())
    models: dict[str, Model] = {"TF-IDF": words, "BM25": BM25Model()}
    whole = load_model(best)
    assert isinstance(whole, CompetingModel)
    if path := minilm():
        mini = Kept(build(Model, {"type": "sentence_transformer", "path": str(path)}))
        models |= {
            "MiniLM": mini,
            FUSION: HybridModel([words, mini]),
            "MiniLM, competing": CompetingModel(mini, whole.temperature, whole.none),
            "TF-IDF + MiniLM, competing": CompetingModel(
                HybridModel([mini, words], [1, 0.8], "sum"), whole.temperature, whole.none
            ),
        }
    if mean is not None:
        models["best, vectors only (nothing trained on links)"] = trained(mean)["best"]
    return models


def recall_at_1(scores: np.ndarray, linked: LinkedPosts) -> float:
    """The share of posts whose best article is one of theirs."""
    return float(linked.relevance()[scores.argmax(axis=0), np.arange(len(linked.posts))].mean())


def speed(models: dict[str, Callable[[Sequence[Post]], object]], posts: Sequence[Post]) -> dict[str, float]:
    """Posts a second from text to vectors: the median over rounds in which the models take turns."""
    seconds: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(ROUNDS):
        for name, encode in models.items():
            started = time.perf_counter()
            encode(posts)
            seconds[name].append(time.perf_counter() - started)
    return {name: len(posts) / statistics.median(own) for name, own in seconds.items()}


def percent(values: Sequence[float]) -> str:
    spread = f" ± {100 * statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{100 * statistics.mean(values):.1f}{spread}"


def measure(
    source: Source, work: Path, folders: Sequence[Path], mean: Path
) -> tuple[dict[str, dict[str, list[float]]], list[str]]:
    """Model → metric → one value a seed; and the lines on the difference to the fusion."""
    linked = dev_set(work, source)
    comparison = Comparison(linked)
    values: dict[str, dict[str, list[float]]] = {}

    def add(name: str, label: str, model: Model) -> None:
        scores = model.score(linked.articles, linked.posts)
        metrics = comparison.add(name, scores).metrics | {"recall@1": recall_at_1(scores, linked)}
        for metric in (*METRICS, "recall@1"):
            values.setdefault(label, {}).setdefault(metric, []).append(metrics[metric])
        print(f"{time.strftime('%H:%M:%S')} {source.name}: {name}", flush=True)

    for name, model in others(folders[0], mean).items():
        add(name, name, model)
    for number, folder in enumerate(folders, 1):
        for name, model in trained(folder).items():
            add(f"{name} {number}", name, model)
    lines = []
    if FUSION in values:
        against = {(d.model, d.metric): d for d in comparison.differences(FUSION)}
        for metric in METRICS:
            own = [against[f"best {number}", metric] for number in range(1, len(folders) + 1)]
            shown = "; ".join(
                f"{100 * d.difference:+.1f} [{100 * d.low:+.1f}, {100 * d.high:+.1f}]" for d in own
            )
            lines.append(f"| {metric} | {shown} |")
    return values, lines


def report(work: Path, folders: Sequence[Path], mean: Path) -> str:
    lines = [
        "# The best model",
        "",
        "Made by `python benchmarks/best.py --data DATA --vectors VECTORS --work WORK` "
        f"(Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}).",
        "Percent, on dev posts (snopes: every article of the set is a candidate). Trained models: mean ± standard",
        f"deviation over {len(folders)} seeds; one model for all three sets. mAP, mRP and AUC are over all pairs,",
        "MAP and P@1 means over articles, recall@1 the share of posts whose best article is the right one.",
        "",
        *(NOTES.read_text(encoding="utf-8").splitlines() if NOTES.exists() else []),
    ]
    for source in SOURCES:
        values, differences = measure(source, work, folders, mean)
        columns = (*METRICS, "recall@1")
        lines += ["", f"## {source.title}", "", "| model | " + " | ".join(columns) + " |"]
        lines.append("|---" * (len(columns) + 1) + "|")
        for name, own in values.items():
            lines.append(f"| {name} | " + " | ".join(percent(own[metric]) for metric in columns) + " |")
        if differences:
            lines += [
                "",
                f"Each seed minus {FUSION}, with 95 % paired bootstrap intervals over articles:",
                "",
            ]
            lines += ["| metric | difference |", "|---|---|", *differences]
    posts = dev_set(work, SOURCES[0]).posts
    siamese = next(part for part in all_parts(load_model(folders[0])) if isinstance(part, SiameseModel))
    encoders: dict[str, Callable[[Sequence[Post]], object]] = {"best": siamese.post_vectors}
    if path := minilm():
        encoders["MiniLM"] = build(Model, {"type": "sentence_transformer", "path": str(path)}).post_vectors
    found = speed(encoders, posts)
    lines += [
        "",
        "## Cost",
        "",
        f"Encoding the {len(posts):,} dev posts of plazz, medians of {ROUNDS} rounds in turn:",
        "",
    ]
    lines += ["| model | posts/s | × MiniLM |", "|---|---|---|"]
    for name, rate in found.items():
        times = f"{rate / found['MiniLM']:.1f}" if "MiniLM" in found else "–"
        lines.append(f"| {name} | {rate:,.0f} | {times} |")
    timings = [folder.with_suffix(".seconds") for folder in folders]
    seconds = statistics.median(float(timing.read_text()) for timing in timings)
    lines += ["", f"Training: {seconds:,.0f} s a run (median; one thread, other jobs beside it)."]
    return "\n".join(lines) + "\n"


def main() -> None:
    options = options_of(__doc__, "best.md").parse_args()
    work, vectors = options.work.resolve(), options.vectors.resolve()
    os.environ["HF_HUB_OFFLINE"] = "1"
    prepare(options.data.resolve(), work)
    folders = [work / "models" / f"best-{seed}" for seed in options.seeds]
    mean = work / "models" / "best-mean"
    for seed, folder in zip(options.seeds, folders):
        Trained("best", seed, folder).train(work, vectors)
    untrained = ["model.model.parts.0.encoder=mean", "trainer.epochs=0"]
    Trained("best", 1, mean, untrained).train(work, vectors)
    options.out.write_text(report(work, folders, mean), encoding="utf-8")
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
