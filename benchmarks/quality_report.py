"""The page that benchmarks/quality.py makes: tables, intervals, cost, and quality against cost as a picture."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib
import numpy as np
from layers import in_bfloat16
from quality_kept import Cells, Kept
from quality_models import FUSIONS, Scores, sentence_transformer, siamese
from quality_runs import ENCODERS, ROOT, SEEDS, TAUGHT, Workplace
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
SAMPLES = 10_000
# Rows of the tables that speak of an encoder; of others its name and ", competing".
RANKED = {
    "MiniLM": "MiniLM zero-shot, competing",
    "MiniLM, TF-IDF": "TF-IDF + MiniLM, competing",
    "MiniLM in bfloat16": "MiniLM zero-shot, competing",
    "best": "best",
    "best with two layers": "best with two layers",
    "best with all six layers": "best with all six layers",
    "distilled vectors, TF-IDF": "distilled vectors, their mean, TF-IDF, competing",
}


def report(place: Workplace, out: Path) -> None:
    """Measure every model and write the page and its picture."""
    lines = [
        "# Quality on real posts",
        "",
        "Made by `python benchmarks/quality.py --data DATA --work WORK` "
        f"(Python {platform.python_version()}, {os.cpu_count()} cores, one thread a run).",
        "Percent, on dev posts (snopes: dev and dev-test, with every article of the set as a candidate). Trained",
        "models: one run, or mean ± standard deviation over the seeds that the row names; one model for all three",
        "sets, trained on their train posts together. mAP, mRP and AUC are over all pairs in one ranking (Danovitch",
        f"2020); MAP to recall@10 means over articles; {AT_1}: the share of posts whose best article is one of",
        "theirs. See docs/evaluation.md.",
        "The last column is the day of the run; rows that a run did not make again are kept in quality.json.",
        "",
        *(NOTES.read_text(encoding="utf-8").splitlines() if NOTES.exists() else []),
    ]
    kept = Kept(out.with_suffix(".json"), time.strftime("%Y-%m-%d"))
    for source in SOURCES:
        rows, differences = _measured(place, source)
        kept.add(source.title, rows)
        columns = (*METRICS, AT_1) if source.every_article_is_a_candidate else METRICS
        lines += ["", f"## {source.title}", "", *kept.lines(source.title, columns)]
        lines += [
            "",
            "Each seed of `best` minus these, with 95 % paired bootstrap intervals over articles:",
            "",
        ]
        lines += ["| minus | metric | seed by seed |", "|---|---|---|", *differences]
    lines += _cost(place, kept, out)
    kept.write()
    with atomic_write(out) as file:
        file.write("\n".join(lines) + "\n")


def _measured(place: Workplace, source: Source) -> tuple[dict[str, Cells], list[str]]:
    """The rows of the table, and the lines on the difference to the fusion."""
    scores = Scores(place, source)
    comparison, rows = Comparison(scores.linked), dict[str, Cells]()
    compared = 0
    right: dict[str, list[np.ndarray]] = {}
    for row in scores.rows():
        values: dict[str, list[float]] = {}
        for number, own in enumerate(row.scores, 1):
            if row.name in (*FUSIONS, "best"):
                metrics = comparison.add(f"{row.name} {number}", own).metrics
                compared += row.name == "best"
            else:
                metrics = evaluate(own, scores.linked)
            right.setdefault(row.name, []).append(_right_at_1(own, scores.linked))
            metrics = metrics | {AT_1: float(right[row.name][-1].mean())}
            for metric in (*METRICS, AT_1):
                values.setdefault(metric, []).append(metrics[metric])
        rows[row.name] = {"seeds": str(len(row.scores))} | {m: _percent(own) for m, own in values.items()}
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
        if source.every_article_is_a_candidate:
            shown = "; ".join(_against(own, right[fusion][0]) for own in right["best"])
            lines.append(f"| {fusion} | {AT_1} | {shown} |")
    return rows, lines


def _right_at_1(scores: np.ndarray, linked: LinkedPosts) -> np.ndarray:
    """Is a post's best article one of its own? bool, one a post."""
    right: np.ndarray = linked.relevance()[scores.argmax(axis=0), np.arange(len(linked.posts))].astype(bool)
    return right


def _against(own: np.ndarray, other: np.ndarray) -> str:
    """How much more often one is right than the other, with a paired bootstrap interval over posts, in percent."""
    difference = own.astype(int) - other
    drawn = np.random.default_rng(1).integers(0, len(difference), (SAMPLES, len(difference)))
    low, high = np.quantile(difference[drawn].mean(axis=1), [0.025, 0.975])
    return f"{100 * difference.mean():+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def _percent(values: Sequence[float]) -> str:
    spread = f" ± {100 * statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{100 * statistics.mean(values):.1f}{spread}"


