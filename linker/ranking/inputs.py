"""What `Linker.rank` takes as articles and posts, and articles from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from linker.data.columns import ArticleColumns, PostColumns
from linker.data.formats.bad_lines import LineError
from linker.data.records import article_of
from linker.data.types import Article, Post
from linker.errors import DataError
from linker.ranking.articles import check_source, is_url, load_articles
from linker.ranking.extraction import article_from_text
from linker.ranking.frames import ArrowStream, frame_of, row_of

AnyArticle: TypeAlias = "str | Path | Article | Mapping[str, Any]"
AnyArticles: TypeAlias = "AnyArticle | Iterable[AnyArticle] | ArrowStream"
AnyPost: TypeAlias = "str | Path | Post | Mapping[str, Any]"
AnyPosts: TypeAlias = "AnyPost | Iterable[AnyPost] | ArrowStream"
AnyColumns: TypeAlias = "PostColumns | Mapping[str, str | list[str] | None]"

_ENDINGS = (".html", ".htm", ".txt", ".md", ".json", ".jsonl", ".pdf")
_LONGEST_PATH = 1024
_EXPECTED = "give a web address, the path of a file, a text, a linker.Article, or a dict with title and text"


def as_articles(given: AnyArticles) -> list[Article]:
    """Articles from whatever `Linker.rank` takes as such.

    Raises:
        LinkerError: one cannot be fetched or read, is empty, or the list is.
    """
    articles = [article for n, item in enumerate(_article_items(given), 1) for article in _articles(item, n)]
    if not articles:
        raise DataError("no article was given")
    return articles


def _article_items(given: AnyArticles) -> Iterable[Any]:
    if isinstance(given, (str, Path, Article)) or row_of(given) is not None:
        return [given]
    if (frame := frame_of(given)) is not None:
        columns = ArticleColumns()
        columns.check(["id", *frame.columns], f"the {frame.kind} of articles")
        return frame.rows()
    if isinstance(given, (bytes, bytearray, set, frozenset)) or not isinstance(given, Iterable):
        raise DataError(f"the article is {type_name(given)}; {_EXPECTED}")
    return given


def _articles(item: Any, number: int) -> list[Article]:
    if isinstance(item, Article):
        return [item]
    if (row := row_of(item)) is not None:
        try:
            return [article_of({"id": f"article-{number}", **row}, ArticleColumns())]
        except LineError as error:
            raise DataError(f"article {number}: {error}") from error
    if not isinstance(item, (str, Path)):
        raise DataError(f"article {number} is {type_name(item)}; {_EXPECTED}")
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


def type_name(value: object) -> str:
    """What a value is, with its article: `an int`, `a pandas.Series`."""
    kind = type(value)
    name = (
        kind.__name__
        if kind.__module__ == "builtins"
        else f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
    )
    if value is None or isinstance(value, bytes):
        return "None" if value is None else "bytes"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
