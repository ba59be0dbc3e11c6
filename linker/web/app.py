"""The web app: page, static files and JSON endpoints."""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from linker.annotation.session.events import Event
from linker.annotation.session.session import Session
from linker.common.errors import LinkerError
from linker.data.types import Post
from linker.version import __version__
from linker.web.project_routes import project_routes
from linker.web.projects_api import ProjectsApi
from linker.web.ranking_api import RankingApi
from linker.web.ranking_queue import BusyError, RankingQueue
from linker.web.review_routes import review_routes
from linker.web.security import LOGIN, SecurityMiddleware, allowed_hosts, tokens_match
from linker.web.serializers import AsciiJsonResponse
from linker.web.served_sessions import NoSessionError, ServedSessions
from linker.web.session_api import Filter
from linker.web.visitors import OWNER, Visitor

if TYPE_CHECKING:
    from linker.web.corpus_search import CorpusSearch

_STATIC = Path(__file__).parent / "static"
# On Windows the registry may map .js to anything, and browsers refuse modules of another type.
mimetypes.add_type("text/javascript", ".js")
_MOST_ACTIONS = 500
_YEAR = 365 * 24 * 3600


class SyncBody(BaseModel):
    """Actions since the last request, and the number of suggestions wanted."""

    annotator: str = Field("", max_length=200)
    actions: list[Event] = Field(default_factory=list, max_length=_MOST_ACTIONS)
    count: int = Field(4, ge=0, le=20)


class RankBody(BaseModel):
    """An article, as text or address, and the posts to rank for it."""

    article: str
    source: str
    posts: str = ""
    top: int = Field(20, ge=1, le=200)
    model: str = Field("", max_length=4096)
    preliminary: bool = False
    published: str = Field("", max_length=40)


class LoginBody(BaseModel):
    """The access token."""

    token: str = Field(max_length=1000)


