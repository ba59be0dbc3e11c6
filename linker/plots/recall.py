"""Recall against labels, a line for each strategy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from linker.annotation.outcomes import STEPS, Outcome
from linker.plots.drawing import COLOURS, GREY, label, panels, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST = 8


@style()
def recall_curves(outcomes: Sequence[Outcome]) -> Figure:
    """Recall after each hundredth of the pool: the mean over seeds, and over tasks where these are more than eight.

    Raises:
        LinkerError: matplotlib is not installed.
    """
    tasks = list(dict.fromkeys(outcome.task for outcome in outcomes))
    strategies = list(dict.fromkeys(outcome.strategy for outcome in outcomes))
    shown = [[task] for task in tasks] if len(tasks) <= _MOST else [tasks]
    figure, axes = panels(max(5.0, 3.4 * len(shown)), 3.6, len(shown))
    for axis, group in zip(axes, shown):
        for number, strategy in enumerate(strategies):
            curves = [one.curve for one in outcomes if one.strategy == strategy and one.task in group]
            dashes = "-" if number < len(COLOURS) else "--"
            axis.plot(
                np.arange(STEPS + 1),
                100 * np.mean(curves, axis=0),
                dashes,
                color=COLOURS[number % len(COLOURS)],
                label=label(strategy, 40),
            )
        axis.axhline(95, color=GREY, linewidth=0.8)
        axis.set(xlim=(0, 100), ylim=(0, 101), xlabel="labels, % of the posts")
        axis.set_title(label(group[0], 34) if len(group) == 1 else f"mean of {len(tasks)} tasks")
    axes[0].set_ylabel("recall, %")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=math.ceil(len(strategies) / 2)
    )
    return figure
