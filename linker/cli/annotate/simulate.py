"""`linker annotate simulate`: the cost of labeling with each strategy and stopping rule, on posts with known labels."""

from pathlib import Path
from typing import Annotated

import typer

from linker.cli.inputs import LinkedData, PostReading
from linker.cli.options import ModelOrBest, component
from linker.models.pretrained import BEST

_STRATEGIES = ("random", "keywords", "lexical", "seed_similarity", "hybrid", "active_learning")


def simulate(
    *,
    data: LinkedData,
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
    from linker.annotation.simulation.task import tasks_of
    from linker.annotation.stopping_rules.stopping_rule import StoppingRule
    from linker.cli.tables import print_study
    from linker.common.concurrency import cores
    from linker.common.console import progress_bar, track
    from linker.common.files import check_writable
    from linker.config import build
    from linker.models.files.resolve import resolve_model

    files, columns, reference = data.check(), reading.columns(), resolve_model(model)
    strategies = {
        name: build(QueryStrategy, component("--strategy", name)) for name in strategy or _STRATEGIES
    }
    rules = {name: build(StoppingRule, component("--stop", name)) for name in stop or ()}
    if out is not None:
        for name in (RUNS, CURVES, STOPS, PLOT):
            check_writable(out / name, files)
    linked = data.read(columns, reading.on_error)
    tasks = list(track(tasks_of(linked, reference.load()), "preparing"))
    with progress_bar() as progress:
        bar = progress.add_task("simulating", total=len(tasks) * len(strategies) * seeds)
        outcomes, stops = study(
            tasks, strategies, rules, seeds, workers or cores(), lambda: progress.advance(bar)
        )
    print_study(tasks, outcomes, stops)
    if out is not None:
        write_study(out, outcomes, stops)
        print(out)
