"""The `linker` command: one file per subcommand, and one place where errors become messages."""

import errno
import importlib
import io
import os
import sys
from typing import Annotated

import typer

from linker.cli.annotate import commands as annotate
from linker.cli.command import App
from linker.cli.commands import (
    calibrate,
    config,
    corpus,
    doctor,
    evaluate,
    mcp,
    mine,
    model,
    rank,
    serve,
    train,
)
from linker.common.errors import LinkerError
from linker.common.files import NO_ROOM
from linker.version import __version__

# Groups of `linker --help`, in order.
_RANK, _LABEL, _TRAIN, _MEASURE, _TOOLS = "Rank", "Label", "Train", "Measure", "Tools"

#: Number of characters shown of a path that the system refuses.
_SHOWN = 200

app = App(
    help="Rank social-media posts by whether they discuss a given news article.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

# The modules import nothing heavy at module level: torch and the like are imported within the functions, so that
# `linker --help` stays fast.
app.command("rank", rich_help_panel=_RANK)(rank.rank)
app.add_typer(corpus.app, name="corpus", rich_help_panel=_RANK)
app.command("mcp", rich_help_panel=_RANK)(mcp.mcp)
app.add_typer(annotate.app, name="annotate", rich_help_panel=_LABEL)
app.command("serve", rich_help_panel=_LABEL)(serve.serve)
app.command("train", rich_help_panel=_TRAIN)(train.train)
app.add_typer(mine.app, name="mine", rich_help_panel=_TRAIN)
app.add_typer(model.app, name="model", rich_help_panel=_TRAIN)
app.command("evaluate", rich_help_panel=_MEASURE)(evaluate.evaluate)
app.command("calibrate", rich_help_panel=_MEASURE)(calibrate.calibrate)
app.add_typer(config.app, name="config", rich_help_panel=_TOOLS)
app.command("doctor", rich_help_panel=_TOOLS)(doctor.doctor)
# The commands of the papers, whose modules the core knows by name only.
mine.app.registered_commands += importlib.import_module("linker.contrib.mine").app.registered_commands


def _version(wanted: bool) -> None:
    if wanted:
        print(f"linker {__version__}")
        raise typer.Exit


@app.callback()
def linker(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Rank social-media posts by whether they discuss a given news article."""


def _open_closed_streams() -> None:
    """Open the null device for standard streams that are closed, before a file takes their number."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def main() -> None:
    """Run the command line.

    Exit codes: 0; 2 for invalid input or usage, with a message on standard error; 130 after Ctrl-C, 143 after SIGTERM;
    1 with a traceback for a defect of linker.
    """
    _open_closed_streams()
    # Results are UTF-8 in every locale, because posts contain emojis.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=None if sys.stdout.isatty() else "utf-8", errors="replace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except LinkerError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if error.errno not in NO_ROOM | {errno.EPIPE}:
            # A path that the system refuses, wherever it is tried first: too long, not permitted, no longer there.
            name = "" if error.filename is None else f"{str(error.filename)[:_SHOWN]}: "
            print(f"error: {name}{error.strerror or error}", file=sys.stderr)
            sys.exit(2)
        # Otherwise the rest of the buffer would fail again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:  # the reader of the results has closed the pipe: `| head`
            sys.exit(1)
        print(
            f"error: {error.filename or 'the results'}: cannot be written ({error.strerror})", file=sys.stderr
        )
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
