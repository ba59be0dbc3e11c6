"""`linker corpus`: posts encoded once, to be ranked for any article."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from linker.cli.commands.corpus_search import search
from linker.cli.options import (
    Address,
    CorpusFolder,
    CorpusModel,
    EngineName,
    ErrorsDir,
    ModelOrBest,
    Packages,
    PostColumnNames,
    engine_of,
    include_packages,
    naming_columns,
    post_columns,
)
from linker.cli.repeated_options import SeveralValues
from linker.models.pretrained import BEST

if TYPE_CHECKING:
    from linker.corpus.builder import Added

app = typer.Typer(help="Encode posts once and rank them for any article.", no_args_is_help=True)
app.command("search", cls=SeveralValues)(search)

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
    on_error: OnError = "strict",
    errors_dir: ErrorsDir = Path("."),
    engine: EngineName = "local",
    address: Address = None,
    include_package: Packages = None,
) -> None:
    """Encode posts into a corpus; run the command again to resume an interrupted build."""
    from linker.corpus.builder import build_corpus

    include_packages(include_package)
    where = engine_of(engine, address)
    with naming_columns():
        added = build_corpus(out, posts, model, post_columns(column), on_error, str(errors_dir), where)
    _report(out, added)


@app.command()
def add(
    corpus: CorpusFolder,
    posts: Posts,
    model: CorpusModel = None,
    column: PostColumnNames = None,
    on_error: OnError = "strict",
    errors_dir: ErrorsDir = Path("."),
    engine: EngineName = "local",
    address: Address = None,
    include_package: Packages = None,
) -> None:
    """Add posts to a corpus; those that it holds already are skipped."""
    from linker.corpus.builder import add_to_corpus

    include_packages(include_package)
    where = engine_of(engine, address)
    with naming_columns():
        added = add_to_corpus(corpus, posts, model, post_columns(column), on_error, str(errors_dir), where)
    _report(corpus, added)


@app.command()
def info(corpus: CorpusFolder) -> None:
    """Show the number, times and languages of the posts of a corpus, and its model."""
    from linker.corpus.info import summary
    from linker.corpus.storage.store import Store

    for name, value in summary(Store.open(corpus)).items():
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
    print(f"{corpus}: whole; {store.count():,} posts")


def _report(folder: Path, added: Added) -> None:
    parts = [f"{added.new:,} posts added"]
    if added.known:
        parts.append(f"{added.known:,} were there already")
    if added.conflicting:
        parts.append(f"{added.conflicting:,} left out: their ids are there with other texts")
    print(f"{folder}: {'; '.join(parts)}")
