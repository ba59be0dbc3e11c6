"""`linker evaluate`: measure how well models rank posts with known articles."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linker.cli.options import (
    EncodingName,
    LabelsOfPosts,
    LinkedArticles,
    LinkedPosts,
    Models,
    OnError,
    Packages,
    PassagesOption,
    PostColumnNames,
    SheetName,
    check_labeled,
    include_packages,
    naming_columns,
    post_columns,
)


def evaluate(
    models: Models,
    articles: LinkedArticles,
    posts: LinkedPosts,
    labels: LabelsOfPosts = None,
    split: Annotated[
        str | None,
        typer.Option(
            "--split", help="Evaluate only the articles and posts of this split.", show_default="all"
        ),
    ] = None,
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
    json_file: Annotated[
        Path | None, typer.Option("--json", help="JSON file to write the results to.")
    ] = None,
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
    column: PostColumnNames = None,
    encoding: EncodingName = None,
    sheet: SheetName = None,
    on_error: OnError = "strict",
    include_package: Packages = None,
) -> None:
    """Rank all posts for every article, measure the rankings, and compare models.

    BM25 and TF-IDF are always included. Tables go to standard output.
    """
    from linker.cli.tables import print_comparison
    from linker.data.io.columns import PairColumns
    from linker.data.readers.articles_and_posts import ArticlesAndPosts
    from linker.evaluation.outputs import Outputs, evaluate_models, only_split
    from linker.models.resolve import baseline_name, resolve_models

    include_packages(include_package)
    columns = PairColumns(posts=post_columns(column, encoding=encoding, sheet=sheet))
    inputs = check_labeled(articles, posts, labels)
    resolved = resolve_models(models)
    reference = baseline_name(resolved, baseline)
    outputs = Outputs(json=json_file, qrels=qrels, run=run, scores=scores)
    outputs.check(resolved, given=len(models), inputs=inputs)
    with naming_columns(articles):
        linked = ArticlesAndPosts(
            str(articles), posts, columns, on_error, None if labels is None else str(labels)
        ).read()
    linked = only_split(linked, split) if split else linked
    comparison = evaluate_models(resolved, linked, outputs, passages, one_at_a_time, ignore_dates)
    outputs.write_rest(comparison, reference)
    print_comparison(comparison, reference)
