"""Reliability diagrams: predicted probabilities against observed relevance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linker.calibration.probabilities import (
    Method,
    Reliability,
    cross_validated_probabilities,
    reliability_of,
)
from linker.plots.data import ScoredPairs
from linker.plots.style import COLORS, GREY, panels, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def reliability(scored: ScoredPairs, method: Method = "platt", bins: int = 10, seed: int = 13) -> Reliability:
    """Calibrate scores in five-fold cross-validation and bin the probabilities.

    Args:
        scored: scores and labels.
        method: calibration method.
        bins: number of equal-width bins.
        seed: random seed of the folds.

    Raises:
        LinkerError: if fewer than five pairs are relevant, or fewer than five are not.
    """
    probabilities = cross_validated_probabilities(scored.scores, scored.relevant, method, seed=seed)
    return reliability_of(probabilities, scored.relevant, bins)


@style()
def figure(numbers: Reliability, method: str) -> Figure:
    """Plot observed relevance against probability on the left, and the number of pairs on the right."""
    figure, (axis, counts) = panels(7.6, 3.6, 2, ratios=[1.15, 1])
    low, high, count, predicted, observed, observed_low, observed_high = np.array(
        [list(vars(bin_).values()) for bin_ in numbers.bins]
    ).T
    axis.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1.2)
    reach = [observed - observed_low, observed_high - observed]
    shape: Any = {"marker": "o", "markersize": 5, "linewidth": 1.4, "elinewidth": 1, "capsize": 2}
    axis.errorbar(predicted, observed, reach, color=COLORS[0], **shape)
    axis.set(
        title=f"{method.capitalize()}: calibration error {numbers.calibration_error:.2g}",
        xlabel="probability by the score",
        ylabel="share that is relevant (95 % interval)",
        xlim=(-0.02, 1.02),
        ylim=(-0.02, 1.02),
        aspect="equal",
    )
    axis.text(0.98, 0.03, "dotted: perfect", transform=axis.transAxes, color=GREY, size=8, ha="right")
    counts.bar((low + high) / 2, count, 0.86 * (high - low).min(), color=COLORS[5])
    counts.set(
        title=f"{count.sum():,.0f} pairs", xlabel="probability by the score", ylabel="pairs (logarithmic)"
    )
    counts.set(yscale="log", xlim=(-0.02, 1.02))
    counts.set_ylim(bottom=0.8)
    counts.yaxis.set_major_formatter("{x:,.0f}")
    counts.grid(axis="x", visible=False)
    return figure
