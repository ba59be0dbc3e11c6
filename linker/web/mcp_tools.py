"""The tools of `linker mcp`: rankings for programs, of files below folders that a person named."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

# pydantic needs this one before Python 3.12.
from typing_extensions import TypedDict

from linker.articles.loading import is_url
from linker.articles.page import word_count
from linker.common.errors import DataError, LinkerError
from linker.corpus.corpus import Corpus
from linker.corpus.info import summarize
from linker.corpus.storage.store import Store
from linker.data.io.columns import PostColumns
from linker.data.io.records import read_posts
from linker.data.types import Article
from linker.models.pretrained import BEST
from linker.ranking.ranker import Ranker, load
from linker.ranking.results import Ranking
from linker.web.ranking_api import read_article

MOST_POSTS = 200
_LONGEST_POST = 5_000
"""Characters of a post in an answer."""
# A word that was meant as a file or as an address without https://.
_NAME = re.compile(r"\S*[/\\.]\S+")


_Article = Annotated[
    str,
    Field(
        description="Address (https://...) of a page of the public internet, or the text of the article with its "
        "title in the first line, followed by an empty line."
    ),
]
_Words = Annotated[
    str,
    Field(
        description="Address (https://...) of a page of the public internet, the text of an article, or words."
    ),
]
_Posts = Annotated[
    str, Field(description="Path of a file of posts: JSON Lines, CSV, TSV, Parquet, Excel or an export.")
]
_Corpus = Annotated[str, Field(description="Path of a folder written by `linker corpus build`.")]
# Its limits are checked by linker, whose message is shorter than that of pydantic.
_Top = Annotated[
    int,
    Field(description="Number of posts to return.", json_schema_extra={"minimum": 1, "maximum": MOST_POSTS}),
]


class ReadArticle(TypedDict):
    """The article as it was read; `published` is ISO 8601, None if unknown."""

    title: str
    words: int
    url: str | None
    published: str | None


class FoundPost(TypedDict):
    """A ranked post: score 0 to 100, text of at most 5,000 characters, number of near-duplicates it represents."""

    rank: int
    score: float
    id: str
    text: str
    created_at: str | None
    copies: int


class RankedPosts(TypedDict):
    """A ranking: the best posts, best first, of `total` that were ranked; `meaning` explains the scores."""

    article: ReadArticle
    model: str
    meaning: str
    total: int
    posts: list[FoundPost]


class CorpusInfo(TypedDict):
    """A corpus: number of posts, ISO 8601 times of the first and last, posts by language, model."""

    posts: int
    first: str | None
    last: str | None
    languages: dict[str, int]
    model: str


class Tools:
    """Rank posts and search corpora below some folders.

    Args:
        folders: files are read only below these, also where a link leads.
        model: model of `rank`: a name, a folder or a config.
        columns: how files of posts are read.

    Raises:
        LinkerError: if a folder does not exist.
    """

    def __init__(
        self, folders: Sequence[Path], model: str = BEST, columns: PostColumns | None = None
    ) -> None:
        for folder in folders:
            if not folder.is_dir():
                raise LinkerError(f"--allow {folder}: folder not found")
        self.folders = [folder.resolve() for folder in folders]
        self._model, self._columns = model, columns
        self._ranker: Ranker | None = None
        self._lock = threading.Lock()  # ranking takes all cores and much memory: one at a time

    # The first lines of these docstrings describe the tools to assistants.

    def rank(self, article: _Article, posts: _Posts, top: _Top = 20) -> RankedPosts:
        """Rank the posts of a file by how likely they are to discuss a news article, best first.

        Raises:
            LinkerError: if the article cannot be fetched, or the file is not below the folders or cannot be read.
        """
        path = self._allowed(posts)
        if not path.is_file():
            raise DataError(f"{posts}: not a file; rank reads one file of posts")
        _check_top(top)
        query = _article(article)
        with self._lock:
            found = read_posts(str(path), self._columns)
            if self._ranker is None:
                self._ranker = load(self._model)
            return _answer(query, self._ranker.rank(query, found, top=top), len(found))

    def search(self, corpus: _Corpus, article: _Words, top: _Top = 20) -> RankedPosts:
        """Rank the posts of a corpus by how likely they are to discuss a news article or words, best first.

        Raises:
            LinkerError: if the article cannot be fetched, or the folder is not below the folders or no corpus.
        """
        folder = self._allowed(corpus)
        _check_top(top)
        query = _article(article)
        with self._lock:
            opened = Corpus.open(folder)
            return _answer(query, opened.rank(query, top=top), len(opened))

    def corpus_info(self, corpus: _Corpus) -> CorpusInfo:
        """Describe a corpus: number, times and languages of its posts, and its model.

        Raises:
            LinkerError: if the folder is not below the folders or no corpus.
        """
        found = summarize(Store.open(self._allowed(corpus)))
        return {
            "posts": found.posts,
            "first": found.first.isoformat() if found.first else None,
            "last": found.last.isoformat() if found.last else None,
            "languages": dict(found.languages),
            "model": found.model,
        }

    def _allowed(self, given: str) -> Path:
        """Return an existing path below the folders, absolute and without links.

        Paths elsewhere and missing ones get the same message, which tells nothing about files elsewhere.
        """
        for folder in self.folders:
            try:
                path = (folder / given).resolve()
                if path.is_relative_to(folder) and path.exists():
                    return path
            except (OSError, ValueError, RuntimeError):  # too long, a null character, links in a circle
                continue
        places = ", ".join(map(str, self.folders))
        raise DataError(f"{given[:200]}: not found below {places}; --allow names the folders of this server")


def _check_top(top: int) -> None:
    if not 1 <= top <= MOST_POSTS:
        raise LinkerError(f"top is {top}; give 1 to {MOST_POSTS}")


def _article(given: str) -> Article:
    """Read an article from an address of the public internet, or from a text.

    Raises:
        LinkerError: if it is empty or the name of a file, or the page cannot be fetched.
    """
    word = given.strip()
    if _NAME.fullmatch(word) and not is_url(word):
        raise DataError(
            f"{word[:200]}: neither an address that begins with https:// nor a text; "
            "files are not read as articles, so give their text"
        )
    return read_article(given)


def _answer(query: Article, ranking: Ranking, total: int) -> RankedPosts:
    return {
        "article": {
            "title": query.title,
            "words": word_count(query.full_text),
            "url": query.url,
            "published": query.published.isoformat() if query.published else None,
        },
        "model": ranking.model,
        "meaning": ranking.meaning,
        "total": total,
        "posts": [
            {
                "rank": ranked.rank,
                "score": round(ranked.score, 2),
                "id": ranked.post.id,
                "text": ranked.post.text[:_LONGEST_POST],
                "created_at": ranked.post.created_at.isoformat() if ranked.post.created_at else None,
                "copies": ranked.copies,
            }
            for ranked in ranking
        ],
    }
