"""`linker rank`: posts in the order of how much they talk about an article."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from linker.cli import status
from linker.cli.articles import Articles, Force, read_articles
from linker.cli.default_posts import find_posts
from linker.cli.options import (
    Address,
    EngineName,
    ErrorsDir,
    OnError,
    Packages,
    PassagesOption,
    PostColumnNames,
    check_files,
    engine_of,
    include_packages,
)
from linker.cli.rankers import Asked, CorpusRanker, PostsRanker
from linker.cli.thresholds import check_wishes, chosen, read_evidence, say
from linker.common.errors import Faults, LinkerError

if TYPE_CHECKING:
    from linker.data.post_filter import Filter
    from linker.ranking.ranked_post import RankedPost


def rank(
    article: Articles,
    posts: Annotated[
        list[str] | None,
        typer.Option(
            "--posts",
            help="Posts: files, folders, patterns or addresses, several in a row, or - for standard input.",
            show_default="a corpus or posts.* in this folder or data/, else standard input",
        ),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            "--corpus",
            help="Rank the posts of this corpus (built by `linker corpus build`) instead of --posts.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="Model that scores the posts: a folder, or one of best, distilled, bm25, tfidf.",
            show_default="best, or the corpus's own",
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            min=1,
            help="Number of posts to list.",
            show_default="20 in tables, 1,000 in HTML, else all",
        ),
    ] = None,
    offset: Annotated[
        int,
        typer.Option("--offset", min=0, help="Start behind this many of the best posts, as on a later page."),
    ] = 0,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", help="Show only posts from this day or time on (2014-08-01, 2014-08-01T18:00Z)."
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", help="Show only posts from before this day or time.")
    ] = None,
    lang: Annotated[
        list[str] | None,
        typer.Option(
            "--lang",
            help="Show only posts in this language, as the posts spell it (en); repeatable.",
            show_default=False,
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option("--where", help="Show only posts that meet this SQL condition; needs --corpus."),
    ] = None,
    passages: PassagesOption = "whole",
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Leave out posts with a score below this.")
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            "--precision",
            help="Choose the threshold that gives this precision (0 to 1); needs --labels or --calibration.",
        ),
    ] = None,
    recall: Annotated[
        float | None,
        typer.Option(
            "--recall",
            help="Choose the threshold that gives this recall (0 to 1); needs --labels or --calibration.",
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            help="File with relevance labels of some of the posts: CSV or JSON Lines with id and label.",
        ),
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option("--calibration", help="Calibration file written by `linker calibrate` for this model."),
    ] = None,
    copies: Annotated[
        bool,
        typer.Option("--copies", help="List near-duplicates one by one instead of the best of each group."),
    ] = False,
    fusion: Annotated[
        Literal["none", "zscore"] | None,
        typer.Option(
            "--fusion",
            help="With --corpus: the model's own scores (none), or with BM25 scores added (zscore).",
            show_default="none",
        ),
    ] = None,
    approximate: Annotated[
        bool,
        typer.Option(
            "--approximate",
            help="With --corpus: search faster, by the index that `linker corpus index` made.",
        ),
    ] = False,
    engine: EngineName = "local",
    address: Address = None,
    format_: Annotated[
        Literal["table", "csv", "tsv", "xlsx", "jsonl", "json", "parquet", "html", "trec"] | None,
        typer.Option(
            "--format",
            help="Format of the ranking, in the file and on standard output.",
            show_default="by the ending of --out, else table",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="File to write the ranking to; its ending chooses the format: .csv, .xlsx, .html, .jsonl, …",
            show_default="standard output",
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Mark the words of article and posts that contributed to the score."),
    ] = False,
    column: PostColumnNames = None,
    on_error: OnError = "strict",
    errors_dir: ErrorsDir = Path("."),
    include_package: Packages = None,
    force: Force = False,
) -> None:
    """Rank posts by how likely they are to discuss an article, best first."""
    status.begin(status.reading_articles(article))
    from linker.ranking.output import USUAL_TOP, format_of, write_ranking
    from linker.ranking.ranker import check_explaining
    from linker.ranking.scores import with_probabilities

    # What can be wrong is found out before the work begins: names first, the model last.
    include_packages(include_package)
    if threshold is not None and math.isnan(threshold):
        raise LinkerError("--threshold nan: no score can be compared with it; give a number")
    check_explaining(explain, passages)
    format_ = format_of(out, format_)
    found, faults = None, Faults()
    if corpus is None and not posts:
        with faults:
            found = find_posts(article, model, corpora=not column)
        if found is None:
            read_articles(article, force, faults)  # raises: articles and posts are reported together
        else:
            corpus, posts = found.corpus, found.files
    check_files(article, posts or [], out, faults)
    evidence = read_evidence(labels, calibration)
    check_wishes(precision, recall, threshold, evidence)
    if top is None:
        top = USUAL_TOP.get(format_)
    conditions = _conditions(since, until, lang, where)
    # A run is evaluated against labels of single posts.
    asked = Asked(top, explain, passages, evidence, offset, conditions, copies or format_ == "trec")
    ranker: PostsRanker | CorpusRanker
    if corpus is not None:
        if posts or column:
            raise LinkerError("--corpus: the posts are in the corpus; leave out --posts and --column")
        if approximate and engine != "local":
            raise LinkerError("--approximate: searches in this process; leave out --engine")
        if approximate and evidence is not None:
            raise LinkerError("--approximate: leaves posts out that labels tell of; leave it out, too")
        place = engine_of(engine, address)
        ranker = CorpusRanker(corpus, model, place, fusion, approximate, asked)
    else:
        _only_with_corpus(fusion=fusion, approximate=approximate)
        _only_with_corpus(engine=engine if engine != "local" else None, address=address)
        assert posts  # named or found above
        ranker = PostsRanker(posts, model, column, on_error, errors_dir, asked)
    articles = read_articles(article, force, faults)
    if found is not None:
        say(found.line)
    thresholds = ranker.thresholds(articles)
    threshold = chosen(thresholds, precision, recall, threshold)
    ranking = ranker.ranking(articles, threshold)
    _report(ranking, threshold, explain, ranker.name)
    if thresholds is not None:
        ranking = with_probabilities(ranking, thresholds)
    status.end()
    query = articles[0].id if len(articles) == 1 else f"{articles[0].id}+{len(articles) - 1}"
    write_ranking(out, ranking, format_, query=query, tag=ranker.name, articles=articles)


def _conditions(since: str | None, until: str | None, lang: list[str] | None, where: str | None) -> Filter:
    from linker.data.post_filter import Filter

    return Filter(_date("--since", since), _date("--until", until), tuple(lang or ()), where)


def _date(option: str, given: str | None) -> datetime | None:
    from linker.data.io.dates import parse_date

    if given is None:
        return None
    try:
        return parse_date(given)
    except ValueError as error:
        raise LinkerError(f"{option}: {error}") from error


def _only_with_corpus(**options: object) -> None:
    for name, value in options.items():
        if value:
            raise LinkerError(
                f"--{name}: only a corpus can be asked so; build one with `linker corpus build`"
            )


def _report(ranking: Sequence[RankedPost], threshold: float | None, explain: bool, name: str) -> None:
    if not ranking and threshold is None:
        say("no post meets the conditions, or --offset skips all of them")
    elif not ranking:
        say(f"no post has a score of {threshold} or more")
    elif explain and ranking[0].explanation is None:
        say(f"{name} cannot tell which words carried a score; the posts are shown without marks")
