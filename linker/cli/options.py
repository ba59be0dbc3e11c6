"""Options that several commands share, and what they do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from linker.errors import LinkerError

if TYPE_CHECKING:
    from linker.config import LoadedConfig
    from linker.corpus.engines.engine import Engine

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
SaidFolder = Annotated[
    Path | None,
    typer.Option(
        "--said",
        help="Cache folder for the teacher's embeddings.",
        show_default="OUT.said",
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
    from linker.config import load_config
    from linker.errors import ConfigError

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
