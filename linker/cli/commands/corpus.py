"""`linker corpus`: posts encoded once, to be ranked for any article."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linker.cli import status
from linker.cli.command import App
from linker.cli.inputs import ArticleSources, PostReading, check_files, naming_columns
from linker.cli.options import Cluster, ModelOrBest
from linker.cli.ranking import RankingOptions
from linker.common.errors import Faults
from linker.models.pretrained import BEST

if TYPE_CHECKING:
    from linker.corpus.known_posts import Added

app = App(help="Encode posts once and rank them for any article.", no_args_is_help=True)

CorpusFolder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="Folder of the corpus.", show_default=False)
]
CorpusModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Model that encoded the corpus, if its folder was moved.",
        show_default="as when the corpus was built",
    ),
]
Posts = Annotated[
    list[str],
    typer.Argument(
        help="Files of posts, folders, patterns, addresses (s3://, gs://, https://), or - (standard input).",
        show_default=False,
    ),
]


@app.command()
def build(
    *,
    posts: Posts,
    out: Annotated[Path, typer.Option("--out", help="Folder that the corpus is written to.")],
    model: ModelOrBest = BEST,
    reading: PostReading,
    cluster: Cluster,
) -> None:
    """Encode posts into a corpus; run the command again to resume an interrupted build."""
    from linker.corpus.builder import build_corpus

    engine = cluster.open()
    with naming_columns():
        added = build_corpus(out, posts, model, reading.columns(), reading.on_error, engine)
    _report(out, added)


@app.command()
def add(
    *,
    corpus: CorpusFolder,
    posts: Posts,
    model: CorpusModel = None,
    reading: PostReading,
    update: Annotated[
        bool,
        typer.Option("--update", help="Replace posts whose text has changed; they are skipped otherwise."),
    ] = False,
    cluster: Cluster,
) -> None:
    """Add posts to a corpus; those that it holds already are skipped."""
    from linker.corpus.builder import add_to_corpus

    engine = cluster.open()
    with naming_columns():
        added = add_to_corpus(corpus, posts, model, reading.columns(), reading.on_error, engine, update)
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
    from linker.corpus.deletion import delete_posts, read_ids
    from linker.corpus.filters import is_in
    from linker.corpus.storage.store import Store

    if bool(ids) == bool(where):
        raise LinkerError("give either files with ids or --where with a condition")
    store = Store.open(corpus)
    listed = read_ids(ids) if ids else []
    deleted = delete_posts(store, where or is_in("id", listed)) if where or listed else 0
    absent = len(listed) - deleted
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
    if damage := list(faults(store)):
        raise DataError("\n".join(damage))
    print(f"{corpus}: intact; {store.count():,} posts")


@app.command("export")
def export(
    corpus: CorpusFolder,
    out: Annotated[Path, typer.Option("--out", help="Parquet file for posts and embeddings.")],
) -> None:
    """Export posts and embeddings to a Parquet file."""
    from linker.corpus.export import export_parquet
    from linker.corpus.storage.store import Store

    print(f"{out}: {export_parquet(Store.open(corpus), out):,} posts")


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


@app.command("search")
def search(
    *,
    corpus: CorpusFolder,
    sources: ArticleSources,
    model: CorpusModel = None,
    offset: Annotated[
        int, typer.Option("--offset", min=0, help="Number of the best posts to skip, as on a later page.")
    ] = 0,
    where: Annotated[
        str | None, typer.Option("--where", help="Rank only posts that meet this SQL condition.")
    ] = None,
    options: RankingOptions,
) -> None:
    """Rank the posts of a corpus by how likely they are to discuss an article, best first."""
    sources.begin()
    request = options.request(where, offset)
    from linker.corpus.corpus import Corpus

    faults = Faults()
    check_files(sources.article, [], options.out, faults)
    opened = Corpus.open(corpus, model)
    request.check_model(opened.store.facts.fingerprint)  # before an article is fetched
    articles = sources.load(faults)
    for sentence in opened.left_out(request.filter) if request.filter else []:
        status.say(sentence)
    status.step("searching the corpus")
    options.show(opened.answer(articles, request), request)
