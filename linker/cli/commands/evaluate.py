"""`linker evaluate`: measure how well models rank posts with known articles, or score benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linker.cli.options import JsonFile, LinkedData, Models, PassagesOption, PostReading
from linker.common.errors import LinkerError


def evaluate(
    *,
    models: Models,
    data: LinkedData,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", help="Model that the others are compared with.", show_default="the first MODEL"
        ),
    ] = None,
    one_at_a_time: Annotated[
        bool,
        typer.Option(
            "--one-at-a-time",
            help="Score each article by itself, as `linker rank` does, instead of all articles together.",
        ),
    ] = False,
    passages: PassagesOption = "whole",
    ignore_dates: Annotated[
        bool, typer.Option("--ignore-dates", help="Score by text alone; ignore dates.")
    ] = False,
    reranking: Annotated[
        list[Path] | None,
        typer.Option(
            "--reranking",
            help="Reranking set of `linker mine benchmarks`, instead of articles and posts; repeatable.",
            show_default=False,
        ),
    ] = None,
    similarity: Annotated[
        list[Path] | None,
        typer.Option(
            "--similarity",
            help="Text pairs (columns `text1`, `text2`), instead of articles and posts; repeatable.",
            show_default=False,
        ),
    ] = None,
    grade: Annotated[
        str | None,
        typer.Option("--grade", help="Column with the grades of the text pairs.", show_default=False),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option("--label", help="Column with the 0/1 labels of the text pairs.", show_default=False),
    ] = None,
    json: JsonFile = None,
    run: Annotated[
        Path | None,
        typer.Option("--run", help="TREC run to write; {model} in the name writes one per model."),
    ] = None,
    qrels: Annotated[Path | None, typer.Option("--qrels", help="TREC qrels file to write.")] = None,
    scores: Annotated[
        Path | None,
        typer.Option(
            "--scores",
            help="Score matrix to write, as .npz with ids; {model} in the name writes one per model.",
        ),
    ] = None,
    reading: PostReading,
) -> None:
    """Rank all posts for every article, measure the rankings, and compare models.

    With --reranking or --similarity, rerank each query's own candidates and score pairs of texts instead. BM25 and
    TF-IDF are always included. Tables go to standard output.
    """
    from linker.cli.tables import print_benchmarks, print_comparison
    from linker.models.files.resolve import baseline_name, resolve_models

    if similarity and grade is None and label is None:
        raise LinkerError("--similarity: give the column of the grades (--grade) or of the labels (--label)")
    if not similarity and (grade is not None or label is not None):
        raise LinkerError("--grade, --label: columns of text pairs; give --similarity")
    if reranking or similarity:
        from linker.evaluation.benchmarks.graded_pairs import PairColumns
        from linker.evaluation.benchmarks.run import measure_benchmarks

        of_articles = (data.articles, data.posts, data.labels, data.split, baseline, run, qrels, scores)
        if any(of_articles) or one_at_a_time or ignore_dates or passages != "whole":
            raise LinkerError(
                "--reranking, --similarity: have their own texts; give none of the options about articles and posts"
            )
        pair_columns = PairColumns(grade=grade, label=label)
        print_benchmarks(
            measure_benchmarks(
                resolve_models(models),
                reranking or [],
                similarity or [],
                pair_columns,
                json,
                reading.on_error,
            )
        )
        return

    from linker.evaluation.outputs import Outputs, evaluate_models

    columns = reading.columns()
    inputs = data.check()
    resolved = resolve_models(models)
    reference = baseline_name(resolved, baseline)
    outputs = Outputs(json=json, qrels=qrels, run=run, scores=scores)
    outputs.check(resolved, given=len(models), inputs=inputs)
    linked = data.read(columns, reading.on_error)
    comparison = evaluate_models(resolved, linked, outputs, passages, one_at_a_time, ignore_dates)
    outputs.write_rest(comparison, reference)
    print_comparison(comparison, reference)
