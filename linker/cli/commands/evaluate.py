"""`linker evaluate`: measure how well models rank posts with known articles."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from linker.cli.inputs import LinkedData, PostReading
from linker.cli.options import MODELS
from linker.common.errors import LinkerError
from linker.models.pretrained import BEST


def evaluate(
    *,
    without_option: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    models: Annotated[
        list[str],
        typer.Option("--model", metavar="MODEL", help=f"Model to evaluate: {MODELS}; repeatable."),
    ] = [BEST],  # noqa: B006
    data: LinkedData,
    baseline: Annotated[
        str | None,
        typer.Option(help="Model that the others are compared with.", show_default="the first --model"),
    ] = None,
    one_at_a_time: Annotated[
        bool,
        typer.Option(
            "--one-at-a-time",
            help="Score each article by itself, as `linker rank` does, instead of all articles together.",
        ),
    ] = False,
    ignore_dates: Annotated[
        bool, typer.Option("--ignore-dates", help="Score by text alone; ignore dates.")
    ] = False,
    json: Annotated[Path | None, typer.Option(help="JSON file to write the results to.")] = None,
    run: Annotated[
        Path | None, typer.Option(help="TREC run to write; {model} in the name writes one per model.")
    ] = None,
    qrels: Annotated[Path | None, typer.Option(help="TREC qrels file to write.")] = None,
    scores: Annotated[
        Path | None,
        typer.Option(
            help="Score matrix to write, as .npz with ids; {model} in the name writes one per model."
        ),
    ] = None,
    reading: PostReading,
) -> None:
    """Rank all posts for every article, measure the rankings, and compare models.

    BM25 and TF-IDF are always included. Tables go to standard output.
    """
    from linker.cli.tables import print_comparison
    from linker.evaluation.outputs import Outputs, evaluate_models
    from linker.models.files.resolve import baseline_name, resolve_models

    if without_option:
        given = shlex.join(without_option)
        raise LinkerError(
            f"{given}: models are given with --model; type\n  linker evaluate --model {given} ..."
        )
    columns = reading.columns()
    inputs = data.check()
    resolved = resolve_models(models)
    reference = baseline_name(resolved, baseline)
    outputs = Outputs(json=json, qrels=qrels, run=run, scores=scores)
    outputs.check(resolved, given=len(models), inputs=inputs)
    linked = data.read(columns, reading.on_error)
    comparison = evaluate_models(resolved, linked, outputs, one_at_a_time, ignore_dates)
    differences = comparison.differences(reference)
    outputs.write_rest(comparison, reference, differences)
    print_comparison(comparison, reference, differences)
