"""Articles and posts from whatever `Linker.rank` takes as such."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from linker.data.columns import PostColumns
from linker.data.formats.bad_lines import LineError
from linker.data.records import post_of, read_posts
from linker.data.types import Article, Post
from linker.errors import DataError
from linker.ranking.articles import check_source, is_url, load_articles
from linker.ranking.extraction import article_from_text

AnyArticle: TypeAlias = "str | Path | Article"
AnyPosts: TypeAlias = "str | Path | Sequence[str | Path | Post | Mapping[str, Any]]"

_ENDINGS = (".html", ".htm", ".txt", ".md", ".json", ".jsonl", ".pdf")
_LONGEST_PATH = 1024


def as_articles(given: AnyArticle | Sequence[AnyArticle]) -> list[Article]:
    """Articles from whatever `Linker.rank` takes as such.

    Raises:
        LinkerError: one cannot be fetched or read, is empty, or the list is.
    """
    items = [given] if isinstance(given, (str, Path, Article)) else list(given)
    articles = [article for number, item in enumerate(items, 1) for article in _articles(item, number)]
    if not articles:
        raise DataError("no article was given")
    return articles


def _articles(item: AnyArticle, number: int) -> list[Article]:
    if isinstance(item, Article):
        return [item]
    if isinstance(item, Path) or is_url(item) or _is_path(item):
        return load_articles(item)
    if not item.strip():
        raise DataError("the article is empty")
    return [article_from_text(item, f"article-{number}")]


def _is_path(text: str) -> bool:
    """Is it the path of a file, not a text? What ends like a file's name is, even if the file is missing."""
    if "\n" in text or len(text) > _LONGEST_PATH or not text.strip():
        return False
    if text.lower().endswith(_ENDINGS) and " " not in text.strip():
        check_source(text)
        return True
    return Path(text).is_file()


def as_posts(given: AnyPosts) -> list[Post]:
    """Posts from whatever `Linker.rank` takes as such.

    Raises:
        DataError: a file cannot be read, a post has no text, two have the same id, or there is none.
    """
    if isinstance(given, (str, Path)):
        return read_posts(str(given))
    items = list(given)
    paths = [str(item) for item in items if isinstance(item, Path)]
    if paths and len(paths) == len(items):
        return read_posts(paths)
    posts = [_post(item, number) for number, item in enumerate(items, start=1)]
    first: dict[str, int] = {}
    for number, post in enumerate(posts, start=1):
        if (before := first.setdefault(post.id, number)) != number:
            raise DataError(f"posts {before} and {number} have the same id {post.id!r}; ids must differ")
    if not posts:
        raise DataError("no post was given")
    return posts


def _post(item: str | Path | Post | Mapping[str, Any], number: int) -> Post:
    if isinstance(item, Post):
        return item
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, Mapping):
        raise DataError(
            f"post {number} is {type(item).__name__}; give texts, Posts, dicts, or nothing but Paths"
        )
    try:
        return post_of(dict(item), PostColumns(id="id" if "id" in item else None), str(number))
    except LineError as error:
        raise DataError(f"post {number}: {error}") from error
