"""`linker evaluate`: how well models rank the posts of a set with known answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linker.cli.options import ErrorsDir, OnError, Packages, PassagesOption, include_packages


def evaluate(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL",
            help="Model folders, .jsonnet configs of models that need no training, best, distilled, bm25 or tfidf.",
            show_default=False,
        ),
    ],
    articles: Annotated[
        Path | None,
        typer.Option("--articles", help="Articles to rank posts for (JSON Lines, CSV, TSV, Parquet)."),
    ] = None,
    posts: Annotated[
        Path | None,
        typer.Option(
            "--posts", help="Posts to rank, with the ids of their articles in `article_id` or `article_ids`."
        ),
    ] = None,
    reranking: Annotated[
        list[Path] | None,
        typer.Option(
            "--reranking",
            help="Instead of --articles and --posts: a reranking set written by `linker mine benchmarks`; repeatable.",
            show_default=False,
        ),
    ] = None,
    similarity: Annotated[
        list[Path] | None,
        typer.Option(
            "--similarity",
            help="Instead of --articles and --posts: text pairs with columns `text1` and `text2`; repeatable.",
            show_default=False,
        ),
    ] = None,
    grade: Annotated[
        str | None,
        typer.Option(
            "--grade", help="Column with the similarity grades of the --similarity pairs.", show_default=False
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(
            "--label", help="Column with the 0/1 labels of the --similarity pairs.", show_default=False
        ),
    ] = None,
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
    on_error: OnError = "strict",
    errors_dir: ErrorsDir = Path("."),
    include_package: Packages = None,
) -> None:
    """Rank all posts for every article, measure the rankings, and compare models.

    With --reranking, rank each query's own candidates; with --similarity, score pairs of texts.

    BM25 and TF-IDF are always included. Tables go to standard output.
    """
    from linker.cli.tables import print_benchmarks, print_comparison
    from linker.common.errors import DataError, LinkerError
    from linker.data.readers.articles_and_posts import ArticlesAndPosts
    from linker.evaluation.outputs import Outputs
    from linker.models.resolve import baseline_name, resolve_models

    include_packages(include_package)
    if reranking or similarity:
        only = {"--articles": articles, "--posts": posts, "--split": split, "--baseline": baseline}
        only |= {"--run": run, "--qrels": qrels, "--scores": scores}
        only |= {"--passages": None if passages == "whole" else passages}
        only |= {"--one-at-a-time": "given" if one_at_a_time else None}
        for option, value in only.items():
            if value is not None:
                raise LinkerError(f"{option} does not go with --reranking and --similarity; leave it out")
        if similarity and grade is None and label is None:
            raise LinkerError(
                "--similarity: say which column holds the grades (--grade), the labels (--label)"
            )

        from linker.evaluation.benchmarks.graded_pairs import PairColumns
        from linker.evaluation.benchmarks.run import measure_benchmarks

        columns = PairColumns(grade=grade, label=label)
        print_benchmarks(
            measure_benchmarks(
                resolve_models(models), reranking or [], similarity or [], columns, json_file,
                on_error, str(errors_dir),
            )
        )  # fmt: skip
        return
    if grade is not None or label is not None:
        raise LinkerError("--grade and --label go with --similarity")
    if articles is None or posts is None:
        raise LinkerError(
            "nothing to evaluate on: give --articles and --posts, or --reranking, or --similarity"
        )
    for path in (articles, posts):
        if not path.is_file():
            raise DataError(f"{path}: no such file")
    everyone = resolve_models(models)
    reference = baseline_name(everyone, baseline)
    outputs = Outputs(json=json_file, qrels=qrels, run=run, scores=scores)
    outputs.check(everyone, given=len(models), inputs=[articles, posts])
    linked = ArticlesAndPosts(str(articles), str(posts), on_error=on_error, errors_dir=str(errors_dir)).read()

    from linker.evaluation.outputs import evaluate_models, only_split

    linked = only_split(linked, split) if split else linked
    comparison = evaluate_models(everyone, linked, outputs, passages, one_at_a_time)
    outputs.write_rest(comparison, reference)
    print_comparison(comparison, reference)
