"""`linker benchmark`: measure models on reranking sets and on pairs of texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linker.cli.options import Models, OnError, Packages, include_packages


def benchmark(
    models: Models,
    reranking: Annotated[
        list[Path] | None,
        typer.Option(
            "--reranking",
            help="Reranking set written by `linker mine benchmarks`; repeatable.",
            show_default=False,
        ),
    ] = None,
    similarity: Annotated[
        list[Path] | None,
        typer.Option(
            "--similarity",
            help="Text pairs with columns `text1` and `text2`; repeatable.",
            show_default=False,
        ),
    ] = None,
    grade: Annotated[
        str | None,
        typer.Option(
            "--grade", help="Column with the similarity grades of the text pairs.", show_default=False
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option("--label", help="Column with the 0/1 labels of the text pairs.", show_default=False),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="JSON file to write the results to.")
    ] = None,
    on_error: OnError = "strict",
    include_package: Packages = None,
) -> None:
    """Rerank each query's own candidates, score pairs of texts, and compare models.

    BM25 and TF-IDF are always included. Tables go to standard output.
    """
    from linker.cli.tables import print_benchmarks
    from linker.common.errors import LinkerError
    from linker.evaluation.benchmarks.graded_pairs import PairColumns
    from linker.evaluation.benchmarks.run import measure_benchmarks
    from linker.models.resolve import resolve_models

    include_packages(include_package)
    if similarity and grade is None and label is None:
        raise LinkerError("--similarity: give the column of the grades (--grade) or of the labels (--label)")
    if not similarity and (grade is not None or label is not None):
        raise LinkerError("--grade, --label: columns of text pairs; give --similarity")
    if not (reranking or similarity):
        raise LinkerError("no benchmark given; give --reranking or --similarity")
    print_benchmarks(
        measure_benchmarks(
            resolve_models(models),
            reranking or [],
            similarity or [],
            PairColumns(grade=grade, label=label),
            json_file,
            on_error,
        )
    )
