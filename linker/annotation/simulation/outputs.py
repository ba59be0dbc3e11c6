"""The files that a simulation writes."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from linker.annotation.simulation.simulate import Task
from linker.annotation.simulation.study import STEPS, Plan, Study, summary
from linker.common.files import atomic_write, check_writable, write_json
from linker.version import __version__

RUNS, CURVES, STOPS, SUMMARY, PLOT = "runs.csv", "curves.csv", "stops.csv", "summary.json", "recall.svg"


def check_outputs(folder: Path, inputs: Iterable[str | Path]) -> None:
    """Check that all files can be written.

    Args:
        folder: the folder for the files.
        inputs: files that must not be overwritten.

    Raises:
        LinkerError: if a file cannot be written, or would replace an input.
    """
    inputs = list(inputs)
    for name in (RUNS, CURVES, STOPS, SUMMARY, PLOT):
        check_writable(folder / name, inputs)


def write_study(folder: Path, study: Study, tasks: Sequence[Task], plan: Plan) -> list[str]:
    """Write tables, curves, the summary and, with matplotlib, a plot.

    Returns:
        Messages for the user, such as that the plot is missing.

    Raises:
        LinkerError: if a file cannot be written.
    """
    runs, curves = [], []
    for outcome in study.outcomes:
        run = asdict(outcome)
        shares = {f"{step / STEPS:.2f}": share for step, share in enumerate(run.pop("curve"))}
        curves.append({name: run[name] for name in ("task", "strategy", "seed")} | shares)
        labels_to = run.pop("labels_to")
        runs.append(run | {f"labels_to_{recall:.0%}": labels for recall, labels in labels_to.items()})
    _table(folder / RUNS, runs)
    _table(folder / CURVES, curves)
    if study.stops:
        _table(folder / STOPS, [asdict(stop) for stop in study.stops])
    sizes = [
        {
            "name": task.name,
            "posts": task.posts,
            "distinct": len(task.pool),
            "relevant": task.total,
            "relevant_distinct": int(task.relevant.sum()),
            "copies_labeled_otherwise": task.disagreeing,
        }
        for task in tasks
    ]
    content = {"linker_version": __version__, "seeds": plan.seeds, "first": plan.first, "growth": plan.growth}
    write_json(folder / SUMMARY, {**content, "tasks": sizes, **summary(study)})
    if find_spec("matplotlib") is None:
        return [f"no {PLOT}: plots need matplotlib: pip install 'article-linker[plots]'"]
    from linker.plots.recall import recall_figure
    from linker.plots.style import save

    save(recall_figure(study.outcomes), folder / PLOT)
    return []


def _table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with atomic_write(path) as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
