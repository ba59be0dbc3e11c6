"""`linker calibrate`: calibrate a model on articles with known posts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from linker.cli.options import (
    EncodingName,
    LabelsOfPosts,
    LinkedPosts,
    ModelOrBest,
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
from linker.cli.ranking import print_thresholds
from linker.cli.status import say
from linker.common.errors import LinkerError
from linker.models.pretrained import BEST


def calibrate(
    articles: Annotated[
        Path, typer.Option("--articles", help="File of articles that the model was not trained on.")
    ],
    posts: LinkedPosts,
    out: Annotated[Path, typer.Option("--out", help="JSON file for the calibration.")],
    model: ModelOrBest = BEST,
    labels: LabelsOfPosts = None,
    split: Annotated[
        str | None,
        typer.Option("--split", help="Use only articles and posts of this split.", show_default="all"),
    ] = None,
    passages: PassagesOption = "whole",
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="File for the reliability diagram: .svg, .png or .pdf."),
    ] = None,
    column: PostColumnNames = None,
    encoding: EncodingName = None,
    sheet: SheetName = None,
    on_error: OnError = "strict",
    include_package: Packages = None,
) -> None:
    """Calibrate a model on labeled data: probabilities of relevance, and the precision and recall of thresholds."""
    from linker.common.files import check_writable, real_path
    from linker.data.io.columns import PairColumns
    from linker.models.resolve import resolve_model

    columns = PairColumns(posts=post_columns(column, encoding=encoding, sheet=sheet))
    inputs = check_labeled(articles, posts, labels)
    check_writable(out, inputs)
    if plot is not None:
        from linker.plots.style import check_figure

        check_figure(plot, inputs)
        if real_path(plot) == real_path(out):
            raise LinkerError(f"--plot {plot}: same file as --out; give another name")
    include_packages(include_package)
    found = resolve_model(model)

    from linker.calibration.calibrate import calibrate as fit
    from linker.data.readers.articles_and_posts import ArticlesAndPosts
    from linker.evaluation.outputs import only_split
    from linker.models.lexical import word_statistics
    from linker.models.passage_pooling import with_passages
    from linker.models.word_statistics import counted_in

    with naming_columns(articles):
        linked = ArticlesAndPosts(
            str(articles), posts, columns, on_error, None if labels is None else str(labels)
        ).read()
    linked = only_split(linked, split) if split else linked
    # Articles are scored independently, as in `linker rank`.
    scorer = with_passages(found.load(), passages)
    words = word_statistics(scorer, linked.articles, linked.posts)
    with counted_in(words):  # as later, when the calibration is used
        scores = scorer.score_independently(linked.articles, linked.posts)
    calibration = fit(
        scores,
        linked.relevance(),
        model=found.name,
        fingerprint=found.fingerprint,
        passages=passages,
        scale=scorer.score_scale(),
        words=words,
    )
    calibration.write(out)
    if plot is not None:
        from linker.plots.reliability import figure, of_calibration
        from linker.plots.style import save

        save(figure(of_calibration(calibration)), plot)
    one_in = 1 / calibration.prior
    say(
        f"{calibration.articles:,} articles x {calibration.posts:,} posts: {calibration.relevant_pairs:,} of "
        f"{calibration.pairs:,} pairs are relevant, 1 in {one_in:,.0f}; calibration error "
        f"{calibration.reliability.calibration_error:.2g}, Brier score {calibration.reliability.brier_score:.2g}"
    )
    print_thresholds(sys.stdout, calibration.table(), "pairs kept")
    say(
        f"precision and probabilities hold where 1 pair in {one_in:,.0f} is relevant, as here; where relevance is more "
        "common or rarer, label some of the posts (`linker rank --labels`)"
    )
    print(out)
