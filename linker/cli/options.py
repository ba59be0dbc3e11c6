"""Options that several commands share, each in one place: single ones, and groups as dataclasses."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from linker.common.errors import DataError, Faults, LinkerError
from linker.models.pretrained import BEST

if TYPE_CHECKING:
    from linker.config import LoadedConfig
    from linker.corpus.engines.engine import Engine
    from linker.data.io.columns import PostColumns
    from linker.data.types import LinkedPosts, Post

_MODELS = f"a folder, a .jsonnet config, {BEST} (the default), distilled, bm25, tfidf or USER/MODEL on a hub"
ModelName = Annotated[
    str | None, typer.Option("--model", metavar="MODEL", help=f"Model: {_MODELS}.", show_default=False)
]
ModelOrBest = Annotated[str, typer.Option("--model", metavar="MODEL", help=f"Model: {_MODELS}.")]
OnError = Annotated[
    Literal["strict", "skip"],
    typer.Option(
        "--on-error",
        metavar="HOW",
        help="Invalid lines: stop (strict, default) or set aside (skip).",
        show_default=False,
    ),
]


@dataclass
class PostReading:
    """How files of posts are read."""

    column: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=COL", help="Name a column of the posts, such as text=body; repeatable."),
    ] = None
    posts_format: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Format of the posts, such as mastodon; default: recognized."),
    ] = None
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="Encoding, such as windows-1252; default: recognized.")
    ] = None
    sheet: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Sheet of a workbook with the posts; default: recognized.",
            hidden=True,  # the line on a workbook with several sheets names it
        ),
    ] = None
    authors: Annotated[
        Literal["hashed", "plain"],
        typer.Option(
            "--authors",
            metavar="HOW",
            help="Authors of a platform's posts: hashed (default) or plain.",
            show_default=False,
            hidden=True,  # the pages of the commands that keep authors name it
        ),
    ] = "hashed"
    on_error: OnError = "strict"

    def columns(self) -> PostColumns:
        """Return the columns, format and encoding as configured.

        Raises:
            LinkerError: if an option has another form, or the format or encoding is unknown.
            ConfigError: if linker has no such column.
        """
        from linker.config import build
        from linker.data.files.encodings import codec_of
        from linker.data.io.columns import PostColumns
        from linker.data.platforms.recognition import check_format

        if self.posts_format is not None:
            check_format(self.posts_format)
        if self.encoding is not None:
            codec_of(self.encoding)
        names: dict[str, list[str]] = {}
        for text in self.column or []:
            key, equals, column = text.partition("=")
            if not equals or not key:
                raise LinkerError(f"--column {text}: expected KEY=COL, such as text=body")
            names.setdefault(key, []).extend([column] if column else [])
        config: dict[str, Any] = {
            key: columns[0] if len(columns) == 1 else columns or None for key, columns in names.items()
        }
        settings = {"authors": self.authors, "encoding": self.encoding, "sheet": self.sheet}
        return build(PostColumns, {**config, "format": self.posts_format, **settings})

    def read(self, files: list[str]) -> Sequence[Post]:
        """Read posts.

        Raises:
            DataError: if a file cannot be read.
        """
        from linker.data.io.records import spool_posts

        columns = self.columns()
        with naming_columns():
            return spool_posts(files, columns, self.on_error)


@dataclass
class LinkedData:
    """Articles and posts whose links or labels are known."""

    articles: Annotated[
        Path | None,
        typer.Option(
            help="Articles to rank posts for: a table (JSON Lines, CSV, TSV, Parquet), or a saved page, PDF or text."
        ),
    ] = None
    posts: Annotated[
        list[str] | None,
        typer.Option(
            help="Posts as for `linker rank`, with `article_id` or `article_ids`; if there are labels, these decide; "
            "repeatable."
        ),
    ] = None
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Relevance labels of the posts, in any format.",
            show_default="links in the posts",
        ),
    ] = None
    split: Annotated[
        str | None, typer.Option(help="Use only the articles and posts of this split.", show_default="all")
    ] = None

    def check(self) -> list[Path]:
        """Check before any work that articles, posts and labels exist; return their files, which no output may replace.

        Raises:
            LinkerError: if there are faults.
        """
        from linker.data.files.paths import check_inputs

        if self.articles is None or not self.posts:
            raise LinkerError("give --articles and --posts")
        faults, files = Faults(), []
        for path in (self.articles, *([] if self.labels is None else [self.labels])):
            with faults:
                if not path.is_file():
                    raise DataError(f"{path}: file not found")
            files.append(path)
        for source in dict.fromkeys(self.posts):
            with faults:
                files += map(Path, check_inputs([source]))
        faults.raise_if_any()
        return files

    def read(
        self, columns: PostColumns | None = None, on_error: Literal["strict", "skip"] = "strict"
    ) -> LinkedPosts:
        """Read them, after `check`.

        Raises:
            DataError: if a file cannot be read, or the split is empty.
        """
        from linker.data.io.columns import PairColumns
        from linker.data.readers.articles_and_posts import ArticlesAndPosts
        from linker.evaluation.outputs import only_split

        pairs = PairColumns(posts=columns) if columns else PairColumns()
        labels = None if self.labels is None else str(self.labels)
        with naming_columns(self.articles), _as_table(self.articles) as articles:
            linked = ArticlesAndPosts(articles, self.posts or [], pairs, on_error, labels).read()
        return only_split(linked, self.split) if self.split else linked


@contextmanager
def _as_table(articles: Path | None) -> Iterator[str]:
    """Yield the path of a table of articles; of a page, PDF or text, that of a temporary table with its article."""
    from linker.articles.loading import ONE_ARTICLE, load_articles

    if articles is None or articles.suffix.lower() not in ONE_ARTICLE:
        yield str(articles)
        return

    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "articles.jsonl"
        with table.open("w", encoding="utf-8") as file:
            for article in load_articles(articles):
                values = {name: value for name, value in asdict(article).items() if value is not None}
                file.write(json.dumps(values, default=str) + "\n")
        yield str(table)


@dataclass
class ConfigSource:
    """A training config and its changes."""

    config: Annotated[
        Path,
        typer.Argument(
            help="Jsonnet config: a file, or one of linker's recipes, such as configs/ast.jsonnet."
        ),
    ]
    override: Annotated[
        list[str] | None,
        typer.Option(
            "-o",
            "--override",
            help="Change a value of the config: KEY.PATH=VALUE, or a Jsonnet object to merge; repeatable.",
        ),
    ] = None

    def load(self, log: Callable[[str], None] | None = None) -> LoadedConfig:
        """Evaluate the config.

        Args:
            log: called with one line if the config is linker's own recipe; by default, it is printed.

        Raises:
            ConfigError: if the file or an override is invalid.
        """
        from linker.config import load_config

        loaded = load_config(self.config, self.override or [])
        if loaded.recipe is not None:
            line = f"config: {loaded.recipe}, linker's own, because {self.config} is not in this folder"
            log(line) if log else print(line, file=sys.stderr)
        return loaded


@dataclass
class Cluster:
    """Where posts of a corpus are encoded."""

    engine: Annotated[
        Literal["local", "ray"], typer.Option(help="Run in this process (local) or on a Ray cluster (ray).")
    ] = "local"
    address: Annotated[
        str | None,
        typer.Option(
            help="Address of the Ray cluster: HOST:PORT, auto or ray://HOST:PORT.",
            show_default="start one on this machine",
        ),
    ] = None

    def open(self) -> Engine:
        """Return the engine.

        Raises:
            LinkerError: if there is an address without a cluster.
        """
        if self.engine == "local":
            if self.address is not None:
                raise LinkerError("--address: only for Ray clusters; add --engine ray")
            from linker.corpus.engines.engine import Engine

            return Engine()
        from linker.corpus.engines.ray import RayEngine

        return RayEngine(self.address)


def check_files(
    articles: list[str], posts: list[str], out: Path | None, faults: Faults | None = None
) -> None:
    """Check before any work that posts exist and the output can be written; articles are not checked.

    Args:
        articles: article sources, which the output must not overwrite.
        posts: files, folders, patterns, addresses, `-`.
        out: the file to write.
        faults: collects faults, to be reported with others; None: report them here.

    Raises:
        LinkerError: if there are faults.
    """
    from linker.common.files import check_writable
    from linker.data.files.paths import check_inputs

    collected, files = faults or Faults(), []
    if (articles + posts).count("-") > 1:
        with collected:
            raise LinkerError("-: standard input can be read once only; give files for the others")
    for source in dict.fromkeys(posts):
        with collected:
            files += check_inputs([source])
    if out is not None:
        with collected:
            check_writable(out, articles + files)
    if faults is None:
        collected.raise_if_any()


@contextmanager
def naming_columns(articles: Path | None = None) -> Iterator[None]:
    """Add the options that name the columns to an error about missing columns of posts.

    Args:
        articles: a file of articles that is read with the posts.
    """
    from linker.data.io.columns import MissingColumnsError

    try:
        yield
    except MissingColumnsError as error:
        if articles is not None and str(error).startswith(f"{articles}: "):
            raise
        columns = [f"--column {name}={column or 'NAME'}" for name, column in error.remedy.items()]
        raise DataError(f"{error}\nAdd: {' '.join(columns)}") from error


def component(option: str, text: str) -> LoadedConfig:
    """Parse `recall,target=0.9` to {type: "recall", target: 0.9}, or evaluate a Jsonnet file.

    Args:
        option: the option that it was given to, for messages.
        text: a name with or without keys, or the path of a file.

    Raises:
        LinkerError: if it cannot be parsed or evaluated.
    """
    from linker.config import LoadedConfig, load_config

    if Path(text).suffix in (".jsonnet", ".json"):
        return load_config(text)
    name, *pairs = text.split(",")
    config = LoadedConfig(type=name)
    config.source = f"{option} {text}"
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise LinkerError(f"{option} {text}: expected NAME,KEY=VALUE, such as recall,target=0.9")
        try:
            config[key] = json.loads(value)
        except ValueError:
            config[key] = value
    return config
