"""The web app: page, static files and JSON API."""

from __future__ import annotations

import mimetypes
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from linker.annotation.session.session import Session
from linker.common.errors import LinkerError
from linker.data.files.tables import ENDINGS
from linker.data.types import Post
from linker.version import __version__
from linker.web.api.file_routes import file_routes
from linker.web.api.project_routes import project_routes
from linker.web.api.projects import Projects
from linker.web.api.ranking_queue import BusyError, RankingQueue
from linker.web.api.rankings import Rankings, ranking_routes
from linker.web.api.review_routes import review_routes
from linker.web.api.selection_routes import selection_routes
from linker.web.api.sessions import NoSessionError, Sessions, session_routes
from linker.web.api.views import AsciiJsonResponse
from linker.web.server.access import Access
from linker.web.server.security import LOGIN, MAX_UPLOAD, SecurityMiddleware
from linker.web.server.visitors import OWNER, visitor_of

if TYPE_CHECKING:
    from linker.web.api.corpus_search import CorpusSearch

_STATIC = Path(__file__).parent / "static"
# On Windows the registry may map .js to anything, and browsers refuse modules of another type.
mimetypes.add_type("text/javascript", ".js")
_YEAR = 365 * 24 * 3600


@dataclass(frozen=True)
class Served:
    """What a server serves; the caller closes it.

    Attributes:
        sessions: sessions to label in. Folder names become addresses.
        projects: projects to serve instead of sessions.
        model: default model of the page "Rank"; None: the default model of all commands.
        posts: posts to rank there besides those of the sessions.
        corpus: a corpus to search.
    """

    sessions: Sequence[Session] = ()
    projects: Projects | None = None
    model: str | None = None
    posts: Sequence[Post] = ()
    corpus: CorpusSearch | None = None


class LoginBody(BaseModel):
    """The access token."""

    token: str = Field(max_length=1000)


def create_app(served: Served, access: Access | None = None) -> FastAPI:
    """Create the web app.

    Args:
        served: sessions, projects, posts and corpus.
        access: who may use it; None: every program of this machine.
    """
    access = access or Access()
    sessions = served.projects or Sessions(served.sessions)
    if served.projects is not None:
        access = replace(access, person_of=served.projects.visitor)
    rankings, queue = Rankings(sessions, served.model, served.posts), RankingQueue()
    app = FastAPI(
        title="linker corpus",
        version=__version__,
        summary="Rank the posts of a corpus for a news article.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # it would redirect to http behind a proxy with TLS
        openapi_url="/api/openapi.json" if served.corpus is not None else None,
        exception_handlers={
            LinkerError: _linker_error,
            OSError: _linker_error,
            RequestValidationError: _invalid_field,
            HTTPException: _http_error,
        },
    )
    app.include_router(_access_routes(served, access, sessions, rankings))
    app.include_router(session_routes(sessions))
    app.include_router(review_routes(sessions))
    app.include_router(ranking_routes(rankings, queue))
    app.include_router(selection_routes(sessions, rankings.process, queue))
    app.include_router(file_routes("/api/uploads", sessions.files.get, threading.Lock()))
    if served.projects is not None:
        app.include_router(project_routes(served.projects))
    if served.corpus is not None:
        from linker.web.api.corpus_routes import corpus_routes  # needs the extra `corpus`

        app.include_router(corpus_routes(served.corpus, queue))

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(_STATIC / "index.html")

    app.mount("/static", StaticFiles(directory=_STATIC))
    app.add_middleware(SecurityMiddleware, access=access)
    return app


def _access_routes(served: Served, access: Access, sessions: Sessions, rankings: Rankings) -> APIRouter:
    router = APIRouter(prefix="/api", include_in_schema=False)

    @router.get("/about")
    def about(request: Request) -> AsciiJsonResponse:
        visitor = visitor_of(request)
        view = {"version": __version__, "owner": visitor == OWNER, "name": visitor.name}
        if visitor == OWNER:
            view |= {
                "projects": served.projects is not None,
                "sessions": [session.summary() for session in sessions.all()],
                "sources": rankings.sources(),
                "models": rankings.models(),
                "corpus": served.corpus is not None,
                "address": access.address.partition("#")[0] if access.public_url else None,
                "endings": list(ENDINGS),
                "upload_bytes": MAX_UPLOAD,
            }
        else:
            try:
                view["sessions"] = [sessions.get(visitor.project).summary()]
            except NoSessionError:  # its posts are missing yet
                view["sessions"] = []
        return AsciiJsonResponse(view)

    @router.post(LOGIN.removeprefix("/api"))
    def login(request: Request, body: LoginBody) -> Response:
        token = body.token.strip()
        visitor = access.visitor(token)
        if visitor is None:
            return AsciiJsonResponse({"error": "wrong token"}, 401)
        response = AsciiJsonResponse({})
        if visitor != OWNER or access.token is not None:
            response.set_cookie(
                value=token, max_age=_YEAR, **access.cookie_for(request.headers.get("origin"))
            )
        return response

    @router.post("/logout")
    def logout(request: Request) -> Response:
        response = AsciiJsonResponse({})
        response.delete_cookie(**access.cookie_for(request.headers.get("origin")))
        return response

    return router


async def _linker_error(_: Request, error: Exception) -> AsciiJsonResponse:
    """Return the response to an error: 404 unknown session, 400 invalid request, 503 busy or inaccessible files."""
    invalid = isinstance(error, LinkerError) and not isinstance(error, BusyError)
    status = 404 if isinstance(error, NoSessionError) else 400 if invalid else 503
    return AsciiJsonResponse({"error": str(error)}, status)


async def _invalid_field(_: Request, error: Exception) -> AsciiJsonResponse:
    assert isinstance(error, RequestValidationError)
    first: dict[str, Any] = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    return AsciiJsonResponse({"error": f"{field}: {first['msg'].removeprefix('Value error, ')}"}, 422)


async def _http_error(_: Request, error: Exception) -> AsciiJsonResponse:
    """Return the response to an unknown address, a wrong method or a body that is not JSON."""
    assert isinstance(error, HTTPException)
    return AsciiJsonResponse({"error": error.detail}, error.status_code, error.headers)
