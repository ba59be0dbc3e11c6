"""Recall curves of simulated labeling jobs."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linker.common.errors import DataError
from linker.plots.style import COLORS, GREY, label, panels, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
class MeanCurve:
    """Mean recall of a query strategy over its runs, on one task or several.

    Attributes:
        task: name of the task, or `mean of N tasks`.
        strategy: name of the strategy.
        recall: recall at each of `Recall.labels`.
        labels_to_95: share of labels at which `recall` reaches 0.95; None if it never does.
    """

    task: str
    strategy: str
    recall: list[float]
    labels_to_95: float | None


@dataclass(frozen=True)
class Recall:
    """Data of the figure: shares of the distinct posts that are labeled, and the mean curves."""

    labels: list[float]
    curves: list[MeanCurve]


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
            except (TypeError, ValueError):
                curve = (math.nan,)
            if not all(map(math.isfinite, curve)):
                raise DataError(f"{path}, line {rows.line_num}: not all values are numbers")
            curves.append(Curve(row["task"], row["strategy"], curve))
    if not curves:
        raise DataError(f"{path}: contains no curve")
    tasks = dict.fromkeys(curve.task for curve in curves)
    if task is not None and task not in tasks:
        raise DataError(f"{path}: unknown task {task!r}; its tasks: {', '.join(tasks)}")
    return [curve for curve in curves if task in (None, curve.task)]


def recall(curves: Iterable[Curve | Outcome]) -> Recall:
    """Average curves with equal numbers of steps: over runs, and over tasks if there are many."""
    runs: dict[str, dict[str, list[tuple[float, ...]]]] = defaultdict(lambda: defaultdict(list))
    for curve in curves:
        runs[curve.task][curve.strategy].append(tuple(curve.curve))
    means: dict[str, dict[str, list[np.ndarray]]] = defaultdict(lambda: defaultdict(list))
    for task, by_strategy in runs.items():
        name = task if len(runs) <= _MOST else f"mean of {len(runs):,} tasks"
        for strategy, of_runs in by_strategy.items():
            means[name][strategy].append(np.mean(of_runs, axis=0))
    result: list[MeanCurve] = []
    labels = np.array([])
    for name, of_tasks in means.items():
        for strategy, of_strategy in of_tasks.items():
            mean = np.mean(of_strategy, axis=0)
            labels = np.linspace(0, 1, len(mean))
            enough = _rounded(labels[mean >= 0.95 - 1e-9])
            result.append(MeanCurve(name, strategy, _rounded(mean), enough[0] if enough else None))
    return Recall(_rounded(labels), result)


def _rounded(values: np.ndarray) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


@style()
def figure(numbers: Recall) -> Figure:
    """Plot a panel per task with a line per strategy; a single one shows after how many labels 95 % are found."""
    tasks = list(dict.fromkeys(curve.task for curve in numbers.curves))
    names = list(dict.fromkeys(curve.strategy for curve in numbers.curves))
    columns = min(len(tasks), _COLUMNS)
    rows, single = math.ceil(len(tasks) / columns), len(tasks) == 1
    figure, axes = panels(2.9 * columns + 1.8 + 1.5 * single, 2.7 * rows + 0.6, columns, rows)
    lines = {}
    for curve in numbers.curves:
        number = names.index(curve.strategy)
        text = label(curve.strategy, 36)
        if single:
            share = curve.labels_to_95
            text += "\nnever 95 %" if share is None else f"\n95 % after {100 * share:.0f} % of the labels"
        (lines[curve.strategy],) = axes[tasks.index(curve.task)].plot(
            100 * np.array(numbers.labels),
            100 * np.array(curve.recall),
            _LINES[number // len(COLORS) % len(_LINES)],
            color=COLORS[number % len(COLORS)],
            label=text,
        )
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
