"""Cost of quality: posts encoded per second of processor time, and training time."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib
import numpy as np
import torch

from benchmarks.minilm import dynamic_int8, minilm_folder
from benchmarks.quality.baselines import DEFAULT, SOFTMAX, alone, together
from benchmarks.quality.models import sentence_transformer, siamese
from benchmarks.quality.runs import ENCODERS, SEEDS, TAUGHT, Workplace
from benchmarks.quality.sets import SOURCES, dev_set
from benchmarks.quality.tables import Cells, Kept
from linker.common.concurrency import one_thread
from linker.config import build, resolve
from linker.data.types import LinkedPosts, Post
from linker.models.files.archive import load_model, save_model
from linker.models.model import Model, embedding_submodel
from linker.models.onnx.export import export_model
from linker.models.pretrained import BEST, DISTILLED, FOLDERS

ROUNDS = 3
POSTS = 400
# Rows of the tables of quality that belong to an encoder; of the others its name and the softmax.
RANKED = {
    "MiniLM": f"MiniLM, {SOFTMAX}",
    "MiniLM in bfloat16": f"MiniLM, {SOFTMAX}",
    "`best`": DEFAULT,
    "MiniLM in int8, as `linker model export` writes it": f"MiniLM, {SOFTMAX}",
    "MiniLM in int8, by `quantize_dynamic`": f"MiniLM, {SOFTMAX}",
    "`distilled`": "`distilled`",
    "best": "best",
    "best with two layers": "best with two layers",
    "best with all six layers": "best with all six layers",
    "distilled vectors, TF-IDF": f"distilled vectors, their mean, TF-IDF, {SOFTMAX}",
}
Encode = Callable[[Sequence[Post]], object]


def in_bfloat16(encode: Callable[[Sequence[Post]], np.ndarray]) -> Callable[[Sequence[Post]], np.ndarray]:
    """The same in bfloat16."""

    def encode_lower(posts: Sequence[Post]) -> np.ndarray:
        with torch.autocast("cpu", torch.bfloat16):
            return encode(posts)

    return encode_lower


def cost(place: Workplace, kept: Kept, out: Path) -> list[str]:
    """Return the lines of the page on speed and training; rows not measured again are kept."""
    posts = dev_set(place.work, SOURCES[0]).posts[:POSTS]
    with one_thread():  # ONNX Runtime's is set when a model is loaded
        rates = _rates(_encoders(place), posts)
    title = SOURCES[0].title
    one, every = kept.tables[alone(title)], {**kept.tables[title], **kept.tables[together(title)]}
    rows: dict[str, Cells] = {}
    for name, rate in rates.items():
        ranked = RANKED.get(name, f"{name}, {SOFTMAX}")
        rows[name] = {
            "posts/s": f"{rate:,.0f}",
            "× MiniLM": f"{rate / rates['MiniLM']:.1f}",
            "MAP alone": one.get(ranked.removesuffix(f", {SOFTMAX}"), {}).get("MAP", ""),
            "MAP together": every[ranked]["MAP"] if ranked in every else "",
            "pair AP together": every[ranked]["pair AP"] if ranked in every else "",
        }
    kept.add("Speed", rows)
    kept.add("Training", _clocked(place))
    picture = out.with_name("quality-cost.svg")
    _draw(kept.tables["Cost"], picture)
    return [
        "",
        "## Cost",
        "",
        f"Encoding {len(posts):,} dev posts of plazz with one thread, in posts per second of processor time: the",
        f"medians of {ROUNDS} rounds in which the models take turns. Counting words for TF-IDF is not included. The",
        f"load of the machine was {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores.",
        "",
        *kept.lines("Speed", ("posts/s", "× MiniLM", "MAP alone", "MAP together", "pair AP together")),
        "",
        "An earlier run that included trained models, in posts per second of wall-clock time with two threads;",
        "all articles together:",
        "",
        *kept.lines("Cost", ("posts/s", "× MiniLM", "pair AP")),
        "",
        f"![pair AP against speed]({picture.name})",
        "",
        "## Training",
        "",
        *kept.lines("Training", ("seconds (median)",)),
    ]


def _encoders(place: Workplace) -> dict[str, Encode]:
    """Return the encoders of the models that exist."""
    distilled = embedding_submodel(load_model(FOLDERS[DISTILLED], for_scoring=True))
    assert distilled is not None
    mini = sentence_transformer().post_vectors
    int8 = embedding_submodel(load_model(FOLDERS[BEST], for_scoring=True))
    with_torch = embedding_submodel(load_model(FOLDERS[BEST]))
    assert int8 is not None
    assert with_torch is not None
    exported = embedding_submodel(minilm_int8(place.work / "minilm-int8"))
    assert exported is not None
    encoders: dict[str, Encode] = {
        "`distilled`": distilled.post_vectors,
        "`best`": int8.post_vectors,
        "`best` in float32": with_torch.post_vectors,
        "MiniLM in bfloat16": in_bfloat16(mini),
        "MiniLM in int8, as `linker model export` writes it": exported.post_vectors,
        "MiniLM in int8, by `quantize_dynamic`": _of_posts(dynamic_int8(place.work / "minilm-dynamic.onnx")),
        "MiniLM": mini,
    }
    for name, folder in (
        ("best", "best-1"),
        ("best with two layers", "two_layers-1"),
        ("best with all six layers", "six_layers"),
    ):
        if place.has(folder):
            encoders[name] = siamese(place, folder).post_vectors
    for name, folder in (
        ("distilled vectors, TF-IDF", "mean"),
        *((encoder.upper(), f"{encoder}-1") for encoder in ENCODERS),
    ):
        if place.has(folder):
            encoders[name] = siamese(place, folder).post_vectors
    return encoders


def _of_posts(encode: Callable[[Sequence[str]], np.ndarray]) -> Encode:
    return lambda posts: encode([post.text for post in posts])


def minilm_int8(folder: Path) -> Model:
    """Return MiniLM in int8 as `linker model export` writes it, exported to `folder` once."""
    if not folder.exists():
        config = {"type": "transformer", "path": str(minilm_folder())}
        model: Model = build(Model, config)
        model.prepare(LinkedPosts([], []))
        with tempfile.TemporaryDirectory() as name:
            save_model(model, Path(name) / "minilm", {"model": resolve(Model, config)}, {}, "")
            export_model(Path(name) / "minilm", folder)
    return load_model(folder, for_scoring=True)


def _clocked(place: Workplace) -> dict[str, Cells]:
    """Return the training time."""
    kinds = ("vectors", *(f"{recipe}-student" for recipe in TAUGHT))
    clocked = {kind: [place.seconds(kind)] for kind in kinds}
    for recipe in TAUGHT:
        clocked[f"{recipe}, on links"] = [place.seconds(f"{recipe}-{seed}") for seed in SEEDS]
    clocked["best with all six layers, on links"] = [place.seconds("six_layers")]
    known = {name: [s for s in own if s is not None] for name, own in clocked.items()}
    return {
        name: {"seconds (median)": f"{statistics.median(own):,.0f}"} for name, own in known.items() if own
    }


def _rates(encoders: dict[str, Encode], posts: Sequence[Post]) -> dict[str, float]:
    """Return posts per second of processor time from text to vectors, the median over rounds."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    seconds: dict[str, list[float]] = {name: [] for name in encoders}
    for _ in range(ROUNDS):
        for name, encode in encoders.items():
            started = time.process_time()
            encode(posts)
            seconds[name].append(time.process_time() - started)
    torch.set_num_threads(threads)
    return {name: len(posts) / statistics.median(own) for name, own in seconds.items()}


def _draw(rows: dict[str, Cells], path: Path) -> None:
    """Plot each model by speed and pair AP."""
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "linker"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    places = {
        name: (float(cells["× MiniLM"]), float(cells["pair AP"].split()[0])) for name, cells in rows.items()
    }
    for name, (rate, value) in places.items():
        axes.plot(rate, value, "o", color="#1b6ca8" if name == "best" else "#5f6b73")
        # To the left of the point where another label would be covered.
        left = any(rate < x < 2.5 * rate and abs(y - value) < 1 for x, y in places.values())
        side = {"xytext": (-5, 4), "ha": "right"} if left else {"xytext": (5, 4)}
        axes.annotate(name, (rate, value), textcoords="offset points", fontsize=8, **side)
    axes.set(xscale="log", xlabel="times as fast as MiniLM (posts encoded per second, two threads)")
    axes.set(ylabel="pair AP on plazz (dev), all articles together, %")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.margins(x=0.2, y=0.15)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
