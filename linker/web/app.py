"""The web app: page, static files and JSON endpoints."""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from linker.annotation.session.journal import Action
from linker.annotation.session.session import Session
from linker.common.errors import LinkerError
from linker.data.types import Post
from linker.version import __version__
from linker.web.ranking_api import RankingApi
from linker.web.security import LOGIN, SecurityMiddleware, allowed_hosts, tokens_match
from linker.web.serializers import AsciiJsonResponse
from linker.web.session_api import Filter, SessionApi

_STATIC = Path(__file__).parent / "static"
# On Windows the registry may map .js to anything, and browsers refuse modules of another type.
mimetypes.add_type("text/javascript", ".js")
_MOST_ACTIONS = 500
_YEAR = 365 * 24 * 3600


class SyncBody(BaseModel):
    """Actions since the last request, and the number of suggestions wanted."""

    annotator: str = Field("", max_length=200)
    actions: list[Action] = Field(default_factory=list, max_length=_MOST_ACTIONS)
    count: int = Field(4, ge=0, le=20)


class RankBody(BaseModel):
    """An article, as text or address, and the posts to rank for it."""

    article: str
    source: str
    posts: str = ""
    top: int = Field(20, ge=1, le=200)


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
) -> FastAPI:
    """Create the web app.

    Args:
        sessions: sessions to label in; the caller closes them. Folder names become addresses.
        token: access token; None: no token is needed, for loopback only.
        host: address that the server listens on.
        port: port that it listens on; part of the cookie's name, so that two servers do not share one.
        model: model of the page "Try ranking"; None: each session's model, or the default model.
        posts: posts to rank there besides those of the sessions.
    """
    sessions_by_key = {key: SessionApi(session, key) for key, session in zip(_keys(sessions), sessions)}
    ranking = RankingApi({key: api.session for key, api in sessions_by_key.items()}, model, posts)
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

    @app.get("/api/about")
    def about() -> AsciiJsonResponse:
        return AsciiJsonResponse(
            {
                "version": __version__,
                "sessions": [api.summary() for api in sessions_by_key.values()],
                "sources": ranking.sources(),
            }
        )

    @app.post(LOGIN)
    def login(body: LoginBody) -> Response:
        if token is not None and not tokens_match(body.token.strip(), token):
            return AsciiJsonResponse({"error": "wrong token"}, 401)
        response = AsciiJsonResponse({})
        if token is not None:
            response.set_cookie(cookie, token, max_age=_YEAR, httponly=True, samesite="strict")
        return response

    @app.get("/api/sessions/{key}")
    def session(key: str) -> AsciiJsonResponse:
        return AsciiJsonResponse(_session_api(sessions_by_key, key).about())

    @app.get("/api/sessions/{key}/status")
    def status(key: str) -> AsciiJsonResponse:
        return AsciiJsonResponse(_session_api(sessions_by_key, key).status())

    @app.post("/api/sessions/{key}/sync")
    def sync(key: str, body: SyncBody) -> AsciiJsonResponse:
        return AsciiJsonResponse(
            _session_api(sessions_by_key, key).sync(body.annotator, body.actions, body.count)
        )

    @app.get("/api/sessions/{key}/posts")
    def list_posts(
        key: str,
        label: Literal["all", "none", "relevant", "not", "skip"] = "all",
        text: Annotated[str, Query(max_length=500)] = "",
        lang: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
        offset: Annotated[int, Query(ge=0)] = 0,
        count: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> AsciiJsonResponse:
        wanted = Filter(label, text.strip(), lang, since, until)
        return AsciiJsonResponse(_session_api(sessions_by_key, key).posts(wanted, offset, count))

    @app.post("/api/rank")
    def rank(body: RankBody) -> AsciiJsonResponse:
        return AsciiJsonResponse(ranking.rank(body.article, body.source, body.posts, body.top))

    @app.get("/")
    def page() -> FileResponse:
        return FileResponse(_STATIC / "index.html")

    app.mount("/static", StaticFiles(directory=_STATIC))
    app.add_middleware(SecurityMiddleware, names=allowed_hosts(host), token=token, cookie=cookie)
    return app


class _NoSessionError(LinkerError):
    """The session is not served here."""


def _session_api(sessions_by_key: dict[str, SessionApi], key: str) -> SessionApi:
    if key not in sessions_by_key:
        raise _NoSessionError(f"the session {key[:100]!r} is no longer served here")
    return sessions_by_key[key]


def _keys(sessions: Sequence[Session]) -> list[str]:
    """Return folder names, numbered where two are equal."""
    keys: list[str] = []
    for session in sessions:
        name, number = session.name or "session", 2
        while name in keys:
            name, number = f"{session.name}-{number}", number + 1
        keys.append(name)
    return keys


async def _wrong(_: Request, error: Exception) -> AsciiJsonResponse:
    """Return the response to an error: 404 unknown session, 400 invalid request, 503 inaccessible files."""
    if isinstance(error, _NoSessionError):
        return AsciiJsonResponse({"error": str(error)}, 404)
    return AsciiJsonResponse({"error": str(error)}, 400 if isinstance(error, LinkerError) else 503)


async def _malformed(_: Request, error: Exception) -> AsciiJsonResponse:
    assert isinstance(error, RequestValidationError)
    first: dict[str, Any] = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return AsciiJsonResponse({"error": f"{where}: {first['msg']}"}, 422)
