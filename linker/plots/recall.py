"""Recall curves of simulated labeling jobs."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linker.common.errors import DataError
from linker.plots.style import COLORS, GREY, label, panels, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from linker.annotation.simulation.study import Outcome

CURVES = "curves.csv"
_LINES = ("-", "--", "-.", ":")
_MOST, _COLUMNS = 9, 3
_KEYS = ("task", "strategy", "seed")


class Curve(NamedTuple):
    """A simulated job read from a file; `curve` is its recall at the beginning and after each of equal steps."""

    task: str
    strategy: str
    curve: tuple[float, ...]


@dataclass(frozen=True)
class Strategy:
    """Mean recall of a query strategy over its runs.

    Attributes:
        name: name of the strategy.
        recall: recall at each of `Recall.labels`.
        labels_to_95: share of labels at which `recall` reaches 0.95; None if it never does.
    """

    name: str
    recall: list[float]
    labels_to_95: float | None


@dataclass(frozen=True)
class Panel:
    """A task, or the mean of several, with its strategies."""

    name: str
    strategies: list[Strategy]


@dataclass(frozen=True)
class Recall:
    """Data of the figure: shares of the distinct posts that are labeled, and a panel per task."""

    labels: list[float]
    panels: list[Panel]


def read_curves(folder: Path, task: str | None = None) -> list[Curve]:
    """Read the curves that `linker annotate simulate --out` wrote.

    Args:
        folder: the folder, or its `curves.csv`.
        task: read only the curves of this task; None: all.

    Raises:
        DataError: if there are no curves, or the file is damaged.
    """
    path = folder / CURVES if folder.is_dir() else folder
    if not path.is_file():
        raise DataError(f"{path}: file not found; `linker annotate simulate --out FOLDER` writes it")
    curves = []
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        names = list(rows.fieldnames or [])
        steps = [name for name in names if name not in _KEYS]
        if not {"task", "strategy"} <= set(names) or len(steps) < 2:
            raise DataError(
                f"{path}: not the curves of `linker annotate simulate`, which begin with task,strategy,seed"
            )
        for row in rows:
            try:
                curve = tuple(float(row[step]) for step in steps)
                if not all(map(math.isfinite, curve)):
                    raise ValueError
            except (TypeError, ValueError):
                raise DataError(f"{path}, line {rows.line_num}: not all values are numbers") from None
            curves.append(Curve(row["task"], row["strategy"], curve))
    if not curves:
        raise DataError(f"{path}: contains no curve")
    tasks = list(dict.fromkeys(curve.task for curve in curves))
    if task is not None and task not in tasks:
        raise DataError(f"{path}: unknown task {task!r}; its tasks: {', '.join(tasks)}")
    return [curve for curve in curves if task in (None, curve.task)]


def recall(curves: Iterable[Curve | Outcome]) -> Recall:
    """Average curves with equal numbers of steps: one panel per task, or a single one if there are many tasks."""
    curves = list(curves)
    tasks = list(dict.fromkeys(curve.task for curve in curves))
    labels = np.linspace(0, 1, len(curves[0].curve))
    groups = {task: [task] for task in tasks}
    if len(tasks) > _MOST:
        groups = {f"mean of {len(tasks):,} tasks": tasks}
    panels = []
    for name, group in groups.items():
        by_strategy: dict[str, list[Curve | Outcome]] = {}
        for curve in curves:
            if curve.task in group:
                by_strategy.setdefault(curve.strategy, []).append(curve)
        panels.append(Panel(name, [_strategy(*strategy, labels) for strategy in by_strategy.items()]))
    return Recall(_rounded(labels), panels)


def _strategy(name: str, curves: Sequence[Curve | Outcome], labels: np.ndarray) -> Strategy:
    by_task: dict[str, list[Sequence[float]]] = {}
    for curve in curves:
        by_task.setdefault(curve.task, []).append(curve.curve)
    mean = np.mean([np.mean(runs, axis=0) for runs in by_task.values()], axis=0)
    enough = np.flatnonzero(mean >= 0.95 - 1e-9)
    return Strategy(name, _rounded(mean), _rounded(labels[enough])[0] if len(enough) else None)


def _rounded(values: np.ndarray) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


def recall_curves(curves: Iterable[Curve | Outcome]) -> Figure:
    """Plot the recall curves of simulated jobs."""
    return figure(recall(curves))


@style()
def figure(numbers: Recall) -> Figure:
    """Plot a panel per task with a line per strategy."""
    count = len(numbers.panels)
    columns = min(count, _COLUMNS)
    rows = math.ceil(count / columns)
    figure, axes = panels(2.9 * columns + 1.8 + 1.5 * (count == 1), 2.7 * rows + 0.6, columns, rows=rows)
    names = list(dict.fromkeys(strategy.name for panel in numbers.panels for strategy in panel.strategies))
    handles: dict[str, Line2D] = {}
    for number, (axis, panel) in enumerate(zip(axes, numbers.panels)):
        handles = {**_draw(axis, numbers.labels, panel, names, show_labels=count == 1), **handles}
        if number % columns == 0:
            axis.set_ylabel("relevant posts found, %")
        if number + columns >= count:
            axis.set_xlabel("labels, % of the distinct posts")
    for axis in axes[count:]:
        axis.set_axis_off()
    lines = [handles[name] for name in names]
    texts = [str(line.get_label()) for line in lines]
    figure.legend(lines, texts, loc="outside right upper", labelspacing=0.9)
    return figure


def _draw(
    axis: Axes, labels: list[float], panel: Panel, names: list[str], show_labels: bool
) -> dict[str, Line2D]:
    """Plot one panel; with `show_labels`, the legend shows after how many labels 95 % are found."""
    lines = {}
    for strategy in panel.strategies:
        index = names.index(strategy.name)
        name = label(strategy.name, 36)
        if show_labels:
            share = strategy.labels_to_95
            name += "\nnever 95 %" if share is None else f"\n95 % after {100 * share:.0f} % of the labels"
        (lines[strategy.name],) = axis.plot(
            [100 * share for share in labels],
            [100 * share for share in strategy.recall],
            _LINES[index // len(COLORS) % len(_LINES)],
            color=COLORS[index % len(COLORS)],
            label=name,
        )
    axis.axhline(95, color=GREY, linestyle=":", linewidth=1.2)
    axis.set(xlim=(0, 100), ylim=(0, 101.5))
    axis.set_title(label(panel.name, 34))
    return lines
