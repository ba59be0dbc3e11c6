"""`linker train`: from a config to a model folder."""

from __future__ import annotations

import os
import sys
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
    devices: Annotated[
        int | None,
        typer.Option(
            "--devices",
            min=1,
            help="Train with so many processes on this machine, each on a GPU of its own where there are some.",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on with the run in OUT where it was stopped; begin where none is there."
        ),
    ] = False,
    changed_config: Annotated[
        bool, typer.Option("--changed-config", help="With --resume: go on although the config has changed.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the model folder if it exists, and begin anew.")
    ] = False,
) -> None:
    """Train a model and write its folder; after every epoch the best one so far is in it.

    A run that was stopped or killed goes on with --resume and ends as if nothing had happened.
    """
    from linker.config import EXPERIMENT, build, resolve
    from linker.errors import LinkerError
    from linker.progress import stderr
    from linker.training.group import joined
    from linker.training.launching import launch
    from linker.training.place import place_in
    from linker.training.resuming import refuse_to_replace

    resolved = resolve(EXPERIMENT, read_config(config, override, ext_var, include_package))
    if resume and overwrite:
        raise LinkerError("--resume goes on with a run, --overwrite begins it anew: give one of them")
    if changed_config and not resume:
        raise LinkerError("--changed-config says how to --resume: give both, or neither")
    place = place_in(os.environ)
    if place is None and (devices or 1) > 1:
        raise typer.Exit(launch(sys.argv[1:], devices or 1))
    if place is not None and devices not in (None, place.size):
        raise LinkerError(
            f"--devices {devices}, but {place.size} processes were started: leave --devices out"
        )
    with joined() as workers:
        if workers.first and not resume and not overwrite:
            refuse_to_replace(out)
        result = build(EXPERIMENT, resolved).run(out, resolved, resume, changed_config, workers)
    if result.interrupted:
        stderr.print(
            f"stopped after {len(result.epochs)} whole epochs; go on with --resume",
            highlight=False,
            soft_wrap=True,
        )
        raise typer.Exit(128 + result.stopped_by)
    stderr.print(
        f"wrote {out} (best epoch {result.best_epoch} of {len(result.epochs)})",
        highlight=False,
        soft_wrap=True,
    )
