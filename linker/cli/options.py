"""Options that several commands share, and what they do."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from linker.common.errors import DataError, Faults, LinkerError

if TYPE_CHECKING:
    from linker.config import LoadedConfig
    from linker.corpus.engines.engine import Engine
    from linker.data.io.columns import PostColumns


def post_columns(given: list[str] | None) -> PostColumns:
    """`text=body` as the columns of the posts; `id=` says that there is none.

    Raises:
        LinkerError: not of that form.
        ConfigError: there is no such column of ours.
    """
    from linker.config import build
    from linker.data.io.columns import PostColumns

    names: dict[str, list[str]] = {}
    for text in given or []:
        ours, equals, theirs = text.partition("=")
        if not equals or not ours:
            raise LinkerError(f"--column {text}: expected OURS=THEIRS, such as text=body")
        names.setdefault(ours, []).extend([theirs] if theirs else [])
    config = {ours: theirs[0] if len(theirs) == 1 else theirs or None for ours, theirs in names.items()}
    return build(PostColumns, config)


def check_files(
    articles: list[str], posts: list[str], out: Path | None, faults: Faults | None = None
) -> None:
    """Find out before any work whether posts are there and the output can be written; articles are not looked at.

    Args:
        articles: what the output must not overwrite, and what may take standard input.
        posts: files, folders, patterns, addresses, `-`.
        out: the file to write.
        faults: collects what is wrong, to be reported with other faults; None: report it here.

    Raises:
        LinkerError: something is wrong.
    """
    from linker.common.files import check_writable
    from linker.data.io.paths import check_inputs

    found, files = faults or Faults(), []
    if (articles + posts).count("-") > 1:
        with found:
            raise LinkerError("-: standard input can be read once only; give files for the others")
    for one in dict.fromkeys(posts):
        with found:
            files += check_inputs([one])
    if out is not None:
        with found:
            check_writable(out, articles + files)
    if faults is None:
        found.raise_if_any()


@contextmanager
def with_option() -> Iterator[None]:
    """End a complaint about missing columns with the command line that would name them."""
    from linker.data.io.columns import MissingColumnsError

    try:
        yield
    except MissingColumnsError as error:
        raise DataError(f"{error}\nType: {corrected(sys.argv[1:], error.remedy)}") from error


def corrected(arguments: list[str], remedy: dict[str, str | None]) -> str:
    """A command line of linker that names the columns: our name → theirs, `NAME` to be filled in where it is None."""
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


ConfigFile = Annotated[Path, typer.Argument(help="The Jsonnet config file.", show_default=False)]
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
        show_default="as the config says",
    ),
]
Packages = Annotated[
    list[str] | None,
    typer.Option(
        "--include-package",
        help="Import this Python package for its registered components; repeatable.",
        show_default=False,
    ),
]

PostColumnNames = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="Map a column of the posts to a linker field, such as text=body; repeatable.",
        show_default=False,
    ),
]
OnError = Annotated[
    Literal["strict", "skip"],
    typer.Option(
        "--on-error",
        help="On invalid lines: stop before any work (strict), or set them aside and continue (skip).",
    ),
]
TextColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--column", help="Column to read text from; repeatable (default: title, text).", show_default=False
    ),
]
# Bad lines show while the texts are read, which is part of the work.
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
        help="Score whole articles, or split them into passages and take the best or mean passage score.",
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
ErrorsDir = Annotated[
    Path, typer.Option("--errors-dir", help="Folder for the invalid lines that --on-error skip sets aside.")
]


def engine_of(name: Literal["local", "ray"], address: str | None) -> Engine:
    """What `--engine` and `--address` ask for.

    Raises:
        LinkerError: an address without a cluster.
    """
    if name == "local":
        if address is not None:
            raise LinkerError("--address: is that of a Ray cluster; give --engine ray as well")
        from linker.corpus.engines.engine import Engine

        return Engine()
    from linker.corpus.engines.ray import RayEngine

    return RayEngine(address)


def read_config(
    config: Path, override: list[str] | None, ext_var: list[str] | None, include_package: list[str] | None
) -> LoadedConfig:
    """Include the packages and evaluate the config.

    Raises:
        ConfigError: a package, the file, an override or an `--ext-var` is wrong.
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
    return load_config(config, override or [], variables)


def include_packages(names: list[str] | None) -> None:
    """Let configs and model folders name the components of these packages.

    Raises:
        ConfigError: there is no such package.
    """
    from linker.config import include_package

    for name in names or []:
        include_package(name)
