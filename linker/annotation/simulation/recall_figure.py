"""Recall curves of simulated labeling."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from linker.common.figures import COLORS, GREY, label, panels, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linker.annotation.simulation.outcomes import Outcome

_LINES = ("-", "--", "-.", ":")
_MOST, _COLUMNS = 9, 3


def mean_curves(outcomes: Iterable[Outcome]) -> dict[tuple[str, str], np.ndarray]:
    """Return (task, strategy) → recall at equal steps of labels: means over runs, and over many tasks."""
    runs: dict[str, dict[str, list[tuple[float, ...]]]] = defaultdict(lambda: defaultdict(list))
    for outcome in outcomes:
        runs[outcome.task][outcome.strategy].append(outcome.curve)
    means: dict[tuple[str, str], list[np.ndarray]] = defaultdict(list)
    for task, by_strategy in runs.items():
        name = task if len(runs) <= _MOST else f"mean of {len(runs):,} tasks"
        for strategy, curves in by_strategy.items():
            means[name, strategy].append(np.mean(curves, axis=0))
    return {key: np.mean(curves, axis=0) for key, curves in means.items()}


@style()
def recall_figure(outcomes: Iterable[Outcome]) -> Figure:
    """Plot a panel per task with a line per strategy; a single one shows after how many labels 95 % are found."""
    curves = mean_curves(outcomes)
    tasks, names = (list(dict.fromkeys(key[side] for key in curves)) for side in (0, 1))
    columns = min(len(tasks), _COLUMNS)
    rows, single = math.ceil(len(tasks) / columns), len(tasks) == 1
    figure, axes = panels(2.9 * columns + 1.8 + 1.5 * single, 2.7 * rows + 0.6, columns, rows)
    lines = {}
    for (task, name), recall in curves.items():
        number, labels, text = names.index(name), np.linspace(0, 100, len(recall)), label(name, 36)
        if single:
            enough = labels[recall >= 0.95 - 1e-9]
            text += f"\n95 % after {enough[0]:.0f} % of the labels" if len(enough) else "\nnever 95 %"
        line, color = _LINES[number // len(COLORS) % len(_LINES)], COLORS[number % len(COLORS)]
        axis = axes[tasks.index(task)]
        (lines[name],) = axis.plot(labels, 100 * recall, line, color=color, label=text)
    for number, (axis, task) in enumerate(zip(axes, tasks)):
        axis.axhline(95, color=GREY, linestyle=":", linewidth=1.2)
        axis.set(title=label(task, 34), xlim=(0, 100), ylim=(0, 101.5))
        if number % columns == 0:
            axis.set_ylabel("relevant posts found, %")
        if number + columns >= len(tasks):
            axis.set_xlabel("labels, % of the distinct posts")
    for axis in axes[len(tasks) :]:
        axis.set_axis_off()
    figure.legend(handles=[lines[name] for name in names], loc="outside right upper", labelspacing=0.9)
    return figure
