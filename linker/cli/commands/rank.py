"""`linker rank`: rank posts for an article."""

from __future__ import annotations

from typing import Annotated

import typer

from linker.cli import ranking as shared
from linker.cli import status
from linker.cli.articles import Articles, Force, Published, load_and_report, prepare_for
from linker.cli.commands.corpus import search_corpus
from linker.cli.default_posts import find_posts
from linker.cli.options import (
    EncodingName,
    ModelName,
    OnError,
    PostColumnNames,
    PostsFormat,
    SheetName,
    check_files,
    include_packages,
    naming_columns,
    post_columns,
)
from linker.common.errors import Faults
from linker.models.pretrained import BEST


def rank(
    article: Articles,
    posts: Annotated[
        list[str] | None,
        typer.Option(
            "--posts",
            metavar="FILE",
            help="Posts: files, folders, URLs or -. Default: in this folder.",
            show_default=False,
        ),
    ] = None,
    column: PostColumnNames = None,
    posts_format: PostsFormat = None,
    encoding: EncodingName = None,
    sheet: SheetName = None,
    model: ModelName = None,
    top: shared.Top = None,
    since: shared.Since = None,
    until: shared.Until = None,
    lang: shared.Lang = None,
    labels: shared.Labels = None,
    calibration: shared.CalibrationFile = None,
    threshold: shared.Cut = None,
    copies: shared.Copies = False,
    explain: shared.Explain = False,
    ignore_dates: shared.IgnoreDates = False,
    format_: shared.OutFormat = None,
    out: shared.Out = None,
    on_error: OnError = "strict",
    force: Force = False,
    published: Published = None,
) -> None:
    """Rank posts by how likely they are to discuss an article, best first."""
    status.begin(status.reading_articles(article))
    prepare_for(article)
    from linker.ranking.output import format_of

    # Everything that can be wrong is checked before the work begins: names first, the model last.
    include_packages()
    format_ = format_of(out, format_)
    request = shared.request_of(
        format_, top, 0, threshold, (labels, calibration), explain, "whole",
        shared.filter_of(since, until, lang), copies, ignore_dates,
    )  # fmt: skip
    found, faults = None, Faults()
    if not posts:
        with faults:
            found = find_posts(article, model, corpora=not column)
        if found is None:
            load_and_report(article, force, faults)  # raises: articles and posts are reported together
        elif found.corpus is not None:
            search_corpus(
                found.corpus,
                article,
                model,
                request,
                format_,
                out,
                force,
                note=found.line,
                published=published,
            )
            return
        else:
            posts = found.files
    assert posts  # named or found
    check_files(article, posts, out, faults)
    columns = post_columns(column, posts_format, encoding=encoding, sheet=sheet)

    from linker.data.io.records import read_posts
    from linker.models.resolve import resolve_model

    reference = resolve_model(model or BEST)
    if calibration is not None:
        request.check_model(reference.fingerprint)
    articles = load_and_report(article, force, faults, published)
    if found is not None:
        status.say(found.line)
    status.step("reading the posts")  # before the model is loaded: most mistakes are in files
    with naming_columns():
        candidates = read_posts(posts, columns, on_error)
    for note in request.filter.left_out(candidates) if request.filter else []:
        status.say(note)
    status.step(f"loading {reference.file_name}")
    if model is None:
        status.say(f"no --model given: ranking with `{BEST}`, the bundled model")

    from linker.models.elapsed_time import uses_dates
    from linker.ranking.ranker import Ranker

    ranker = Ranker(reference.load(), reference.file_name)
    if not ignore_dates and uses_dates(ranker.model, articles, any(post.created_at for post in candidates)):
        shared.say_dates(articles)
    status.step(f"scoring {len(candidates):,} posts")
    shared.show(ranker.answer(articles, candidates, request), request, out, format_)
