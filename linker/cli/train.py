"""`linker train`: from a config to a model folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linker.cli.options import ConfigFile, ExtVars, Overrides, Packages, read_config


def train(
    config: ConfigFile,
    out: Annotated[
        Path, typer.Option("--out", help="The model folder to write; logs go to OUT-log.", show_default=False)
    ],
    override: Overrides = None,
    ext_var: ExtVars = None,
    include_package: Packages = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the model folder if it exists.")
    ] = False,
) -> None:
    """Train a model and write its folder; after every epoch the best one so far is in it."""
    from linker.config import EXPERIMENT, build, resolve
    from linker.errors import LinkerError
    from linker.progress import stderr

    resolved = resolve(EXPERIMENT, read_config(config, override, ext_var, include_package))
    if out.exists() and not overwrite and (not out.is_dir() or any(out.iterdir())):
        raise LinkerError(f"{out}: exists already; choose another --out, or replace it with --overwrite")
    result = build(EXPERIMENT, resolved).run(out, resolved)
    state = "interrupted; " if result.interrupted else ""
    stderr.print(
        f"{state}wrote {out} (best epoch {result.best_epoch} of {len(result.epochs)})",
        highlight=False,
        soft_wrap=True,
    )
    if result.interrupted:
        raise typer.Exit(130)
