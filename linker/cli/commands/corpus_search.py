"""`linker corpus search`: rank the posts of a corpus for an article."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from linker.cli import ranking as shared
from linker.cli import status
from linker.cli.articles import Articles, Force, load_and_report
from linker.cli.options import (
    Address,
    CorpusFolder,
    CorpusModel,
    EngineName,
    Packages,
    PassagesOption,
    check_files,
    engine_of,
    include_packages,
)
from linker.common.errors import Faults

if TYPE_CHECKING:
    from linker.corpus.engines.engine import Engine
    from linker.corpus.search.fusion import Fusion
    from linker.ranking.output import Format
    from linker.ranking.request import RankRequest


def search(
    corpus: CorpusFolder,
    article: Articles,
    model: CorpusModel = None,
    top: shared.Top = None,
    offset: Annotated[
        int, typer.Option("--offset", min=0, help="Number of the best posts to skip, as on a later page.")
    ] = 0,
    since: shared.Since = None,
    until: shared.Until = None,
    lang: shared.Lang = None,
    where: Annotated[
        str | None,
        typer.Option("--where", help="Rank only posts that meet this SQL condition."),
    ] = None,
    labels: shared.Labels = None,
    calibration: shared.CalibrationFile = None,
    threshold: shared.Cut = None,
    passages: PassagesOption = "whole",
    fusion: Annotated[
        Literal["none", "zscore"],
        typer.Option(
            "--fusion", help="Rank by the model's own scores (none), or add BM25 scores to them (zscore)."
        ),
    ] = "none",
    copies: shared.Copies = False,
    explain: shared.Explain = False,
    ignore_dates: shared.IgnoreDates = False,
    format_: shared.OutFormat = None,
    out: shared.Out = None,
    engine: EngineName = "local",
    address: Address = None,
    include_package: Packages = None,
    force: Force = False,
) -> None:
    """Rank the posts of a corpus by how likely they are to discuss an article, best first."""
    status.begin(status.reading_articles(article))
    from linker.ranking.output import format_of

    include_packages(include_package)
    format_ = format_of(out, format_)
    request = shared.request_of(
        format_, top, offset, threshold, (labels, calibration), explain, passages,
        shared.filter_of(since, until, lang, where), copies, ignore_dates,
    )  # fmt: skip
    place = engine_of(engine, address)
    search_corpus(corpus, article, model, request, format_, out, force, place, fusion)


def search_corpus(
    folder: Path,
    sources: list[str],
    model: str | None,
    request: RankRequest,
    format_: Format,
    out: Path | None,
    force: bool,
    engine: Engine | None = None,
    fusion: Fusion = "none",
    note: str | None = None,
) -> None:
    """Open the corpus, read the articles, rank and write.

    Raises:
        LinkerError: if the corpus, its model, an article or the output is faulty.
    """
    from linker.corpus.corpus import Corpus

    faults = Faults()
    check_files(sources, [], out, faults)
    corpus = Corpus.open(folder, model, engine)
    corpus.check(request, fusion)
    articles = load_and_report(sources, force, faults)
    if note:
        status.say(note)
    for sentence in corpus.left_out(request.filter) if request.filter else []:
        status.say(sentence)
    if not request.ignore_dates and corpus.uses_dates(articles):
        shared.say_dates(articles)
    status.step("searching the corpus")
    shared.show(corpus.answer(articles, request, fusion), request, out, format_)
