"""Relevant and irrelevant posts that a threshold retrieves and misses (Danovitch 2020, figure 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linker.common.errors import LinkerError
from linker.plots.data import ScoredPairs
from linker.plots.style import COLORS, GREY, panels, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BINS = 30


@dataclass(frozen=True)
class Retrieved:
    """Data of the figure. Pairs with a score of `threshold` or more are retrieved.

    Attributes:
        threshold: the threshold.
        retrieved_relevant: number of relevant pairs retrieved.
        retrieved_irrelevant: number of other pairs retrieved.
        missed_relevant: number of relevant pairs missed.
        missed_irrelevant: number of other pairs missed.
        edges: edges of the score bins, bins + 1.
        relevant_by_score: number of relevant pairs in each bin.
        irrelevant_by_score: number of other pairs in each bin.
    """

    threshold: float
    retrieved_relevant: int
    retrieved_irrelevant: int
    missed_relevant: int
    missed_irrelevant: int
    edges: list[float]
    relevant_by_score: list[int]
    irrelevant_by_score: list[int]

    @property
    def precision(self) -> float:
        """Share of the retrieved pairs that are relevant; 0 if none is retrieved."""
        return self.retrieved_relevant / max(self.retrieved_relevant + self.retrieved_irrelevant, 1)

    @property
    def recall(self) -> float:
        """Share of the relevant pairs that are retrieved."""
        return self.retrieved_relevant / (self.retrieved_relevant + self.missed_relevant)


def retrieved(scored: ScoredPairs, threshold: float = 70.0) -> Retrieved:
    """Count relevant and other pairs on both sides of a threshold, and by score.

    Raises:
        LinkerError: if the threshold is not a finite number.
    """
    if not np.isfinite(threshold):
        raise LinkerError(f"threshold {threshold}: not a finite number")
    scores = scored.scale(scored.scores)
    edges = np.histogram_bin_edges(scores, _BINS)
    relevant, others = scores[scored.relevant], scores[~scored.relevant]
    hits, false_hits = int((relevant >= threshold).sum()), int((others >= threshold).sum())
    return Retrieved(
        float(threshold),
        *(hits, false_hits, len(relevant) - hits, len(others) - false_hits),
        edges.tolist(),
        np.histogram(relevant, edges)[0].tolist(),
        np.histogram(others, edges)[0].tolist(),
    )


@style()
def figure(numbers: Retrieved) -> Figure:
    """Plot the four counts on the left, and the distributions of scores on the right."""
    figure, (counts, by_score) = panels(8.6, 3.1, 2, ratios=[1, 1.35])
    for side, name, color in ((-0.19, "relevant", COLORS[0]), (0.19, "irrelevant", COLORS[4])):
        hits, misses = (getattr(numbers, f"{fate}_{name}") for fate in ("retrieved", "missed"))
        histogram = getattr(numbers, f"{name}_by_score")
        bars = counts.bar([side, 1 + side], [hits, misses], 0.36, color=color)
        counts.bar_label(bars, [f"{hits:,}", f"{misses:,}"], padding=2)
        total = sum(histogram)
        share = np.array(histogram) / max(total, 1)
        by_score.stairs(share, numbers.edges, fill=True, color=color, alpha=0.35, linewidth=0)
        by_score.stairs(share, numbers.edges, color=color, linewidth=1.6, label=f"{name} ({total:,})")
    title = f"precision {numbers.precision:.0%}, recall {numbers.recall:.0%}".replace("%", " %")
    counts.set(title=title, ylabel="count")
    counts.margins(y=0.12)
    sign = f"{numbers.threshold:g}"
    counts.set_xticks([0, 1], [f"retrieved\n(score ≥ {sign})", f"missed\n(score < {sign})"])
    counts.yaxis.set_major_formatter("{x:,.0f}")
    counts.grid(axis="x", visible=False)
    by_score.axvline(numbers.threshold, color=GREY, linestyle="--", linewidth=1.3, label=f"threshold {sign}")
    by_score.set(title="by score", xlabel="score", ylabel="% of the kind")
    by_score.set_ylim(bottom=0)
    by_score.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g}")
    figure.legend(*by_score.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
