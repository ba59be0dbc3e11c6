"""`linker serve`: the web page for labeling and for trying out rankings."""

from __future__ import annotations

import contextlib
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from linker.cli.options import (
    Authors,
    ErrorsDir,
    OnError,
    Packages,
    PostColumnNames,
    PostsFormat,
    include_packages,
    naming_columns,
    post_columns,
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
            metavar="MODEL",
            help="Model for trying out rankings: a folder, a .jsonnet config, best, distilled, bm25 or tfidf.",
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
    posts_format: PostsFormat = None,
    authors: Authors = "hashed",
    on_error: OnError = "strict",
    errors_dir: ErrorsDir = Path("."),
    include_package: Packages = None,
) -> None:
    """Serve the web page for labeling sessions and trying out rankings; Ctrl-C stops it."""
    if not (sessions or model or posts):
        raise LinkerError("no session given; give its folder, or --posts or --model to try rankings only")
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise LinkerError("the page needs fastapi and uvicorn: pip install 'article-linker[web]'")
    include_packages(include_package)
    from linker.annotation.session.session import Session
    from linker.data.io.records import read_posts
    from linker.models.resolve import resolve_model
    from linker.web import server
    from linker.web.app import create_app

    if len({folder.resolve() for folder in sessions or []}) < len(sessions or []):
        raise LinkerError("same session given twice; give each once")
    if model is not None:
        resolve_model(model)
    columns = post_columns(column, posts_format, authors)
    listener = server.bind(host, port)
    with contextlib.closing(listener), contextlib.ExitStack() as opened:
        token = server.validate_token(token, server.is_loopback(listener))
        port = listener.getsockname()[1]
        with naming_columns():
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
            print(f"{server.address(host, port, token)}\nCtrl-C stops the server.", flush=True)

        server.serve(app, listener, started)
    print("stopped; all labels are saved", file=sys.stderr)
