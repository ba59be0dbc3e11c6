"""The page that benchmarks/quality.py makes: tables, intervals, cost, and quality against cost as a picture."""

from __future__ import annotations

import os
import platform
import re
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib
import numpy as np
from quality_models import FUSIONS, Row, Scores, sentence_transformer, siamese
from quality_runs import ENCODERS, ROOT, SEEDS, Workplace
from quality_sets import SOURCES, Source, dev_set

from linker.data.types import LinkedPosts, Post
from linker.evaluation.comparison import Comparison
from linker.evaluation.protocol import evaluate
from linker.files import atomic_write
from linker.models.folder import load_model
from linker.models.model import part_with_vectors
from linker.models.shipped import DISTILLED, FOLDERS

NOTES = ROOT / "benchmarks" / "quality-notes.md"
METRICS = ("mAP", "mRP", "AUC", "MAP", "R-precision", "MRR", "nDCG@10", "P@1", "recall@10")
AT_1 = "recall@1 of posts"
ROUNDS = 5
Values = dict[str, dict[str, list[float]]]


def report(place: Workplace, out: Path) -> None:
    """Measure every model and write the page and its picture."""
    lines = [
        "# Quality on real posts",
        "",
        "Made by `python benchmarks/quality.py --data DATA --work WORK` "
        f"(Python {platform.python_version()}, {os.cpu_count()} cores, one thread a run).",
        "Percent, on dev posts (snopes: every article of the set is a candidate). Trained models: one run, or mean ±",
        "standard deviation over the seeds that the row names; one model for all three sets, trained on their train",
        "posts together. mAP, mRP and AUC are over all pairs in one ranking (Danovitch 2020); MAP to recall@10",
        f"means over articles; {AT_1}: the share of posts whose best article is one of theirs. See docs/evaluation.md.",
        "",
        *(NOTES.read_text(encoding="utf-8").splitlines() if NOTES.exists() else []),
    ]
    quality: Values = {}
    for source in SOURCES:
        values, differences = _measured(place, source)
        if source is SOURCES[0]:
            quality = values
        columns = (*METRICS, AT_1) if source.every_article_is_a_candidate else METRICS
        lines += ["", f"## {source.title}", "", "| model | " + " | ".join(columns) + " |"]
        lines.append("|---" * (len(columns) + 1) + "|")
        for name, own in values.items():
            lines.append(f"| {name} | " + " | ".join(_percent(own[metric]) for metric in columns) + " |")
        lines += [
            "",
            "Each seed of `best` minus these, with 95 % paired bootstrap intervals over articles:",
            "",
        ]
        lines += ["| minus | metric | seed by seed |", "|---|---|---|", *differences]
    lines += _cost(place, quality, out)
    with atomic_write(out) as file:
        file.write("\n".join(lines) + "\n")


def _measured(place: Workplace, source: Source) -> tuple[Values, list[str]]:
    """Model → metric → one value a seed; and the lines on the difference to the fusion."""
    scores = Scores(place, source)
    comparison, values = Comparison(scores.linked), Values()
    compared = 0
    for row in scores.rows():
        for number, own in enumerate(row.scores, 1):
            if row.name in (*FUSIONS, "best"):
                metrics = comparison.add(f"{row.name} {number}", own).metrics
                compared += row.name == "best"
            else:
                metrics = evaluate(own, scores.linked)
            metrics = metrics | {AT_1: _recall_at_1(own, scores.linked)}
            for metric in (*METRICS, AT_1):
                values.setdefault(_label(row), {}).setdefault(metric, []).append(metrics[metric])
        print(f"{time.strftime('%H:%M:%S')} measured {source.name}: {row.name}", flush=True)
    lines = []
    for fusion in FUSIONS:
        against = {(d.model, d.metric): d for d in comparison.differences(f"{fusion} 1")}
        for metric in ("mAP", "mRP", "AUC", "MAP", "P@1"):
            own_differences = [against[f"best {number}", metric] for number in range(1, compared + 1)]
            shown = "; ".join(
                f"{100 * d.difference:+.1f} [{100 * d.low:+.1f}, {100 * d.high:+.1f}]"
                for d in own_differences
            )
            lines.append(f"| {fusion} | {metric} | {shown} |")
    return values, lines


def _label(row: Row) -> str:
    return f"{row.name}, {len(row.scores)} seeds" if len(row.scores) > 1 else row.name


def _recall_at_1(scores: np.ndarray, linked: LinkedPosts) -> float:
    """The share of posts whose best article is one of theirs."""
    return float(linked.relevance()[scores.argmax(axis=0), np.arange(len(linked.posts))].mean())


