"""`linker rank`: posts in the order of how much they talk about an article."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from linker.cli.options import (
    Address,
    EngineName,
    ErrorsDir,
    OnError,
    Packages,
    PassagesOption,
    PostColumnNames,
    engine_of,
    include_packages,
)
from linker.cli.posts import check_files, post_columns, told_articles, with_option
from linker.errors import LinkerError

if TYPE_CHECKING:
    from linker.corpus.engines.engine import Engine
    from linker.corpus.filters import Filter
    from linker.data.types import Article
    from linker.models.passages import Passages
    from linker.ranking.linker import RankedPost

_TABLE_ROWS = 20
_ENDINGS: dict[str, Literal["csv", "jsonl", "trec"]] = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".trec": "trec",
    ".run": "trec",
}


def rank(
    article: Annotated[
        list[str],
        typer.Option(
            "--article",
            help="Address, file (HTML, text, JSON) or - (standard input); several make one query.",
        ),
    ],
    posts: Annotated[
        list[str] | None,
        typer.Option(
            "--posts",
            help="File of posts, folder, pattern or address, or -; repeatable.",
            show_default=False,
        ),
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option("--corpus", help="Instead of --posts: a corpus of encoded posts.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", help="A model folder, bm25 or tfidf.", show_default="bm25, or the corpus's own"
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", min=1, help="How many posts.", show_default=f"{_TABLE_ROWS} in tables, else all"
        ),
    ] = None,
    offset: Annotated[
        int, typer.Option("--offset", min=0, help="With --corpus: leave out so many of the best.")
    ] = 0,
    since: Annotated[
        str | None, typer.Option("--since", help="With --corpus: posts of this day or time and later.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", help="With --corpus: posts before this day or time.")
    ] = None,
    lang: Annotated[
        list[str] | None,
        typer.Option("--lang", help="With --corpus: posts in this language; repeatable.", show_default=False),
    ] = None,
    where: Annotated[
        str | None, typer.Option("--where", help="With --corpus: an SQL condition on the posts' fields.")
    ] = None,
    passages: PassagesOption = "whole",
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Leave out posts with a lower score.")
    ] = None,
    copies: Annotated[
        bool, typer.Option("--copies", help="With --corpus: list near-duplicates one by one.")
    ] = False,
    fusion: Annotated[
        Literal["none", "zscore"],
        typer.Option("--fusion", help="With --corpus: add BM25 scores, both standardised, or do not."),
    ] = "none",
    approximate: Annotated[
        bool,
        typer.Option("--approximate", help="With --corpus: search with the index of `linker corpus index`."),
    ] = False,
    engine: EngineName = "local",
    address: Address = None,
    format_: Annotated[
        Literal["table", "csv", "jsonl", "trec"] | None,
        typer.Option("--format", help="What to write.", show_default="by the ending of --out, else table"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The file to write.", show_default="standard output")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show which words of article and posts carried the score.")
    ] = False,
    column: PostColumnNames = None,
    on_error: OnError = "strict",
    errors_dir: ErrorsDir = Path("."),
    include_package: Packages = None,
) -> None:
    """Rank posts by how much they talk about an article, best first."""
    from linker.ranking.linker import check_explaining
    from linker.ranking.output import write_ranking

    # What can be wrong is found out before the work begins: names first, the model last.
    include_packages(include_package)
    if threshold is not None and math.isnan(threshold):
        raise LinkerError("--threshold nan: no score can be compared with it; give a number")
    check_explaining(explain, passages)
    check_files(article, posts or [], out)
    format_ = format_ or (_ENDINGS.get(out.suffix.lower()) if out else None) or "table"
    if top is None and format_ == "table":
        top = _TABLE_ROWS
    ranker: Callable[[list[Article]], tuple[Sequence[RankedPost], str]]
    if corpus is not None:
        if posts or column:
            raise LinkerError("--corpus: the posts are in the corpus; leave out --posts and --column")
        if approximate and engine != "local":
            raise LinkerError("--approximate: searches in this process; leave out --engine")
        conditions = _conditions(since, until, lang, where)
        asked = (top, offset, threshold, conditions, explain, copies, passages, fusion, approximate)
        ranker = _over_corpus(corpus, model, approximate, engine_of(engine, address), asked)
    else:
        _only_with_corpus(since=since, until=until, lang=lang, where=where, offset=offset, copies=copies)
        _only_with_corpus(fusion=fusion if fusion != "none" else None, approximate=approximate)
        _only_with_corpus(engine=engine if engine != "local" else None, address=address)
        if not posts:
            raise LinkerError("give --posts FILE, or --corpus FOLDER")
        ranker = _over_posts(posts, model, top, threshold, explain, passages, column, on_error, errors_dir)
    articles = told_articles(article)
    ranking, name = ranker(articles)
    _report(ranking, threshold, explain, name)
    query = articles[0].id if len(articles) == 1 else f"{articles[0].id}+{len(articles) - 1}"
    write_ranking(out, ranking, format_, query=query, tag=name)


def _over_posts(
    posts: list[str],
    model: str | None,
    top: int | None,
    threshold: float | None,
    explain: bool,
    passages: Passages,
    column: list[str] | None,
    on_error: Literal["strict", "skip"],
    errors_dir: Path,
) -> Callable[[list[Article]], tuple[Sequence[RankedPost], str]]:
    from linker.data.records import read_posts
    from linker.ranking.linker import find_model

    columns = post_columns(column)
    found = find_model(model or "bm25")

    def ranked(articles: list[Article]) -> tuple[Sequence[RankedPost], str]:
        with with_option():
            candidates = read_posts(posts, columns, on_error, str(errors_dir))
        if model is None:
            _say("no --model given: ranking by BM25, that is by shared words only")
        linker = found.load()
        return linker.rank(articles, candidates, top, threshold, explain, passages), linker.name

    return ranked


def _over_corpus(
    folder: Path, model: str | None, approximate: bool, engine: Engine, asked: tuple[Any, ...]
) -> Callable[[list[Article]], tuple[Sequence[RankedPost], str]]:
    """`asked`: what `Corpus.ranking` takes after the article."""
    from linker.corpus.approximate import WANTED
    from linker.corpus.corpus import Corpus

    corpus = Corpus.open(folder, model, engine)
    if approximate:
        facts = corpus.index.facts
        _say(f"approximate search: of the {WANTED} best posts it found {facts.told}, when the index was made")
        if added := len(corpus) - facts.rows:
            _say(
                f"{added:,} posts were added since and are searched exactly; `linker corpus index` takes them in"
            )

    def ranked(articles: list[Article]) -> tuple[Sequence[RankedPost], str]:
        return corpus.ranking(articles, *asked), corpus.name

    return ranked


def _conditions(since: str | None, until: str | None, lang: list[str] | None, where: str | None) -> Filter:
    from linker.corpus.filters import Filter

    return Filter(_date("--since", since), _date("--until", until), tuple(lang or ()), where)


def _date(option: str, given: str | None) -> datetime | None:
    from linker.data.dates import parse_date

    if given is None:
        return None
    try:
        return parse_date(given)
    except ValueError as error:
        raise LinkerError(f"{option} {given}: {error}; give a day or time such as 2014-08-01") from error


def _only_with_corpus(**options: object) -> None:
    for name, value in options.items():
        if value:
            raise LinkerError(
                f"--{name}: only a corpus can be asked so; build one with `linker corpus build`"
            )


def _report(ranking: Sequence[RankedPost], threshold: float | None, explain: bool, name: str) -> None:
    if not ranking:
        _say(f"no post has a score of {threshold} or more")
    elif explain and ranking[0].explanation is None:
        _say(f"{name} cannot tell which words carried a score; the posts are shown without marks")


def _say(message: str) -> None:
    print(message, file=sys.stderr)
