"""Endpoint that ranks posts for a pasted article."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from linker.annotation.project.settings import MODELS
from linker.articles.extraction import article_from_text, extract_article
from linker.articles.fetching import fetch
from linker.articles.loading import is_url
from linker.articles.publication import publication_date
from linker.common.errors import DataError, LinkerError
from linker.data.types import Article, Post
from linker.models.pretrained import BEST
from linker.web.ranking_process import RankingProcess
from linker.web.served_sessions import NoSessionError, ServedSessions

_FETCH_SECONDS = 15.0
_MAX_PAGE = 5 << 20
_MAX_POSTS = 5000
_PASTED = "pasted"
#: Ranks tens of thousands of posts in two seconds, while a larger model is at work on them.
_PRELIMINARY = "bm25"
_KEPT_ARTICLES = 8


class RankingApi:
    """Ranks posts for the page "Rank".

    Args:
        sessions: the sessions whose posts can be ranked.
        model: default model; None: `best`.
        posts: posts of no session.
    """

    def __init__(
        self, sessions: ServedSessions, model: str | None = None, posts: Sequence[Post] = ()
    ) -> None:
        self._sessions = sessions
        self._models = list(dict.fromkeys([model or BEST, *MODELS]))
        self._posts = list(posts)
        self._process = RankingProcess()
        # Of preliminary rankings, so that a page is not fetched again for the final one.
        self._articles: dict[tuple[str, str], Article] = {}

    def sources(self) -> list[dict[str, Any]]:
        """Return the sources of posts."""
        found: list[dict[str, Any]] = [
            {"key": f"session:{one['key']}", "title": one["title"], "posts": one["posts"]}
            for one in self._sessions.sources()
        ]
        if self._posts:
            found.insert(0, {"key": "posts", "title": "posts of this server", "posts": len(self._posts)})
        return [*found, {"key": _PASTED, "title": "posts that I paste", "posts": None}]

    def models(self) -> list[str]:
        """Return the models to choose from, the default first."""
        own = (one["model"] for one in self._sessions.sources())
        return list(dict.fromkeys([*self._models, *own]))

    def rank(
        self,
        article: str,
        source: str,
        pasted: str,
        top: int,
        model: str = "",
        preliminary: bool = False,
        published: str = "",
    ) -> dict[str, Any]:
        """Rank posts for an article.

        Args:
            article: a text, or the address of a page; only pages of the public internet are fetched, no file is read.
            source: key of one of the `sources`.
            pasted: the posts, one per line, if they are pasted.
            top: number of posts to return.
            model: one of `models`; empty: the default.
            preliminary: rank by shared words, in a second or two; the same request without it gives the final ranking.
            published: when the article was published; empty: by the page.

        Raises:
            LinkerError: if the page cannot be fetched or holds no article, or posts or model are missing.
        """
        if model and model not in self.models():  # never a path that a visitor makes up
            raise LinkerError(f"model {model[:60]!r} is not served here; choose one of the list")
        posts = self._posts_of(source, pasted)
        query = None if preliminary else self._articles.pop((article, published), None)
        query = query or read_article(article, published)
        if preliminary:
            self._articles[article, published] = query
            for key in list(self._articles)[:-_KEPT_ARTICLES]:
                self._articles.pop(key, None)
            model = _PRELIMINARY
        return self._process.rank(model or self._models[0], query, source, posts, top)

    def _posts_of(self, source: str, pasted: str) -> list[Post]:
        if source == _PASTED:
            lines = [line.strip() for line in pasted.splitlines() if line.strip()]
            if not lines:
                raise DataError("no posts; paste some, one per line")
            if len(lines) > _MAX_POSTS:
                raise DataError(f"{len(lines):,} posts; at most {_MAX_POSTS:,} can be pasted")
            return [Post(str(number), line) for number, line in enumerate(lines, start=1)]
        if source == "posts" and self._posts:
            return self._posts
        try:
            return self._sessions.get(source.removeprefix("session:")).session.posts
        except NoSessionError as error:
            raise LinkerError("these posts are no longer served; reload the page") from error


def read_article(given: str, published: str = "") -> Article:
    """Read an article from a text, or from a page of the public internet if the text is an address.

    Args:
        given: the text or the address.
        published: when it was published, if the user says so; empty: by the page.

    Raises:
        LinkerError: if it is empty, or the page cannot be fetched.
    """
    given = given.strip()
    if not given:
        raise DataError("the article is empty; paste its address or its text")
    moment = publication_date(published, "published") if published else None
    if len(given.split()) == 1 and is_url(given):
        article = extract_article(fetch(given, deadline=_FETCH_SECONDS, max_bytes=_MAX_PAGE), given)
    else:
        article = article_from_text(given, "pasted")
    return article if moment is None else replace(article, published=moment)