def _percent(values: Sequence[float]) -> str:
    spread = f" ± {100 * statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{100 * statistics.mean(values):.1f}{spread}"


def _cost(place: Workplace, quality: Values, out: Path) -> list[str]:
    """Posts a second of every encoder beside its mAP, and what training took."""
    posts = dev_set(place.work, SOURCES[0]).posts
    shipped = part_with_vectors(load_model(FOLDERS[DISTILLED]))
    assert shipped is not None

    def with_shipped(name: str) -> Callable[[Sequence[Post]], object]:
        model = siamese(place, name)
        return lambda posts: (model.post_vectors(posts), shipped.post_vectors(posts))

    encoders: dict[str, tuple[str, Callable[[Sequence[Post]], object]]] = {
        "MiniLM": ("MiniLM zero-shot, competing", sentence_transformer().post_vectors),
        "MiniLM, TF-IDF": ("TF-IDF + MiniLM, competing", sentence_transformer().post_vectors),
        "best": ("best", with_shipped("best-1")),
        "AST": ("AST, competing", siamese(place, "ast-1").post_vectors),
        "AST, TF-IDF": ("AST, TF-IDF, competing", siamese(place, "ast-1").post_vectors),
        "distilled vectors, TF-IDF": (
            "distilled vectors, their mean, TF-IDF, competing",
            siamese(place, "mean").post_vectors,
        ),
        "best with all six layers": ("best with all six layers", with_shipped("six_layers")),
    }
    for encoder in ENCODERS:
        if encoder != "ast" and (place.model(f"{encoder}-1") / "config.json").exists():
            encoders[encoder.upper()] = (
                f"{encoder.upper()}, competing",
                siamese(place, f"{encoder}-1").post_vectors,
            )
    rates = _rates({name: encode for name, (_, encode) in encoders.items()}, posts)
    quality = {re.sub(r", \d seeds$", "", name): own for name, own in quality.items()}
    found = {
        name: (rates[name], 100 * statistics.mean(quality[row]["mAP"]))
        for name, (row, _) in encoders.items()
        if row in quality
    }
    picture = out.with_name("quality-cost.svg")
    _draw(found, picture)
    lines = [
        "",
        "## Cost",
        "",
        f"Encoding the {len(posts):,} dev posts of plazz, medians of {ROUNDS} rounds in turn; mAP there, all with",
        "competing articles. TF-IDF's own time is left out: it is that of counting words.",
        "",
        "| model | posts/s | × MiniLM | mAP |",
        "|---|---|---|---|",
    ]
    for name, (rate, value) in sorted(found.items(), key=lambda item: -item[1][0]):
        lines.append(f"| {name} | {rate:,.0f} | {rate / rates['MiniLM']:.1f} | {value:.1f} |")
    lines += ["", f"![mAP against posts per second]({picture.name})", "", "## Training", ""]
    lines += ["| what | seconds (median) |", "|---|---|"]
    kinds = ["vectors", *(f"{recipe}-student" for recipe in ("best", "retaught", *ENCODERS))]
    clocked = {kind: [place.seconds(kind)] for kind in kinds}
    for recipe in ("best", *ENCODERS):
        clocked[f"{recipe}, on links"] = [place.seconds(f"{recipe}-{seed}") for seed in SEEDS]
    clocked["best with all six layers, on links"] = [place.seconds("six_layers")]
    for name, all_seconds in clocked.items():
        known = [seconds for seconds in all_seconds if seconds is not None]
        if known:
            lines.append(f"| {name} | {statistics.median(known):,.0f} |")
    return lines


def _rates(
    encoders: dict[str, Callable[[Sequence[Post]], object]], posts: Sequence[Post]
) -> dict[str, float]:
    """Posts a second from text to vectors: the median over rounds in which the models take turns."""
    seconds: dict[str, list[float]] = {name: [] for name in encoders}
    for _ in range(ROUNDS):
        for name, encode in encoders.items():
            started = time.perf_counter()
            encode(posts)
            seconds[name].append(time.perf_counter() - started)
    return {name: len(posts) / statistics.median(own) for name, own in seconds.items()}


def _draw(found: dict[str, tuple[float, float]], path: Path) -> None:
    """Each model where its speed and its mAP meet."""
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "linker"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    for name, (rate, value) in found.items():
        axes.plot(rate, value, "o", color="#1b6ca8" if name == "best" else "#5f6b73")
        axes.annotate(name, (rate, value), xytext=(5, 4), textcoords="offset points", fontsize=8)
    axes.set(xscale="log", xlabel="posts per second, two threads", ylabel="mAP on plazz (dev), %")
    axes.margins(x=0.2, y=0.15)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
