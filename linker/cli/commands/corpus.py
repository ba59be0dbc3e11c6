"""`linker corpus`: posts encoded once, to be ranked for any article."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from linker.cli import ranking as shared
from linker.cli import status
from linker.cli.articles import Articles, Force, Published, load_and_report, prepare_for
from linker.cli.options import (
    Address,
    Authors,
    CorpusFolder,
    CorpusModel,
    EncodingName,
    EngineName,
    ModelOrBest,
    Packages,
    PassagesOption,
    PostColumnNames,
    PostsFormat,
    SheetName,
    check_files,
    engine_of,
    include_packages,
    naming_columns,
    post_columns,
)
from linker.cli.repeated_options import SeveralValues
from linker.common.errors import Faults
from linker.models.pretrained import BEST

if TYPE_CHECKING:
    from linker.corpus.builder import Added
    from linker.corpus.engines.engine import Engine
    from linker.corpus.search.fusion import Fusion
    from linker.ranking.output import Format
    from linker.ranking.request import RankRequest

app = typer.Typer(help="Encode posts once and rank them for any article.", no_args_is_help=True)

Posts = Annotated[
    list[str],
    typer.Argument(
        help="Files of posts, folders, patterns, addresses (s3://, gs://, https://), or - (standard input).",
        show_default=False,
    ),
]
# A corpus does not read everything before it begins to add.
OnError = Annotated[
    Literal["strict", "skip"],
    typer.Option(
        "--on-error",
        help="What bad lines of posts do: end the command (posts added so far stay), or be set aside.",
    ),
]


@app.command()
def build(
    posts: Posts,
    out: Annotated[Path, typer.Option("--out", help="Folder that the corpus is written to.")],
    model: ModelOrBest = BEST,
    column: PostColumnNames = None,
    posts_format: PostsFormat = None,
    encoding: EncodingName = None,
    sheet: SheetName = None,
    authors: Authors = "hashed",
    on_error: OnError = "strict",
    engine: EngineName = "local",
    address: Address = None,
    include_package: Packages = None,
) -> None:
    """Encode posts into a corpus; run the command again to resume an interrupted build."""
    from linker.corpus.builder import build_corpus

    include_packages(include_package)
    where = engine_of(engine, address)
    with naming_columns():
        added = build_corpus(
            out,
            posts,
            model,
            post_columns(column, posts_format, authors, encoding, sheet),
            on_error,
            where,
        )
    _report(out, added)


@app.command()
def add(
    corpus: CorpusFolder,
    posts: Posts,
    model: CorpusModel = None,
    column: PostColumnNames = None,
    posts_format: PostsFormat = None,
    encoding: EncodingName = None,
    sheet: SheetName = None,
    authors: Authors = "hashed",
    on_error: OnError = "strict",
    update: Annotated[
        bool,
        typer.Option("--update", help="Replace posts whose text has changed; they are skipped otherwise."),
    ] = False,
    engine: EngineName = "local",
    address: Address = None,
    include_package: Packages = None,
) -> None:
    """Add posts to a corpus; those that it holds already are skipped."""
    from linker.corpus.builder import add_to_corpus

    include_packages(include_package)
    where = engine_of(engine, address)
    with naming_columns():
        added = add_to_corpus(
            corpus,
            posts,
            model,
            post_columns(column, posts_format, authors, encoding, sheet),
            on_error,
            where,
            update,
        )
    _report(corpus, added)


@app.command()
def delete(
    corpus: CorpusFolder,
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[IDS]...",
            help="Files with the ids of posts: one a line, or a column id; - is standard input.",
            show_default=False,
        ),
    ] = None,
    where: Annotated[
        str | None, typer.Option("--where", help="Delete the posts that meet this SQL condition.")
    ] = None,
) -> None:
    """Delete posts from a corpus, by their ids or by a condition."""
    from linker.common.errors import LinkerError
    from linker.corpus.deletion import condition_of, delete_posts, read_ids
    from linker.corpus.storage.store import Store

    if bool(ids) == bool(where):
        raise LinkerError("give either files with ids or --where with a condition")
    store = Store.open(corpus)
    wanted = read_ids(ids) if ids else []
    deleted = delete_posts(store, where or condition_of(wanted)) if where or wanted else 0
    absent = len(wanted) - deleted
    others = (
        "" if absent <= 0 else "; 1 id is not there" if absent == 1 else f"; {absent:,} ids are not there"
    )
    print(f"{corpus}: {deleted:,} post{'s' * (deleted != 1)} deleted{others}; {store.count():,} left")


@app.command()
def compact(corpus: CorpusFolder) -> None:
    """Merge small files of a corpus, and remove the bytes of deleted posts from the disk."""
    from linker.corpus.compaction import compact as compact_store
    from linker.corpus.storage.store import Store

    store = Store.open(corpus)
    done = compact_store(store)
    files = f"{done.before:,} data files are now {done.after:,}"
    freed = f"{max(done.removed, 0) / 1e6:,.1f} MB freed"
    print(f"{corpus}: {store.count():,} posts; {files}; {freed}")


@app.command()
def info(corpus: CorpusFolder) -> None:
    """Show the number, times and languages of the posts of a corpus, and its model."""
    from linker.corpus.info import summary_lines
    from linker.corpus.storage.store import Store

    for name, value in summary_lines(Store.open(corpus)).items():
        print(f"{name:<12} {value}")


@app.command()
def verify(corpus: CorpusFolder) -> None:
    """Check every file of a corpus for damage; exit code 2 if there is any."""
    from linker.common.errors import DataError
    from linker.corpus.storage.store import Store
    from linker.corpus.verify import faults

    store = Store.open(corpus)
    found = list(faults(store))
    if found:
        raise DataError("\n".join(f"{corpus / fault.file}: {fault.problem}" for fault in found))
    print(f"{corpus}: intact; {store.count():,} posts")


@app.command("export")
def export(
    corpus: CorpusFolder,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="FILE.parquet, or a new folder with a CSV file and a script for PostgreSQL (pgvector).",
        ),
    ],
) -> None:
    """Export posts and embeddings to a Parquet file, or to a folder for PostgreSQL with pgvector."""
    from linker.corpus.export import export_parquet, export_postgresql
    from linker.corpus.storage.store import Store

    write = export_parquet if out.suffix.lower() == ".parquet" else export_postgresql
    print(f"{out}: {write(Store.open(corpus), out):,} posts")


def _report(folder: Path, added: Added) -> None:
    parts = [f"{added.new - added.updated:,} posts added"]
    if added.updated:
        parts.append(f"{added.updated:,} updated")
    if added.known:
        parts.append(f"{added.known:,} left out: repeated, or in the corpus already")
    if added.conflicting:
        parts.append(f"{added.conflicting:,} left out: their ids are there with other texts (--update)")
    if added.deleted:
        parts.append(f"{added.deleted:,} of the corpus deleted, as the files say")
    print(f"{folder}: {'; '.join(parts)}")


@app.command("search", cls=SeveralValues)
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
    published: Published = None,
) -> None:
    """Rank the posts of a corpus by how likely they are to discuss an article, best first."""
    status.begin(status.reading_articles(article))
    prepare_for(article)
    from linker.ranking.output import format_of

    include_packages(include_package)
    format_ = format_of(out, format_)
    request = shared.request_of(
        format_, top, offset, threshold, (labels, calibration), explain, passages,
        shared.filter_of(since, until, lang, where), copies, ignore_dates,
    )  # fmt: skip
    place = engine_of(engine, address)
    search_corpus(corpus, article, model, request, format_, out, force, place, fusion, published=published)


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
    published: str | None = None,
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
    articles = load_and_report(sources, force, faults, published)
    if note:
        status.say(note)
    for sentence in corpus.left_out(request.filter) if request.filter else []:
        status.say(sentence)
    if not request.ignore_dates and corpus.uses_dates(articles):
        shared.say_dates(articles)
    status.step("searching the corpus")
    shared.show(corpus.answer(articles, request, fusion), request, out, format_)
