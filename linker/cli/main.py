"""The `linker` command: one file per subcommand, and one place where errors become messages."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Annotated

import typer

from linker.cli import status
from linker.cli.commands import (
    annotate,
    calibrate,
    config,
    corpus,
    distil,
    doctor,
    evaluate,
    new,
    plot,
    rank,
    serve,
    simulate,
    train,
    vectors,
)
from linker.cli.repeated_options import SeveralValues
from linker.common.errors import LinkerError
from linker.common.files import NO_ROOM
from linker.contrib.twitter4sse import cli as mine
from linker.version import __version__

app = typer.Typer(
    help="Rank social-media posts by whether they discuss a given news article.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

# Every subcommand is added here. Their files import nothing heavy at module level: torch and its like are
# imported within the functions, so that `linker --help` stays fast.
app.command("train")(train.train)
app.command("distil")(distil.distil)
app.command("evaluate")(evaluate.evaluate)
app.command("rank", cls=SeveralValues)(rank.rank)
app.command("calibrate")(calibrate.calibrate)
app.command("serve")(serve.serve)
app.command("simulate")(simulate.simulate)
app.command("doctor")(doctor.doctor)
app.command("new")(new.new)
app.add_typer(annotate.app, name="annotate")
app.add_typer(plot.app, name="plot")
app.add_typer(config.app, name="config")
app.add_typer(vectors.app, name="vectors")
app.add_typer(mine.app, name="mine")
app.add_typer(corpus.app, name="corpus")


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


def main() -> None:
    """Run the command line.

    Exit codes: 0; 2 for wrong input or usage, told on stderr; 130 after Ctrl-C; 1 with a traceback for a
    defect of linker itself.
    """
    # Posts hold emojis, and results are files like any other: UTF-8, whatever the locale.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=None if sys.stdout.isatty() else "utf-8", errors="replace")
    try:
        try:
            app()
        finally:
            status.end()
            sys.stdout.flush()
    except LinkerError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if error.errno not in NO_ROOM | {errno.EPIPE}:
            raise
        # What is still in the buffer would fail again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:  # whoever read our results has enough: `| head`
            sys.exit(1)
        print(
            f"error: {error.filename or 'the results'}: cannot be written ({error.strerror})", file=sys.stderr
        )
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
