"""`linker train`: from a config to a model folder."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from linker.cli.options import ConfigSource


def train(
    *,
    source: ConfigSource,
    data: Annotated[
        str | None,
        typer.Option(
            help="Train on the files in this folder: articles.jsonl and posts.jsonl (or .csv, .parquet, ...; "
            "also compressed). For a config that reads a single kind of file, that file or a folder of them.",
            show_default="the sample, for most configs",
        ),
    ] = None,
    articles: Annotated[str | None, typer.Option(help="Train on the articles in this file.")] = None,
    posts: Annotated[str | None, typer.Option(help="Train on the posts in this file.")] = None,
    vectors: Annotated[
        str | None,
        typer.Option(
            help="Use the word vectors in this file, or GloVe by name (such as 6B.300d), downloaded if necessary.",
            show_default="as in the config",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the model to this folder, and its logs and checkpoints to the same path followed by -log.",
            show_default="runs/NAME for NAME.jsonnet",
        ),
    ] = None,
    devices: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Train with this number of processes on this machine, each on its own GPU if there are any.",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue an interrupted run from its last checkpoint, or start the run if there is none.",
        ),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Delete an existing model folder and train from the start.")
    ] = False,
) -> None:
    """Train a model and write its folder; after every epoch it holds the best model so far.

    An interrupted run continues with --resume and ends with the same model as an uninterrupted one.
    """
    from linker.common.console import info
    from linker.common.errors import LinkerError
    from linker.config import EXPERIMENT, build, resolve
    from linker.training.distributed.environment import environment_from

    if resume and overwrite:
        raise LinkerError("--resume continues a run, --overwrite starts it again: use only one of them")
    place = environment_from(os.environ)
    if place is not None and devices not in (None, place.size):
        raise LinkerError(f"--devices {devices}, but {place.size} processes were started: omit --devices")
    is_first, starts_others = place is None or place.rank == 0, place is None and (devices or 1) > 1
    out = out or _default_out(source.config)

    def say(line: str) -> None:
        # Only one of several processes prints, and not the one that starts them.
        if is_first and not starts_others:
            info(line)

    loaded = source.load(say)
    # Before slow imports.
    say(f"training {source.config}; the model will be in {out}")

    from linker.training.data_options import find_vectors, use_data, use_vectors

    use_data(loaded, data, articles, posts)
    if vectors is not None:
        use_vectors(loaded, vectors)
    resolved = resolve(EXPERIMENT, loaded)

    from linker.training.checkpointing.checkpointer import Checkpointer
    from linker.training.distributed.launcher import launch
    from linker.training.distributed.process_group import process_group

    if is_first and not resume and not overwrite:
        Checkpointer(out).check_output()
    if is_first and resolved["start"] is None:
        find_vectors(resolved)
    if starts_others:
        raise typer.Exit(launch(sys.argv[1:], devices or 1))
    with process_group() as workers:
        experiment = build(EXPERIMENT, resolved)
        result = experiment.run(out, resume, workers)
    if result.stopped_by:
        say(f"stopped after {len(result.epochs)} complete epochs; continue with --resume")
        # The launcher ends all processes once one has failed; the others may still be writing.
        raise typer.Exit(128 + result.stopped_by if is_first else 0)
    say(f"wrote {out} (best epoch {result.best_epoch} of {len(result.epochs)})")
    if is_first:
        from linker.training.summary import print_summary

        print_summary(resolved, experiment.splits, result.epochs[result.best_epoch - 1], out)


def _default_out(config: Path) -> Path:
    """`runs/` and the config's name, with the folders below one called `configs`."""
    from linker.common.files import real_path

    parts = real_path(config).with_suffix("").parts
    above = len(parts) - 2 - parts[-2::-1].index("configs") if "configs" in parts[:-1] else len(parts) - 2
    return Path("runs", *parts[above + 1 :])
