"""`linker mcp`: a server of the Model Context Protocol on standard input and output."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from linker.cli.inputs import PostReading
from linker.cli.options import ModelOrBest
from linker.common.errors import LinkerError
from linker.models.pretrained import BEST


def mcp(
    *,
    allow: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR",
            help="Folder below which files of posts and corpora may be read; repeatable.",
            show_default="the working folder",
        ),
    ] = None,
    model: ModelOrBest = BEST,
    reading: PostReading,
) -> None:
    """Serve the tools rank, search and corpus_info to an assistant (Model Context Protocol over stdio).

    The assistant's program starts the command; its configuration names it. Only pages of the public internet are
    fetched.
    """
    try:
        import mcp.server.mcpserver  # noqa: F401
    except ImportError as error:
        raise LinkerError("the server needs mcp 2: pip install 'article-linker[mcp]'") from error
    if sys.stdin is None:
        raise LinkerError("standard input is closed, on which the assistant's program sends its requests")
    from linker.models.files.resolve import resolve_model
    from linker.web.mcp import Tools, create_server

    model = resolve_model(model).pinned(model)  # so that a hub is asked once
    tools = Tools(allow or [Path()], model, reading.columns())
    if sys.stdin.isatty():
        print("waiting for a client on standard input; Ctrl-C stops the server", file=sys.stderr)
    create_server(tools).run("stdio")
