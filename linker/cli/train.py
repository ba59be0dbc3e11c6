"""`linker train`: from a config to a model folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def train(
    config: Annotated[Path, typer.Argument(help="The Jsonnet config.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="The model folder to write; logs go to OUT-log.")],
    override: Annotated[
        list[str] | None, typer.Option("-o", "--override", help="KEY.PATH=VALUE, or a Jsonnet object.")
    ] = None,
    ext_var: Annotated[list[str] | None, typer.Option("--ext-var", help="NAME=VALUE for std.extVar.")] = None,
    include_package: Annotated[
        list[str] | None, typer.Option("--include-package", help="A package with components of your own.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the model folder if it exists.")] = False,
) -> None:
    """Train a model and write its folder; the best epoch so far is in it at any time."""
    from linker.config import EXPERIMENT, build, load_config, resolve
    from linker.config import include_package as include
    from linker.errors import LinkerError
    from linker.progress import stderr

    if out.exists() and not overwrite and (not out.is_dir() or any(out.iterdir())):
        raise LinkerError(f"{out}: exists already; choose another --out, or replace it with --overwrite")
    for package in include_package or []:
        include(package)
    params = load_config(config, override or [], ext_var_pairs(ext_var))
    resolved = resolve(EXPERIMENT, params)
    experiment = build(EXPERIMENT, resolved)
    result = experiment.run(out, resolved)
    stderr.print(
        f"{'interrupted; ' if result.interrupted else ''}wrote {out} (best epoch {result.best_epoch} of "
        f"{len(result.epochs)})",
        highlight=False,
    )
    if result.interrupted:
        raise typer.Exit(130)
