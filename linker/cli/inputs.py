"""The articles and posts of a command line: their options, checks before any work, and loading them."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from linker.cli import status
from linker.cli.options import OnError, date_option
from linker.common.errors import DataError, Faults, LinkerError, StubError

if TYPE_CHECKING:
    from linker.data.io.columns import PostColumns
    from linker.data.types import Article, LinkedPosts, Post

# As `linker.articles.loading` has it, whose import takes longer than the process to start.
_PAGE = re.compile(r"^https?://|\.(x?html?|pdf)$", re.IGNORECASE)
_POSTS = re.compile(r"posts\.[a-z]+(\.(gz|bz2|xz|zst))?", re.IGNORECASE)
_LINES = 10
_PUBLISHED = "--published"


@dataclass
class ArticleSources:
    """The articles of a command line."""

    article: Annotated[
        list[str], typer.Option(metavar="SOURCE", help="Article: address, file, folder, quoted text or -.")
    ]
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            metavar="",
            help="Accept a page with too little text (paywall, error page).",
            hidden=True,  # the message that refuses a page names it
        ),
    ] = False
    published: Annotated[
        datetime | None,
        date_option(_PUBLISHED, "DATE", "When the article was published, if it does not say so."),
    ] = None

    def begin(self) -> None:
        """Show the first status and start the process that reads pages, if any, before slow imports."""
        count = len(self.article)
        if count == 1 and "://" in self.article[0]:
            status.say("fetching the article ...")
        else:
            status.say("reading the article ..." if count == 1 else f"reading {count} articles ...")
        if any(_PAGE.search(source) for source in self.article):
            from linker.articles import extraction_process

            extraction_process.start()

    def load(self, faults: Faults | None = None) -> list[Article]:
        """Load the articles and print a line about each to standard error: title, words, date, source.

        The second article of an id gets the id `id-2`.

        Raises:
            LinkerError: if there are faults, together with those that were collected before.
        """
        from linker.articles.loading import load_articles
        from linker.articles.publication import dated

        faults = faults or Faults()
        lines: list[str] = []
        loaded: list[Article] = []
        seen: Counter[str] = Counter()
        for source in dict.fromkeys(self.article):
            with faults:
                try:
                    articles = load_articles(source, self.force)
                except StubError as error:
                    raise DataError(f"{error}; or add --force to use it as it is") from error
                if self.published is not None:
                    articles = dated(articles, self.published, _PUBLISHED)
                lines += [f"article: {article.summary}" for article in articles[:_LINES]]
                if len(articles) > _LINES:
                    lines.append(f"and {len(articles) - _LINES:,} more articles from {source}")
                for article in articles:
                    seen[article.id] += 1
                    if (count := seen[article.id]) > 1:
                        article = replace(article, id=f"{article.id}-{count}")
                    loaded.append(article)
        faults.raise_if_any()
        for line in lines:
            print(line, file=sys.stderr)
        return loaded


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
class PostConditions:
    """Which posts are used."""

    since: Annotated[
        datetime | None, date_option("--since", "TIME", "Use only posts on or after this date or time.")
    ] = None
    until: Annotated[
        datetime | None, date_option("--until", "TIME", "Use only posts before this date or time.")
    ] = None
    lang: Annotated[
        list[str] | None,
        typer.Option(metavar="LANG", help="Use only posts in this language (en, English); repeatable."),
    ] = None


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
        from linker.data.io.input_files import check_inputs

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

    def read(self, columns: PostColumns, on_error: Literal["strict", "skip"]) -> LinkedPosts:
        """Read them, after `check`.

        Raises:
            DataError: if a file cannot be read, or the split is empty.
        """
        from linker.data.io.columns import PairColumns
        from linker.data.readers.articles_and_posts import ArticlesAndPosts
        from linker.evaluation.outputs import only_split

        pairs = PairColumns(posts=columns)
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


def default_posts(articles: list[str]) -> str:
    """Find the file that `linker rank` ranks without --posts.

    It is called `posts`, with an ending of a format that is read (`posts.jsonl`, `posts.csv.gz`, ...), and is in this
    folder, else in `data`.

    Raises:
        LinkerError: if there are several, or none; the message lists what to type, with these values of --article.
    """
    from linker.config.recipes import shared_folder
    from linker.data.files.tables import format_of_name

    command = f"linker rank --article {shlex.join(articles) or '...'} --posts"
    for folder in (Path(), Path("data")):
        paths = sorted(folder.iterdir()) if folder.is_dir() else []
        files = [str(path) for path in paths if _POSTS.fullmatch(path.name) and format_of_name(path.name)]
        if len(files) > 1:
            commands = [f"{command} {shlex.quote(file)}" for file in files]
            raise LinkerError(
                "\n  ".join([f"{len(files)} files of posts in this folder; type one of", *commands])
            )
        if files:
            return files[0]
    raise LinkerError(
        "no posts to rank: --posts is missing, and there is no posts.jsonl, posts.csv or the like in this folder or in "
        f"data/; type\n  {command} FILE\n"
        f"or, with linker's sample of posts,\n  {command} {shlex.quote(str(shared_folder() / 'data/posts.jsonl'))}"
    )


def check_files(articles: list[str], posts: list[str], out: Path | None, faults: Faults) -> None:
    """Check before any work that posts exist and the output can be written; articles are not checked.

    Args:
        articles: article sources, which the output must not overwrite.
        posts: files, folders, patterns, addresses, `-`.
        out: the file to write.
        faults: collects faults, to be reported with others.
    """
    from linker.common.files import check_writable
    from linker.data.io.input_files import check_inputs

    files: list[str] = []
    if (articles + posts).count("-") > 1:
        with faults:
            raise LinkerError("-: standard input can be read once only; give files for the others")
    for source in dict.fromkeys(posts):
        with faults:
            files += check_inputs([source])
    if out is not None:
        with faults:
            check_writable(out, articles + files)


@contextmanager
def naming_columns(articles: Path | None = None) -> Iterator[None]:
    """Add the options that name the columns to an error about missing columns of posts, not to one about articles."""
    from linker.data.io.columns import MissingColumnsError

    try:
        yield
    except MissingColumnsError as error:
        if articles is not None and str(error).startswith(f"{articles}: "):
            raise
        columns = [f"--column {name}={column or 'NAME'}" for name, column in error.remedy.items()]
        raise DataError(f"{error}\nAdd: {' '.join(columns)}") from error
