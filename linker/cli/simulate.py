"""`linker simulate`: what labelling would have cost, with each strategy and stopping rule."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linker.cli.options import Packages, PostColumnNames, include_packages

if TYPE_CHECKING:
    from linker.annotation.simulation import Task
    from linker.annotation.tasks import Planned

_STRATEGIES = ("random", "keywords", "lexical", "seed_similarity", "hybrid", "rocchio", "learning")


def simulate(
    articles: Annotated[
        Path, typer.Option("--articles", help="The seed articles, in any format linker reads.")
    ],
    posts: Annotated[
        list[str],
        typer.Option("--posts", help="Posts with known labels: JSON lines, CSV, TSV, Parquet; repeatable."),
    ],
    relevant: Annotated[
        str | None,
        typer.Option(
            "--relevant",
            help="The column that says which posts are relevant.",
            show_default="linked to the articles",
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            "--task", help="With --relevant: the column of the topic or event.", show_default="one task"
        ),
    ] = None,
    model: Annotated[
        str, typer.Option("--model", help="A model folder, best, distilled, bm25 or tfidf.")
    ] = "bm25",
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy",
            help="NAME, NAME,KEY=VALUE,…, or a Jsonnet file; repeatable.",
            show_default="all of linker's",
        ),
    ] = None,
    stop: Annotated[
        list[str] | None,
        typer.Option(
            "--stop", help="A stopping rule to try, written likewise; repeatable.", show_default="none"
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, help="Runs of each, with other random numbers.")
    ] = 5,
    first: Annotated[
        int,
        typer.Option(
            "--first", min=1, help="Tell the labels to so many relevant posts, and their precision."
        ),
    ] = 100,
    recall: Annotated[
        float,
        typer.Option("--recall", help="A rule without a target of its own fails below this.", min=0, max=1),
    ] = 0.95,
    growth: Annotated[
        float, typer.Option("--growth", min=0, help="A new order whenever there are so many more labels.")
    ] = 0.05,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The folder for tables, curves and plots.", show_default="none"),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Processes.", show_default="one for each core")
    ] = None,
    column: PostColumnNames = None,
    include_package: Packages = None,
) -> None:
    """Label posts whose labels are known, as annotators would have: labels spent, recall, and where rules stop."""
    from linker.annotation.ordering import OrderingStrategy
    from linker.annotation.stopping import StoppingRule
    from linker.annotation.studies import Plan, study
    from linker.annotation.study_files import check_outputs, write_study
    from linker.cli.annotate_start import _component
    from linker.cli.posts import post_columns, with_option
    from linker.cli.simulation_table import print_study
    from linker.config import build
    from linker.data.records import read_articles, read_posts
    from linker.errors import LinkerError
    from linker.progress import progress_bar, stderr
    from linker.ranking.linker import find_model

    include_packages(include_package)
    if task and not relevant:
        raise LinkerError("--task: goes with --relevant, the column that says which posts are relevant")
    for path in (str(articles), *posts):
        if not Path(path).is_file():
            raise LinkerError(f"{path}: there is no such file")
    plan = Plan(
        {name: build(OrderingStrategy, _component("--strategy", name)) for name in strategy or _STRATEGIES},
        {name: build(StoppingRule, _component("--stop", name)) for name in stop or ()},
        seeds,
        first,
        recall,
        growth,
    )
    columns, found = post_columns(column), find_model(model)
    if out is not None:
        check_outputs(out, [articles, *posts])
    with with_option():
        planned = _planned(read_articles(str(articles)), read_posts(posts, columns), relevant, task)
    tasks = _tasks(planned, found.load().model)
    if not tasks:
        raise LinkerError("no task has a relevant post; there is nothing to find")
    with progress_bar() as progress:
        bar = progress.add_task("simulating", total=len(tasks) * len(plan.strategies) * seeds)
        results = study(tasks, plan, _processes(workers), lambda: progress.advance(bar))
    print_study(results, tasks, plan)
    if out is not None:
        for written in write_study(out, results, tasks, plan):
            stderr.print(written, highlight=False, soft_wrap=True, markup=False)
        print(out)


def _planned(articles: list, posts: list, relevant: str | None, task: str | None) -> list[Planned]:
    from linker.annotation.tasks import labelled_tasks, linked_tasks

    return labelled_tasks(articles, posts, relevant, task) if relevant else linked_tasks(articles, posts)


def _tasks(planned: list[Planned], model: object) -> list[Task]:
    from linker.annotation.tasks import made
    from linker.progress import stderr, track

    tasks = []
    for one in track(made(planned, model), "preparing", len(planned)):  # type: ignore[arg-type]
        if isinstance(one, str):
            stderr.print(f"{one}: no relevant post; left out", highlight=False, markup=False, soft_wrap=True)
        else:
            tasks.append(one)
    return tasks


def _processes(workers: int | None) -> int:
    return workers or (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
