"""`linker serve`: the web page for labeling and for trying out rankings."""

from __future__ import annotations

import contextlib
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from linker.cli.options import (
    ErrorsDir,
    OnError,
    Packages,
    PostColumnNames,
    include_packages,
    post_columns,
    with_option,
)
from linker.common.errors import LinkerError
from linker.models.pretrained import BEST


def serve(
    sessions: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders of sessions created by `linker annotate start`.", show_default=False),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            "--host",
            help="Network address to listen on; any but loopback (127.0.0.1, localhost) needs a token.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 chooses any free port.")
    ] = 8123,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            envvar="LINKER_TOKEN",
            help="Password for the page, 16 or more letters, digits, - and _.",
            show_default="none on loopback, otherwise a new one",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="Model for trying out rankings: a folder, or one of best, distilled, bm25, tfidf.",
            show_default=f"the session's own, or {BEST}",
        ),
    ] = None,
    posts: Annotated[
        list[str] | None,
        typer.Option(
            "--posts", help="File of posts for trying out rankings; repeatable.", show_default=False
        ),
    ] = None,
    column: PostColumnNames = None,
    on_error: OnError = "strict",
    errors_dir: ErrorsDir = Path("."),
    include_package: Packages = None,
) -> None:
    """Serve the web page for labeling sessions and trying out rankings; Ctrl-C stops it."""
    if not (sessions or model or posts):
        raise LinkerError("give the folder of a session; or --posts or --model to try rankings only")
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise LinkerError("the page needs fastapi and uvicorn: pip install 'article-linker[web]'")
    include_packages(include_package)
    from linker.annotation.session.session import Session
    from linker.data.io.records import read_posts
    from linker.ranking.ranker import find_model
    from linker.web import server
    from linker.web.app import create_app

    if len({folder.resolve() for folder in sessions or []}) < len(sessions or []):
        raise LinkerError("a session is given twice; give each once")
    if model is not None:
        find_model(model)
    columns = post_columns(column)
    listener = server.bind(host, port)
    with contextlib.closing(listener), contextlib.ExitStack() as opened:
        token = server.validate_token(token, server.is_loopback(listener))
        port = listener.getsockname()[1]
        with with_option():
            candidates = read_posts(posts, columns, on_error, str(errors_dir)) if posts else []
        app = create_app(
            [opened.enter_context(Session.open(folder)) for folder in sessions or []],
            token,
            host,
            port,
            model,
            candidates,
        )

        def started() -> None:
            print(f"{server.address(host, port, token)}\nCtrl-C ends it.", flush=True)

        server.serve(app, listener, started)
    print("ended; every label is kept", file=sys.stderr)
