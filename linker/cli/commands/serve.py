"""`linker serve`: the web page for labeling and for trying out rankings."""

import contextlib
import os
import socket
import sys
import threading
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from linker.cli.inputs import PostReading
from linker.common.errors import LinkerError
from linker.common.files import real_path
from linker.models.pretrained import BEST

PROJECTS = "linker-projects"
_PORT = 8123


def serve(
    *,
    sessions: Annotated[
        list[Path] | None, typer.Argument(help="Folders of sessions created by `linker annotate start`.")
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            help="Network address to listen on; any but loopback (127.0.0.1, localhost) needs a token."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Port to listen on; 0 chooses any free port.",
            show_default="8123, or any free port if it is in use",
        ),
    ] = None,
    public_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Address at which a proxy serves the page, such as https://label.example/linker; needs a token.",
        ),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="LINKER_TOKEN",
            help="Password for the page, 16 or more letters, digits, - and _.",
            show_default="a new one; none for sessions and corpora on loopback",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Default model for rankings: a folder, a .jsonnet config, best, distilled, bm25 or tfidf.",
            show_default=BEST,
        ),
    ] = None,
    posts: Annotated[list[str] | None, typer.Option(help="File of posts for rankings; repeatable.")] = None,
    projects: Annotated[
        Path | None,
        typer.Option(
            help="Folder of annotation projects; created with the first project.",
            show_default=f"{PROJECTS}, if no session is given",
        ),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="Folder of a corpus to search, on the page and by the JSON API; --model is then its model."
        ),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open the browser on the start page of projects.")
    ] = False,
    reading: PostReading,
) -> None:
    """Serve the web page for annotation projects, labeling, rankings and a corpus; Ctrl-C stops it."""
    if projects is not None and sessions:
        raise LinkerError("--projects: cannot be served together with sessions; give one or the other")
    if projects is None and not (sessions or model or posts or corpus):
        projects = Path(PROJECTS)
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise LinkerError("the page needs fastapi and uvicorn: pip install 'article-linker[web]'")
    from linker.annotation.project.project_folder import ProjectsFolder
    from linker.annotation.session.session import Session
    from linker.models.files.resolve import resolve_model
    from linker.web.api.projects import Projects
    from linker.web.app import Served, create_app
    from linker.web.server import listening
    from linker.web.server.access import Access, new_token

    if len({real_path(folder) for folder in sessions or []}) < len(sessions or []):
        raise LinkerError("same session given twice; give each once")
    if model is not None:
        model = resolve_model(model).pinned(model)  # so that a hub is asked once
    reading.columns()
    if projects is not None and projects.exists() and not projects.is_dir():
        raise LinkerError(f"--projects {projects}: is a file; give a folder")
    searched = None
    if corpus is not None:
        from linker.web.api.corpus_search import CorpusSearch

        searched = CorpusSearch(corpus, model)
    with contextlib.closing(_listen(host, port)) as listener, contextlib.ExitStack() as opened:
        only_here = listening.is_loopback(listener) and public_url is None
        # People of projects reach the page as well: the owner is who has the link that is printed.
        if token is None and (projects is not None or not only_here):
            token = new_token()
        access = Access(host, listener.getsockname()[1], token, public_url)
        candidates = reading.read(posts) if posts else []
        served_projects = None
        if projects is not None:
            served_projects = Projects(ProjectsFolder(projects), reachable=not only_here)
            opened.callback(served_projects.close)
        labeled = []
        for folder in sessions or []:
            labeled.append(Session.open(folder))
            opened.callback(labeled[-1].close)
        if labeled or served_projects:
            import sklearn.svm  # noqa: F401 - the first label would wait for it

        app = create_app(Served(labeled, served_projects, model, candidates, searched), access)

        def started() -> None:
            print(f"{access.address}\nCtrl-C stops the server.", flush=True)
            if projects is not None and not no_browser:
                _open_browser(access.address)

        listening.serve(app, listener, started)
    print("stopped; all labels are saved", file=sys.stderr)


def _listen(host: str, port: int | None) -> socket.socket:
    """Listen on the port, or on the usual one, or on a free one if that is in use."""
    from linker.web.server.listening import bind

    if port is None:
        with contextlib.suppress(LinkerError):
            return bind(host, _PORT)
    return bind(host, port or 0)


def _open_browser(address: str) -> None:
    """Open the page where there is a screen; whether that works does not matter, since the address was printed."""
    if sys.platform in ("win32", "darwin") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))):
        threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