def create_app(
    sessions: Sequence[Session] = (),
    token: str | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    model: str | None = None,
    posts: Sequence[Post] = (),
    projects: ProjectsApi | None = None,
    corpus: CorpusSearch | None = None,
    public_name: str | None = None,
) -> FastAPI:
    """Create the web app.

    Args:
        sessions: sessions to label in; the caller closes them. Folder names become addresses.
        token: access token; None: no token is needed, for loopback only.
        host: address that the server listens on.
        port: port that it listens on; part of the cookie's name, so that two servers do not share one.
        model: default model of the page "Rank"; None: the default model of all commands.
        posts: posts to rank there besides those of the sessions.
        projects: projects to serve instead of sessions; the caller closes them.
        corpus: a corpus to search.
        public_name: host name at which a proxy serves the page; None: there is no proxy.
    """
    served = projects or ServedSessions(sessions)
    ranking = RankingApi(served, model, posts)
    rankings = RankingQueue()
    cookie = f"linker-{port}"
    app = FastAPI(
        title="linker",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        default_response_class=AsciiJsonResponse,
    )
    app.add_exception_handler(LinkerError, _wrong)
    app.add_exception_handler(OSError, _wrong)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _refused)

    @app.get("/api/about")
    def about(request: Request) -> AsciiJsonResponse:
        visitor = _visitor(request)
        answer = {"version": __version__, "owner": visitor.is_owner, "name": visitor.name}
        if not visitor.is_owner:
            try:
                own = [served.get(visitor.project).summary()]
            except NoSessionError:  # its posts are missing yet
                own = []
            return AsciiJsonResponse({**answer, "sessions": own})
        return AsciiJsonResponse(
            {
                **answer,
                "projects": projects is not None,
                "sessions": served.summaries(),
                "sources": ranking.sources(),
                "models": ranking.models(),
                "corpus": corpus is not None,
            }
        )

    @app.post(LOGIN)
    def login(body: LoginBody) -> Response:
        given = body.token.strip()
        person = projects.visitor(given) if projects else None
        if person is None and token is not None and not tokens_match(given, token):
            return AsciiJsonResponse({"error": "wrong token"}, 401)
        response = AsciiJsonResponse({})
        if person is not None or token is not None:
            response.set_cookie(cookie, given, max_age=_YEAR, httponly=True, samesite="strict")
        return response

    @app.post("/api/logout")
    def logout() -> Response:
        response = AsciiJsonResponse({})
        response.delete_cookie(cookie, httponly=True, samesite="strict")
        return response

    @app.get("/api/sessions/{key}")
    def session(key: str) -> AsciiJsonResponse:
        return AsciiJsonResponse(served.get(key).about())

    @app.get("/api/sessions/{key}/status")
    def status(key: str, request: Request) -> AsciiJsonResponse:
        return AsciiJsonResponse(served.get(key).status(_visitor(request).name))

    @app.post("/api/sessions/{key}/sync")
    def sync(key: str, body: SyncBody, request: Request) -> AsciiJsonResponse:
        visitor = _visitor(request)
        return AsciiJsonResponse(
            served.get(key).sync(visitor.name or body.annotator, body.actions, body.count, visitor.name)
        )

    @app.get("/api/sessions/{key}/posts")
    def list_posts(
        key: str,
        request: Request,
        annotator: Annotated[str, Query(max_length=200)] = "",
        label: Literal["all", "none", "relevant", "not", "skip"] = "all",
        text: Annotated[str, Query(max_length=500)] = "",
        lang: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
        offset: Annotated[int, Query(ge=0)] = 0,
        count: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> AsciiJsonResponse:
        wanted = Filter(label, text.strip(), lang, since, until)
        return AsciiJsonResponse(
            served.get(key).posts(_visitor(request).name or annotator, wanted, offset, count)
        )

    @app.post("/api/rank")
    async def rank(body: RankBody) -> AsciiJsonResponse:
        work = partial(
            ranking.rank,
            body.article,
            body.source,
            body.posts,
            body.top,
            body.model,
            body.preliminary,
            body.published,
        )
        return AsciiJsonResponse(await rankings.run(work))

    app.include_router(review_routes(served))
    if projects is not None:
        app.include_router(project_routes(projects))
    if corpus is not None:
        from linker.web.corpus_routes import corpus_routes  # needs the extra `corpus`

        app.include_router(corpus_routes(corpus, rankings))

    @app.get("/")
    def page() -> FileResponse:
        return FileResponse(_STATIC / "index.html")

    app.mount("/static", StaticFiles(directory=_STATIC))
    app.add_middleware(
        SecurityMiddleware,
        names=allowed_hosts(host) | ({public_name} if public_name else set()),
        token=token,
        cookie=cookie,
        person_of=projects.visitor if projects else lambda given: None,
    )
    return app


def _visitor(request: Request) -> Visitor:
    found = getattr(request.state, "visitor", OWNER)
    assert isinstance(found, Visitor)
    return found


async def _wrong(_: Request, error: Exception) -> AsciiJsonResponse:
    """Return the response to an error: 404 unknown session, 400 invalid request, 503 busy or inaccessible files."""
    if isinstance(error, NoSessionError):
        return AsciiJsonResponse({"error": str(error)}, 404)
    invalid = isinstance(error, LinkerError) and not isinstance(error, BusyError)
    return AsciiJsonResponse({"error": str(error)}, 400 if invalid else 503)


async def _malformed(_: Request, error: Exception) -> AsciiJsonResponse:
    assert isinstance(error, RequestValidationError)
    first: dict[str, Any] = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return AsciiJsonResponse({"error": f"{where}: {first['msg'].removeprefix('Value error, ')}"}, 422)


async def _refused(_: Request, error: Exception) -> AsciiJsonResponse:
    """Return the response to an unknown address, a wrong method or a body that is not JSON."""
    assert isinstance(error, HTTPException)
    return AsciiJsonResponse({"error": error.detail}, error.status_code, error.headers)