def _cost(place: Workplace, kept: Kept, out: Path) -> list[str]:
    """Posts a second of every encoder beside its mAP, and what training took."""
    posts = dev_set(place.work, SOURCES[0]).posts
    rates = _rates(_encoders(place), posts)
    # TF-IDF's own time is left out.
    rates |= {f"{name}, TF-IDF": rates[name] for name in ("MiniLM", "AST") if name in rates}
    quality = kept.tables[SOURCES[0].title]
    kept.add(
        "Cost",
        {
            name: {"posts/s": f"{rate:,.0f}", "× MiniLM": f"{rate / rates['MiniLM']:.1f}"}
            | {"mAP": quality[RANKED.get(name, f"{name}, competing")]["mAP"]}
            for name, rate in rates.items()
        },
    )
    kept.tables["Cost"] = dict(
        sorted(kept.tables["Cost"].items(), key=lambda row: -float(row[1]["× MiniLM"]))
    )
    kept.add("Training", _clocked(place))
    picture = out.with_name("quality-cost.svg")
    _draw(kept.tables["Cost"], picture)
    return [
        "",
        "## Cost",
        "",
        f"Encoding the {len(posts):,} dev posts of plazz, medians of {ROUNDS} rounds in turn; mAP there, all with",
        "competing articles. TF-IDF's own time is left out: it is that of counting words.",
        "",
        *kept.lines("Cost", ("posts/s", "× MiniLM", "mAP")),
        "",
        f"![mAP against speed]({picture.name})",
        "",
        "## Training",
        "",
        *kept.lines("Training", ("seconds (median)",)),
    ]


def _encoders(place: Workplace) -> dict[str, Callable[[Sequence[Post]], object]]:
    """What turns posts to vectors, of the models that are there."""
    shipped = part_with_vectors(load_model(FOLDERS[DISTILLED]))
    assert shipped is not None
    mini = sentence_transformer().post_vectors

    def with_shipped(encode: Callable[[Sequence[Post]], object]) -> Callable[[Sequence[Post]], object]:
        return lambda posts: (encode(posts), shipped.post_vectors(posts))

    encoders: dict[str, Callable[[Sequence[Post]], object]] = {
        "MiniLM": mini,
        "MiniLM in bfloat16": in_bfloat16(mini),
    }
    for name, folder in (
        ("best", "best-1"),
        ("best with two layers", "two_layers-1"),
        ("best with all six layers", "six_layers"),
    ):
        if place.has(folder):
            encoders[name] = with_shipped(siamese(place, folder).post_vectors)
    for name, folder in (
        ("distilled vectors, TF-IDF", "mean"),
        *((encoder.upper(), f"{encoder}-1") for encoder in ENCODERS),
    ):
        if place.has(folder):
            encoders[name] = siamese(place, folder).post_vectors
    return encoders


def _clocked(place: Workplace) -> dict[str, Cells]:
    """How long what took to train."""
    kinds = ("vectors", *(f"{recipe}-student" for recipe in TAUGHT))
    clocked = {kind: [place.seconds(kind)] for kind in kinds}
    for recipe in TAUGHT:
        clocked[f"{recipe}, on links"] = [place.seconds(f"{recipe}-{seed}") for seed in SEEDS]
    clocked["best with all six layers, on links"] = [place.seconds("six_layers")]
    known = {name: [s for s in own if s is not None] for name, own in clocked.items()}
    return {
        name: {"seconds (median)": f"{statistics.median(own):,.0f}"} for name, own in known.items() if own
    }


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


def _draw(cost: dict[str, Cells], path: Path) -> None:
    """Each model where its speed and its mAP meet."""
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "linker"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    places = {
        name: (float(cells["× MiniLM"]), float(cells["mAP"].split()[0])) for name, cells in cost.items()
    }
    for name, (rate, value) in places.items():
        axes.plot(rate, value, "o", color="#1b6ca8" if name == "best" else "#5f6b73")
        # To the left of the point where another one would be under the words.
        left = any(rate < x < 2.5 * rate and abs(y - value) < 1 for x, y in places.values())
        side = {"xytext": (-5, 4), "ha": "right"} if left else {"xytext": (5, 4)}
        axes.annotate(name, (rate, value), textcoords="offset points", fontsize=8, **side)
    axes.set(xscale="log", xlabel="times as fast as MiniLM (posts encoded a second, two threads)")
    axes.set(ylabel="mAP on plazz (dev), %")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.margins(x=0.2, y=0.15)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
