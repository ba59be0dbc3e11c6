"""Tables and the figure of De Boom et al. 2016: ours beside the paper's."""

from __future__ import annotations

import statistics
from pathlib import Path

import numpy as np

from benchmarks.papers.deboom2016_metrics import PairDistances, Result
from linker.common.files import atomic_write

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


def table(columns: dict[str, dict[str, list[Result]]]) -> str:
    """Return our figures, each with the paper's in brackets; of several seeds the mean ± standard deviation."""
    lines = ["| | " + " | ".join(f"{heading}: error | JS" for heading in columns) + " |"]
    lines.append("|---" * (1 + 2 * len(columns)) + "|")
    for method in next(iter(columns.values())):
        cells = []
        for at, results in enumerate(columns.values()):
            paper = PAPER.get(method)
            published = (f" ({paper[2 * at]:.2f})", f" ({paper[2 * at + 1]:.3f})") if paper else ("", "")
            errors = [100 * result.error for result in results[method]]
            spread = f" ± {statistics.stdev(errors):.2f}" if len(errors) > 1 else ""
            divergence = statistics.mean(result.divergence for result in results[method])
            cells += [
                f"{statistics.mean(errors):.2f}{spread}%{published[0]}",
                f"{divergence:.3f}{published[1]}",
            ]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


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
