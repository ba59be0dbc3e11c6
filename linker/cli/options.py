"""Options that several commands share."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from linker.common.errors import DataError, Faults, LinkerError
from linker.models.pretrained import BEST

if TYPE_CHECKING:
    from linker.config import LoadedConfig
    from linker.corpus.engines.engine import Engine
    from linker.data.io.columns import PostColumns


#: Environment variable with the names of packages, separated by spaces, in place of `--include-package`.
PACKAGES = "LINKER_PACKAGES"


def post_columns(
    given: list[str] | None,
    format_: str | None = None,
    authors: Literal["hashed", "plain"] = "hashed",
    encoding: str | None = None,
    sheet: str | None = None,
) -> PostColumns:
    """Return how posts are read, by the options that name their columns, format, authors, encoding and sheet.

    Args:
        given: columns, like `text=body`; `id=` for no id column.
        format_: name of a platform's format; None: recognize it.
        authors: whether a platform's authors are hashed.
        encoding: name of the encoding of text; None: recognize it.
        sheet: name of the sheet of workbooks; None: find it.

    Raises:
        LinkerError: if an option has another form, or the format or encoding is unknown.
        ConfigError: if linker has no such column.
    """
    from linker.config import build
    from linker.data.files.encodings import codec_of
    from linker.data.io.columns import PostColumns
    from linker.data.platforms.recognition import check_format

    if format_ is not None:
        check_format(format_)
    if encoding is not None:
        codec_of(encoding)
    names: dict[str, list[str]] = {}
    for text in given or []:
        ours, equals, theirs = text.partition("=")
        if not equals or not ours:
            raise LinkerError(f"--column {text}: expected OURS=THEIRS, such as text=body")
        names.setdefault(ours, []).extend([theirs] if theirs else [])
    config: dict[str, Any] = {
        ours: theirs[0] if len(theirs) == 1 else theirs or None for ours, theirs in names.items()
    }
    return build(
        PostColumns, {**config, "format": format_, "authors": authors, "encoding": encoding, "sheet": sheet}
    )


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

    found, files = faults or Faults(), []
    if (articles + posts).count("-") > 1:
        with found:
            raise LinkerError("-: standard input can be read once only; give files for the others")
    for source in dict.fromkeys(posts):
        with found:
            files += check_inputs([source])
    if out is not None:
        with found:
            check_writable(out, articles + files)
    if faults is None:
        found.raise_if_any()


def check_labeled(articles: Path, posts: list[str], labels: Path | None) -> list[Path]:
    """Check before any work that articles, posts and labels exist; return their files, which no output may replace.

    Raises:
        LinkerError: if there are faults.
    """
    from linker.data.files.paths import check_inputs

    found, files = Faults(), []
    for path in (articles, *([] if labels is None else [labels])):
        with found:
            if not path.is_file():
                raise DataError(f"{path}: file not found")
        files.append(path)
    for source in dict.fromkeys(posts):
        with found:
            files += map(Path, check_inputs([source]))
    found.raise_if_any()
    return files


@contextmanager
def naming_columns(articles: Path | None = None) -> Iterator[None]:
    """Add the command line that names the columns to an error about missing columns of posts.

    Args:
        articles: a file of articles that is read with the posts.
    """
    from linker.data.io.columns import MissingColumnsError

    try:
        yield
    except MissingColumnsError as error:
        if articles is not None and str(error).startswith(f"{articles}: "):
            raise
        raise DataError(f"{error}\nType: {corrected(sys.argv[1:], error.remedy)}") from error


def corrected(arguments: list[str], remedy: dict[str, str | None]) -> str:
    """Return a command line with `--column` options: linker's name → the file's; None: NAME, to be filled in."""
    kept: list[str] = []
    given = iter(arguments)
    for argument in given:
        if argument == "--column":
            value = next(given, "")
            if value.partition("=")[0] not in remedy:
                kept += [argument, value]
        elif not argument.startswith("--column=") or argument.split("=")[1] not in remedy:
            kept.append(argument)
    for ours, theirs in remedy.items():
        kept += ["--column", f"{ours}={theirs or 'NAME'}"]
    return shlex.join(["linker", *kept])


_MODELS = f"a folder, a .jsonnet config, {BEST} (the default), distilled, bm25, tfidf or USER/MODEL on a hub"
ModelName = Annotated[
    str | None,
    typer.Option("--model", metavar="MODEL", help=f"Model: {_MODELS}.", show_default=False),
]
ModelOrBest = Annotated[str, typer.Option("--model", metavar="MODEL", help=f"Model: {_MODELS}.")]
CorpusModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Model that encoded the corpus, if its folder was moved.",
        show_default="as when the corpus was built",
    ),
]
CorpusFolder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="Folder of the corpus.", show_default=False)
]
Models = Annotated[
    list[str],
    typer.Argument(
        metavar="MODEL",
        help="Models: folders, .jsonnet configs of models that need no training, best, distilled, bm25, "
        "tfidf, or USER/MODEL on a Hugging Face hub.",
        show_default=False,
    ),
]
LinkedArticles = Annotated[
    Path, typer.Option("--articles", help="Articles to rank posts for (JSON Lines, CSV, TSV, Parquet).")
]
LinkedPosts = Annotated[
    list[str],
    typer.Option(
        "--posts",
        help="Posts as for `linker rank`, with `article_id` or `article_ids`; if there are labels, these decide; "
        "repeatable.",
    ),
]
LabelsOfPosts = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Relevance labels of the posts, in any format.",
        show_default="links in the posts",
    ),
]
ConfigFile = Annotated[
    Path,
    typer.Argument(
        help="Jsonnet config: a file, or one of linker's recipes, such as configs/ast.jsonnet.",
        show_default=False,
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "-o",
        "--override",
        help="Change a value of the config: KEY.PATH=VALUE, or a Jsonnet object to merge; repeatable.",
        show_default=False,
    ),
]
ExtVars = Annotated[
    list[str] | None,
    typer.Option(
        "--ext-var",
        help="Set an external variable of the config (std.extVar): NAME=VALUE; repeatable.",
        show_default=False,
    ),
]
VectorsName = Annotated[
    str | None,
    typer.Option(
        "--vectors",
        help="Use the word vectors in this file, or GloVe by name (such as 6B.300d), downloaded if necessary.",
        show_default="as in the config",
    ),
]
Packages = Annotated[
    list[str] | None,
    typer.Option(
        "--include-package",
        metavar="NAME",
        help="Import the components of a Python package; repeatable.",
        show_default=False,
    ),
]

PostColumnNames = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="KEY=COL",
        help="Name a column of the posts, such as text=body; repeatable.",
        show_default=False,
    ),
]
PostsFormat = Annotated[
    str | None,
    typer.Option(
        "--posts-format",
        metavar="NAME",
        help="Format of the posts, such as mastodon. Default: detected.",
        show_default=False,
    ),
]
EncodingName = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="Encoding of the posts (windows-1252). Default: detected.",
        show_default=False,
    ),
]
SheetName = Annotated[
    str | None,
    typer.Option(
        "--sheet",
        metavar="NAME",
        help="Sheet of a workbook with the posts; else found.",
        show_default=False,
        hidden=True,  # the line on a workbook with several sheets names it
    ),
]
Authors = Annotated[
    Literal["hashed", "plain"],
    typer.Option(
        "--authors",
        metavar="HOW",
        help="Authors of a platform's posts: hashed (default) or plain.",
        show_default=False,
    ),
]
OnError = Annotated[
    Literal["strict", "skip"],
    typer.Option(
        "--on-error",
        metavar="HOW",
        help="Invalid lines: stop (strict, default) or set aside (skip).",
        show_default=False,
    ),
]
TextColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--text-column",
        help="Column to read text from; repeatable.",
        show_default="title, text",
    ),
]
# Texts are read during the work, so invalid lines are found late.
OnBadText = Annotated[
    Literal["strict", "skip"],
    typer.Option(
        "--on-error", help="On invalid lines: stop (strict), or set them aside and continue (skip)."
    ),
]
TeacherFolder = Annotated[
    str,
    typer.Option(
        "--teacher", help="Teacher: a sentence-transformers folder, or a linker model with embeddings."
    ),
]
TeacherCache = Annotated[
    Path | None,
    typer.Option(
        "--teacher-cache",
        help="Cache folder for the teacher's embeddings.",
        show_default="OUT.teacher-cache",
    ),
]
PassagesOption = Annotated[
    Literal["whole", "best", "mean"],
    typer.Option(
        "--passages",
        metavar="HOW",
        help="Score whole articles (default) or passages (best, mean).",
        show_default=False,
    ),
]
EngineName = Annotated[
    Literal["local", "ray"],
    typer.Option("--engine", help="Run in this process (local) or on a Ray cluster (ray)."),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        help="Address of the Ray cluster: HOST:PORT, auto or ray://HOST:PORT.",
        show_default="start one on this machine",
    ),
]


def engine_of(name: Literal["local", "ray"], address: str | None) -> Engine:
    """Return the engine of `--engine` and `--address`.

    Raises:
        LinkerError: if there is an address without a cluster.
    """
    if name == "local":
        if address is not None:
            raise LinkerError("--address: only for Ray clusters; add --engine ray")
        from linker.corpus.engines.engine import Engine

        return Engine()
    from linker.corpus.engines.ray import RayEngine

    return RayEngine(address)


def read_config(
    config: Path,
    override: list[str] | None,
    ext_var: list[str] | None,
    include_package: list[str] | None,
    say: Callable[[str], None] | None = None,
) -> LoadedConfig:
    """Include the packages and evaluate the config.

    Args:
        config: a file, or the name of a recipe.
        override: values of `-o`.
        ext_var: values of `--ext-var`.
        include_package: names of packages with components.
        say: called with one line if the config is linker's own recipe; by default, it is printed.

    Raises:
        ConfigError: if a package, the file, an override or an `--ext-var` is invalid.
    """
    from linker.common.errors import ConfigError
    from linker.config import load_config

    include_packages(include_package)
    variables = {}
    for text in ext_var or []:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ConfigError(f"--ext-var {text}: expected NAME=VALUE")
        variables[name] = value
    loaded = load_config(config, override or [], variables)
    if loaded.recipe is not None:
        line = f"config: {loaded.recipe}, linker's own, because {config} is not in this folder"
        say(line) if say else print(line, file=sys.stderr)
    return loaded


def include_packages(names: list[str] | None = None) -> None:
    """Add packages whose components configs and model folders can name: by default, those in `LINKER_PACKAGES`.

    Raises:
        ConfigError: if a package is not found.
    """
    from linker.config import include_package

    for name in names or os.environ.get(PACKAGES, "").split():
        include_package(name)
