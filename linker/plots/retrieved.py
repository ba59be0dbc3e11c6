"""Relevant and irrelevant posts that a threshold retrieves and misses (Danovitch 2020, figure 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linker.common.errors import LinkerError
from linker.plots.data import ScoredPairs
from linker.plots.style import COLORS, GREY, panels, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
    above, relevant = scores >= threshold, scored.relevant
    edges = np.histogram_bin_edges(scores, _BINS)
    return Retrieved(
        float(threshold),
        int((above & relevant).sum()),
        int((above & ~relevant).sum()),
        int((~above & relevant).sum()),
        int((~above & ~relevant).sum()),
        edges.tolist(),
        np.histogram(scores[relevant], edges)[0].tolist(),
        np.histogram(scores[~relevant], edges)[0].tolist(),
    )


@style()
def figure(numbers: Retrieved) -> Figure:
    """Plot the four counts on the left, and the distributions of scores on the right."""
    figure, (counts, by_score) = panels(8.6, 3.1, 2, [1, 1.35])
    _draw_counts(counts, numbers)
    _draw_by_score(by_score, numbers)
    handles, names = by_score.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2)
    return figure


def _draw_counts(axis: Axes, numbers: Retrieved) -> None:
    relevant = [numbers.retrieved_relevant, numbers.missed_relevant]
    irrelevant = [numbers.retrieved_irrelevant, numbers.missed_irrelevant]
    for place, values, color, name in (
        (-0.19, relevant, COLORS[0], "relevant"),
        (0.19, irrelevant, COLORS[4], "not relevant"),
    ):
        bars = axis.bar([0 + place, 1 + place], values, 0.36, color=color, label=name)
        axis.bar_label(bars, [f"{value:,}" for value in values], padding=2)
    sign = f"{numbers.threshold:g}"
    axis.set_xticks([0, 1], [f"retrieved\n(score ≥ {sign})", f"missed\n(score < {sign})"])
    axis.set_ylim(0, 1.12 * max(*relevant, *irrelevant))
    axis.set_ylabel("count")
    axis.yaxis.set_major_formatter("{x:,.0f}")
    axis.grid(axis="x", visible=False)
    axis.set_title(f"precision {numbers.precision:.0%}, recall {numbers.recall:.0%}".replace("%", " %"))


def _draw_by_score(axis: Axes, numbers: Retrieved) -> None:
    edges = np.array(numbers.edges)
    for counts, color, name in (
        (numbers.relevant_by_score, COLORS[0], "relevant"),
        (numbers.irrelevant_by_score, COLORS[4], "not relevant"),
    ):
        share = np.array(counts) / max(sum(counts), 1)
        axis.stairs(share, edges, fill=True, color=color, alpha=0.35, linewidth=0)
        axis.stairs(share, edges, color=color, linewidth=1.6, label=f"{name} ({sum(counts):,})")
    axis.axvline(numbers.threshold, color=GREY, linestyle="--", linewidth=1.3)
    left, right = axis.get_xlim()
    beyond_middle = 2 * numbers.threshold > left + right
    axis.annotate(
        f"threshold {numbers.threshold:g}",
        (numbers.threshold, 1),
        (-4 if beyond_middle else 4, -2),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        color=GREY,
        ha="right" if beyond_middle else "left",
        va="top",
        size=8,
    )
    axis.set_ylim(bottom=0)
    axis.set_xlabel("score")
    axis.set_ylabel("% of the kind")
    axis.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g}")
    axis.set_title("by score")
