"""Rankings of posts for an article that a visitor gives."""

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from linker.annotation.project.settings import MODELS
from linker.articles.extraction import article_from_text, extract_article
from linker.articles.fetching import fetch
from linker.articles.loading import is_url, load_articles
from linker.articles.publication import publication_date
from linker.common.errors import DataError, LinkerError
from linker.data.types import Article, Post
from linker.models.pretrained import BEST
from linker.web.api.file_routes import Name, received
from linker.web.api.ranking_process import RankingProcess
from linker.web.api.ranking_queue import RankingQueue
from linker.web.api.sessions import NoSessionError, Sessions
from linker.web.api.views import AsciiJsonResponse, article_view

_FETCH_SECONDS = 15.0
_MAX_PAGE = 5 << 20
_MAX_POSTS = 100_000
_FILES = "files"
MOST_ARTICLES = 20


class RankBody(BaseModel):
    """An article, and the posts to rank for it.

    Attributes:
        article: a text, or the address of a page; only pages of the public internet are fetched, no file is read.
        source: key of one of `Rankings.sources`.
        files: key of the temporary files, if these are the source.
        top: number of posts to return.
        model: one of `Rankings.models`; empty: the default.
        published: when the article was published; empty: by the page.
    """

    article: str
    source: str
    files: str = ""
    top: int = Field(20, ge=1, le=200)
    model: str = Field("", max_length=4096)
    published: str = Field("", max_length=40)


class Rankings:
    """Ranks posts for the page "Rank".

    Args:
        sessions: the sessions whose posts can be ranked.
        model: default model; None: `best`.
        posts: posts of no session.
    """

    def __init__(self, sessions: Sessions, model: str | None = None, posts: Sequence[Post] = ()) -> None:
        self._sessions = sessions
        self._default = model or BEST
        self._posts = posts
        self.process = RankingProcess()

    def sources(self) -> list[dict[str, Any]]:
        """Return the sources of posts."""
        sources: list[dict[str, Any]] = []
        if self._posts:
            sources.append({"key": "posts", "title": "posts of this server", "posts": len(self._posts)})
        for served in self._sessions.all():
            title = served.project.title if served.project else served.session.name
            posts = len(served.session.posts)
            sources.append({"key": f"session:{served.key}", "title": title, "posts": posts})
        return [*sources, {"key": _FILES, "title": "files, or posts that I paste", "posts": None}]

    def models(self) -> list[str]:
        """Return the models to choose from, the default first."""
        models = [(served.project or served.session.settings).model for served in self._sessions.all()]
        return list(dict.fromkeys([self._default, *MODELS, *models]))

    def rank(self, body: RankBody) -> dict[str, Any]:
        """Rank posts for an article.

        Raises:
            LinkerError: if the page cannot be fetched or holds no article, or posts or model are missing.
        """
        model = body.model or self._default
        if model not in self.models():  # never a path that a visitor makes up
            raise LinkerError(f"model {model[:60]!r} is not served here; choose one of the list")
        posts = self._posts_of(body.source, body.files)
        article = read_article(body.article, body.published)
        return self.process.rank(model, article, body.source, posts, body.top)

    def _posts_of(self, source: str, files: str) -> Sequence[Post]:
        if source == _FILES:
            posts, _ = self._sessions.files.get(files).read(_MAX_POSTS + 1)
            if len(posts) > _MAX_POSTS:
                raise DataError(f"more than {_MAX_POSTS:,} posts; start a project with them")
            return posts
        if source == "posts" and self._posts:
            return self._posts
        try:
            return self._sessions.get(source.removeprefix("session:")).session.posts
        except NoSessionError as error:
            raise LinkerError("these posts are no longer served; reload the page") from error


def ranking_routes(rankings: Rankings, queue: RankingQueue) -> APIRouter:
    """Return the route of rankings, which `queue` runs."""
    router = APIRouter(prefix="/api", include_in_schema=False)

    @router.post("/rank")
    async def rank(body: RankBody) -> AsciiJsonResponse:
        return AsciiJsonResponse(await queue.run(partial(rankings.rank, body)))

    @router.post("/articles")
    async def articles(request: Request, name: Name) -> AsciiJsonResponse:
        async with received(request, name) as path:
            return AsciiJsonResponse(await queue.run(partial(_articles_in, path)))

    return router


def _articles_in(path: Path) -> list[dict[str, Any]]:
    """Read the articles of a file that a visitor uploaded; only pages of the public internet are fetched."""
    try:
        limits: dict[str, Any] = {"allow_private": False, "deadline": _FETCH_SECONDS, "max_bytes": _MAX_PAGE}
        articles = load_articles(path, most=MOST_ARTICLES + 1, **limits)
        if len(articles) > MOST_ARTICLES:
            raise DataError(f"{path.name}: more than {MOST_ARTICLES} articles")
    except LinkerError as error:
        raise LinkerError(str(error).replace(f"{path.parent}{os.sep}", "")) from error
    return list(map(article_view, articles))


def read_article(text: str, published: str = "") -> Article:
    """Read an article from a text, or from a page of the public internet if the text is an address.

    Args:
        text: the text or the address.
        published: when it was published, if the user says so; empty: by the page.

    Raises:
        LinkerError: if it is empty, or the page cannot be fetched.
    """
    text = text.strip()
    if not text:
        raise DataError("the article is empty; paste its address or its text")
    moment = publication_date(published, "published") if published else None
    if len(text.split()) == 1 and is_url(text):
        article = extract_article(fetch(text, deadline=_FETCH_SECONDS, max_bytes=_MAX_PAGE))
    else:
        article = article_from_text(text, "pasted")
    return article if moment is None else replace(article, published=moment)
