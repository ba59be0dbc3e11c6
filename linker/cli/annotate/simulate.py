"""`linker annotate simulate`: the cost of labeling with each strategy and stopping rule, on posts with known labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linker.cli.options import ModelOrBest, PostReading, component, naming_columns
from linker.models.pretrained import BEST

if TYPE_CHECKING:
    from linker.annotation.simulation.simulate import Task
    from linker.annotation.simulation.tasks import TaskSpec
    from linker.data.io.columns import PostColumns
    from linker.data.types import Post
    from linker.models.model import Model

_STRATEGIES = ("random", "keywords", "lexical", "seed_similarity", "hybrid", "active_learning")


def simulate(
    *,
    articles: Annotated[Path, typer.Option(help="Seed articles: a file in any format that linker reads.")],
    posts: Annotated[
        list[str], typer.Option(help="Posts with known labels: files, folders, addresses or -; repeatable.")
    ],
    relevant: Annotated[
        str | None,
        typer.Option(
            help="Column with the label of each post, such as yes or no, 1 or 0, or a grade.",
            show_default="posts linked to the articles are relevant",
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            help="Column with the topic or event of each post (requires --relevant).", show_default="one task"
        ),
    ] = None,
    model: ModelOrBest = BEST,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            help="Strategy to simulate: NAME, NAME,KEY=VALUE,…, or a Jsonnet file; repeatable.",
            show_default="all built-in strategies",
        ),
    ] = None,
    stop: Annotated[
        list[str] | None,
        typer.Option(
            help="Stopping rule to simulate: NAME, NAME,KEY=VALUE,…, or a Jsonnet file; repeatable.",
            show_default="none",
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, help="Number of runs per task and strategy, each with its own seed.")
    ] = 5,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the tables, curves and plot.", show_default="none")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of processes.", show_default="number of cores")
    ] = None,
    reading: PostReading,
) -> None:
    """Simulate labeling posts whose labels are known: the labels needed, the recall, and where rules stop."""
    from linker.annotation.query_strategies.query_strategy import QueryStrategy
    from linker.annotation.simulation.study import CURVES, PLOT, RUNS, STOPS, study, write_study
    from linker.annotation.simulation.tasks import labeled_tasks, linked_tasks
    from linker.annotation.stopping_rules.stopping_rule import StoppingRule
    from linker.cli.tables import print_study
    from linker.common.concurrency import cores
    from linker.common.console import progress_bar
    from linker.common.errors import LinkerError
    from linker.common.files import check_writable
    from linker.config import build
    from linker.data.io.records import read_articles
    from linker.models.files.resolve import resolve_model

    if task and not relevant:
        raise LinkerError("--task: requires --relevant, the column with the label of each post")
    for path in (str(articles), *posts):
        if not Path(path).is_file():
            raise LinkerError(f"{path}: file not found")
    strategies = {
        name: build(QueryStrategy, component("--strategy", name)) for name in strategy or _STRATEGIES
    }
    rules = {name: build(StoppingRule, component("--stop", name)) for name in stop or ()}
    columns, reference = reading.columns(), resolve_model(model)
    columns.copied += tuple(filter(None, (relevant, task)))
    for name in (RUNS, CURVES, STOPS, PLOT) if out else ():
        check_writable(out / name, [articles, *posts])
    with naming_columns():
        seed_articles = read_articles(str(articles))
        found, rows = _posts(posts, columns, relevant is not None)
        if relevant is None:
            planned = linked_tasks(seed_articles, found)
        else:
            planned = labeled_tasks(seed_articles, found, relevant, task, rows)
    tasks = _tasks(planned, reference.load())
    if not tasks:
        raise LinkerError("no task has a relevant post; there is nothing to find")
    with progress_bar() as progress:
        bar = progress.add_task("simulating", total=len(tasks) * len(strategies) * seeds)
        outcomes, stops = study(
            tasks, strategies, rules, seeds, workers or cores(), lambda: progress.advance(bar)
        )
    print_study(tasks, outcomes, stops)
    if out is not None:
        write_study(out, outcomes, stops)
        print(out)


def _posts(paths: list[str], columns: PostColumns, labeled: bool) -> tuple[list[Post], list[Post]]:
    """Return the posts of the files, and those of all their rows.

    Posts with labels repeat that several people labeled, or for several articles.
    """
    from linker.data.files.line_errors import BadLines
    from linker.data.io.records import empty_input_error, iter_posts

    rows: list[Post] = []

    def keep(post: Post) -> Post:
        rows.append(post)
        return replace(post, article_ids=()) if labeled else post

    with BadLines() as bad_lines:
        found = list(iter_posts(paths, columns, bad_lines, each=keep))
    if not found:
        raise empty_input_error(paths, "post")
    return found, rows


def _tasks(planned: list[TaskSpec], model: Model) -> list[Task]:
    from linker.annotation.simulation.tasks import build_tasks
    from linker.common.console import info, track

    tasks = []
    for task in track(build_tasks(planned, model), "preparing", len(planned)):
        if isinstance(task, str):
            info(f"{task}: no relevant post; left out")
        else:
            tasks.append(task)
    return tasks
