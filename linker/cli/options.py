"""Options that several commands share, each in one place: single ones, and groups as dataclasses."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from linker.common.errors import LinkerError
from linker.models.pretrained import BEST

if TYPE_CHECKING:
    from linker.config import LoadedConfig
    from linker.corpus.engines.engine import Engine

#: What `--model` takes.
MODELS = f"a folder, a .jsonnet config, {BEST} (the default), distilled, bm25, tfidf or USER/MODEL on a hub"
ModelName = Annotated[
    str | None, typer.Option("--model", metavar="MODEL", help=f"Model: {MODELS}.", show_default=False)
]
ModelOrBest = Annotated[str, typer.Option("--model", metavar="MODEL", help=f"Model: {MODELS}.")]


def date_option(name: str, metavar: str, text: str) -> Any:
    """Return an option whose value is a date; what is none ends the command with a message that names the option."""

    def parse(value: str) -> datetime:
        from linker.articles.publication import publication_date

        return publication_date(value, name)

    return typer.Option(name, metavar=metavar, help=text, parser=parse, show_default=False)


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
        Literal["local", "ray"],
        typer.Option(help="Encode the posts in this process (local) or on a Ray cluster (ray)."),
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


def component(option: str, text: str) -> LoadedConfig:
    """Parse `recall,target=0.9` to {type: "recall", target: 0.9}, or evaluate a Jsonnet file.

    Args:
        option: the option that it was given to, for messages.
        text: a name with or without keys, or the path of a file.

    Raises:
        LinkerError: if it cannot be parsed or evaluated.
    """
    from linker.config import LoadedConfig, load_config
    from linker.config.jsonnet import parse_value

    if Path(text).suffix in (".jsonnet", ".json"):
        return load_config(text)
    name, *pairs = text.split(",")
    config = LoadedConfig(type=name)
    config.source = f"{option} {text}"
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise LinkerError(f"{option} {text}: expected NAME,KEY=VALUE, such as recall,target=0.9")
        config[key] = parse_value(value)
    return config
