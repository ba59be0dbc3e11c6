"""Recall curves of simulated labeling jobs."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from linker.common.errors import DataError
from linker.plots.style import COLORS, GREY, label, panels, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

CURVES = "curves.csv"
_LINES = ("-", "--", "-.", ":")
_MOST, _COLUMNS = 9, 3
_KEYS = ("task", "strategy", "seed")


class HasCurve(Protocol):
    """A simulated job, such as `linker.annotation.simulation.study.Outcome`."""

    @property
    def task(self) -> str:
        """Name of the task."""

    @property
    def strategy(self) -> str:
        """Name of the query strategy."""

    @property
    def curve(self) -> Sequence[float]:
        """Recall at the beginning, and after each of equal steps through the pool."""


class Curve(NamedTuple):
    """A simulated job read from a file."""

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
    """Read the curves that `linker simulate --out` wrote.

    Args:
        folder: the folder, or its `curves.csv`.
        task: read only the curves of this task; None: all.

    Raises:
        DataError: if there are no curves, or the file is damaged.
    """
    path = folder / CURVES if folder.is_dir() else folder
    if not path.is_file():
        raise DataError(f"{path}: file not found; `linker simulate --out FOLDER` writes it")
    found = []
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        names = list(rows.fieldnames or [])
        steps = [name for name in names if name not in _KEYS]
        if not {"task", "strategy"} <= set(names) or len(steps) < 2:
            raise DataError(
                f"{path}: not the curves of `linker simulate`, which begin with task,strategy,seed"
            )
        for row in rows:
            try:
                curve = tuple(float(row[step]) for step in steps)
                if not all(map(math.isfinite, curve)):
                    raise ValueError
            except (TypeError, ValueError):
                raise DataError(f"{path}, line {rows.line_num}: not all values are numbers") from None
            found.append(Curve(row["task"], row["strategy"], curve))
    if not found:
        raise DataError(f"{path}: contains no curve")
    tasks = list(dict.fromkeys(curve.task for curve in found))
    if task is not None and task not in tasks:
        raise DataError(f"{path}: unknown task {task!r}; its tasks: {', '.join(tasks)}")
    return [curve for curve in found if task in (None, curve.task)]


def recall(curves: Iterable[HasCurve]) -> Recall:
    """Average curves with equal numbers of steps: one panel per task, or a single one if there are many tasks."""
    curves = list(curves)
    tasks = list(dict.fromkeys(curve.task for curve in curves))
    labels = np.linspace(0, 1, len(curves[0].curve))
    groups = [[task] for task in tasks] if len(tasks) <= _MOST else [tasks]
    names = list(dict.fromkeys(curve.strategy for curve in curves))
    found = []
    for group in groups:
        name = group[0] if len(group) == 1 else f"mean of {len(group):,} tasks"
        strategies = [
            _strategy(strategy, own, labels)
            for strategy in names
            if (own := [curve for curve in curves if curve.strategy == strategy and curve.task in group])
        ]
        found.append(Panel(name, strategies))
    return Recall(_rounded(labels), found)


def _strategy(name: str, curves: Sequence[HasCurve], labels: np.ndarray) -> Strategy:
    by_task: dict[str, list[Sequence[float]]] = {}
    for curve in curves:
        by_task.setdefault(curve.task, []).append(curve.curve)
    mean = np.mean([np.mean(own, axis=0) for own in by_task.values()], axis=0)
    enough = np.flatnonzero(mean >= 0.95 - 1e-9)
    return Strategy(name, _rounded(mean), _rounded(labels[enough])[0] if len(enough) else None)


def _rounded(values: np.ndarray) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


def recall_curves(curves: Iterable[HasCurve]) -> Figure:
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
    for place, (axis, panel) in enumerate(zip(axes, numbers.panels)):
        handles = {**_draw(axis, numbers.labels, panel, names, show_labels=count == 1), **handles}
        if place % columns == 0:
            axis.set_ylabel("relevant posts found, %")
        if place + columns >= count:
            axis.set_xlabel("labels, % of the distinct posts")
    for axis in axes[count:]:
        axis.set_axis_off()
    shown = [handles[name] for name in names]
    figure.legend(
        shown, [str(line.get_label()) for line in shown], loc="outside right upper", labelspacing=0.9
    )
    return figure


def _draw(
    axis: Axes, labels: list[float], panel: Panel, names: list[str], show_labels: bool
) -> dict[str, Line2D]:
    """Plot one panel; with `show_labels`, the legend shows after how many labels 95 % are found."""
    lines = {}
    for strategy in panel.strategies:
        place = names.index(strategy.name)
        name = label(strategy.name, 36)
        if show_labels:
            share = strategy.labels_to_95
            name += "\nnever 95 %" if share is None else f"\n95 % after {100 * share:.0f} % of the labels"
        (lines[strategy.name],) = axis.plot(
            [100 * share for share in labels],
            [100 * share for share in strategy.recall],
            _LINES[place // len(COLORS) % len(_LINES)],
            color=COLORS[place % len(COLORS)],
            label=name,
        )
    axis.axhline(95, color=GREY, linestyle=":", linewidth=1.2)
    axis.set(xlim=(0, 100), ylim=(0, 101.5))
    axis.set_title(label(panel.name, 34))
    return lines
