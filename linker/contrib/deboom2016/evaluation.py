"""Do related texts lie nearer to each other than unrelated ones? (De Boom et al. 2016, section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.distance import jensenshannon

from linker.common.errors import LinkerError
from linker.common.files import atomic_write

BINS = 100


@dataclass(frozen=True)
class PairDistances:
    """Distances of pairs of texts, float, of any scale: smaller is more alike."""

    related: np.ndarray
    unrelated: np.ndarray

    def __post_init__(self) -> None:
        for name, values in (("related", self.related), ("unrelated", self.unrelated)):
            if not len(values):
                raise LinkerError(f"there are no {name} pairs to measure")
            if not np.isfinite(values).all():
                raise LinkerError(f"a distance of {name} pairs is not finite")


def best_threshold(distances: PairDistances) -> float:
    """The distance up to which pairs are best called related: the one that makes the fewest errors.

    Errors count half for each kind, however many pairs there are of it. Of equal thresholds the lowest; −∞ where
    calling nothing related is best.
    """
    related, unrelated = np.sort(distances.related), np.sort(distances.unrelated)
    candidates = np.concatenate([[-np.inf], np.unique(np.concatenate([related, unrelated]))])
    missed = 1 - np.searchsorted(related, candidates, "right") / len(related)
    wrong = np.searchsorted(unrelated, candidates, "right") / len(unrelated)
    best = int(np.argmin(missed + wrong))
    if best in (0, len(candidates) - 1):
        return float(candidates[best])
    # Half way to the next distance, where rounding moves no pair across.
    return float((candidates[best] + candidates[best + 1]) / 2)


def split_error(distances: PairDistances, threshold: float) -> float:
    """Share of pairs on the wrong side of a threshold, which other pairs should have given; each kind counts half."""
    return float(np.mean(distances.related > threshold) + np.mean(distances.unrelated <= threshold)) / 2


def jensen_shannon(distances: PairDistances, bins: int = BINS) -> float:
    """Jensen–Shannon divergence between the two kinds' distances, in bits: 0 where they are alike, 1 where apart.

    Args:
        distances: put into bins of equal width over the range of both kinds.
        bins: with n pairs of each kind, chance alone makes about bins / (6 n) bits.
    """
    edges = np.histogram_bin_edges(np.concatenate([distances.related, distances.unrelated]), bins)
    p = np.histogram(distances.related, edges)[0] / len(distances.related)
    q = np.histogram(distances.unrelated, edges)[0] / len(distances.unrelated)
    # scipy gives the root of it.
    return float(jensenshannon(p, q, base=2)) ** 2


def draw_distances(path: Path, panels: dict[str, PairDistances], thresholds: dict[str, float]) -> None:
    """Draw the two distributions of distances, one panel a method, with the threshold between them.

    Args:
        path: the picture; its ending says the format.
        panels: distances by method.
        thresholds: by method, where there is one.

    Raises:
        LinkerError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise LinkerError("drawing needs matplotlib: pip install 'article-linker[plots]'") from error
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
        figure.savefig(file, format=path.suffix.lstrip(".") or "png", dpi=120)
