"""Convert the arguments of `Ranker.rank` to articles and posts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from linker.articles.extraction import article_from_text
from linker.articles.loading import load_articles, names_source
from linker.articles.publication import Published, dated, publication_date
from linker.common.console import info
from linker.common.errors import DataError
from linker.data.files.line_errors import LineError
from linker.data.files.rows import Row, Table
from linker.data.identity import ContentIds
from linker.data.io.column_detection import columns_of
from linker.data.io.columns import ArticleColumns, PostColumns
from linker.data.io.input_files import check_inputs
from linker.data.io.records import article_from_row, post_from_row, posts_of_records, spool_posts
from linker.data.platforms.recognition import BY_COLUMNS, check_format
from linker.data.types import Article, Post
from linker.ranking.data_frames import ArrowStream, Frame, frame_of, row_of, series_of

_FILE_OF_POSTS = re.compile(
    r"[^\s]+\.(jsonl?|ndjson|csv|tsv|parquet|xlsx|txt)(\.(gz|bz2|xz|zst))?", re.IGNORECASE
)
_SHOWN_FAULTS = 5
_EXPECTED = "give the path of a file, a list of texts, dicts or linker.Post objects, or a data frame"


def as_posts(
    given: AnyPosts | Frame, columns: AnyColumns | None = None, format: str | None = None
) -> Sequence[Post]:
    """Return posts from anything that `Ranker.rank` accepts.

    Args:
        given: the path of a file; a list or any other iterable of texts, Posts and dicts, or of nothing but Path
            objects; one Post or dict; a data frame, or a Series of texts, of pandas, polars or PyArrow.
        columns: our names → those of the columns or keys, such as `{"text": "body"}`.
        format: name of a platform's format, such as `mastodon`; None: files and dicts are recognized.

    Returns:
        The posts in order; those of a data frame are its rows, one for one. Of a platform's records, those that are
        posts.

    Raises:
        DataError: a file cannot be read; something of another type; posts without a text; two with the same id; or
            no post. Up to five faults are named at once, and all are counted.
    """
    if isinstance(given, list) and given and all(isinstance(post, Post) for post in given):
        posts: list[Post] = given.copy()  # rankings read posts when they are accessed
        if len({post.id for post in posts}) == len(posts):
            return posts
    known = post_columns(columns)
    if format is not None:
        check_format(format)
        known = copy(known)
        known.format = format
    if isinstance(given, (str, Path)):
        return spool_posts(_checked_path(given), known)
    frame = given if isinstance(given, Frame) else frame_of(given)
    if frame is None:
        shown, items = "posts", _post_items(given, known)
    else:
        shown = f"the {frame.kind}"
        items = [(f"row {label}", row) for label, row in zip(frame.labels(), frame.rows())]
        if known.format not in (None, BY_COLUMNS):
            raise DataError(
                f"format {known.format}: not for {frame.kind}, whose rows are posts one for one; give a file or dicts"
            )
        if not items:
            raise DataError(f"{shown} has no rows; no post was given")
    if items and all(isinstance(item, Path) for _, item in items):
        return spool_posts([str(item) for _, item in items], known)
    if items and all(isinstance(item, str) and _FILE_OF_POSTS.fullmatch(item) for _, item in items):
        raise DataError(
            f"posts is a list of names of files ({items[0][1]}), which would be read as texts; "
            "give the name without a list, or a list of pathlib.Path objects"
        )
    rows = [dict(row) for _, item in items if (row := row_of(item)) is not None]
    only_rows = len(rows) == len(items)
    of_platform = posts_of_records("posts", rows, known) if frame is None and rows and only_rows else None
    if of_platform is not None:
        return of_platform
    if rows:
        known = _detected(shown, rows, known, check=only_rows)
    return _parsed(items, known, "" if frame is None else frame.without_empty(known.names("text")[-1]))


def post_columns(columns: AnyColumns | None) -> PostColumns:
    """Return the columns to read posts by.

    Raises:
        DataError: a mapping from names that posts do not have.
    """
    if columns is None or isinstance(columns, PostColumns):
        return columns or PostColumns()
    ours = PostColumns().ours()
    if not isinstance(columns, Mapping):
        raise DataError(f'columns is {type_name(columns)}; give a dict like {{"text": "body"}}')
    if unknown := [str(name) for name in columns if name not in ours]:
        raise DataError(
            f"columns: posts have no {', '.join(unknown)}; the keys are linker's own names ({', '.join(ours)}), "
            'the values are yours, like {"text": "body"}'
        )
    return PostColumns(**dict(columns))  # type: ignore[arg-type]


def _checked_path(path: str | Path) -> str:
    """Return a path to read.

    Raises:
        DataError: if the file is not found, or a text was given.
    """
    text = str(path)
    is_path = isinstance(path, Path) or os.path.exists(text) or _FILE_OF_POSTS.search(text)
    if re.search(r"\s", text.strip()) and not is_path:
        shown = text.strip().replace("\n", " ")
        shown = shown if len(shown) < 40 else f"{shown[:39]}…"
        raise DataError(f"posts is the text {shown!r}, not the path of a file; give a list of texts: [text]")
    check_inputs([text])
    return text


def _post_items(given: Any, columns: PostColumns) -> list[tuple[str, Any]]:
    """Return the single posts, each with its place in messages."""
    row = row_of(given)
    if isinstance(given, (Post, Mapping)) or (row is not None and set(columns.names("text")) & set(row)):
        return [("post 1", given)]
    if (series := series_of(given)) is not None:
        return [(f"post {label}", value) for label, value in series]
    if isinstance(given, (bytes, bytearray)) or not isinstance(given, Iterable):
        raise DataError(f"posts is {type_name(given)}; {_EXPECTED}")
    if isinstance(given, (set, frozenset)):
        raise DataError(
            "posts is a set, which has no order to number its posts by; give a list, or sorted(posts)"
        )
    return [(f"post {number}", item) for number, item in enumerate(given, 1)]


def _detected(
    shown: str, rows: Sequence[dict[str, Any]], columns: PostColumns, check: bool = True
) -> PostColumns:
    """Detect the columns as in files, and report what was guessed.

    Args:
        shown: the posts' name in messages.
        rows: the posts.
        columns: the requested columns.
        check: check that the columns exist.

    Raises:
        MissingColumnsError: if a column is missing.
    """
    table = Table("jsonl", None, (Row(number, row, "") for number, row in enumerate(rows)))
    found = columns_of(columns, table)
    if check:
        found.check(shown)
    if notes := [note for note in found.notes if not note.startswith("ids are")]:
        _note(f"{shown}: {', '.join(notes)}")
    assert isinstance(found.columns, PostColumns)
    return found.columns


@lru_cache(maxsize=64)
def _note(line: str) -> None:
    """Print a line once: a loop over articles ranks the same posts repeatedly."""
    info(line)


def _parsed(rows: Iterable[tuple[str, Any]], columns: PostColumns, if_empty: str) -> list[Post]:
    """Return the posts in rows of (name in messages, item).

    Args:
        rows: the posts.
        columns: the columns.
        if_empty: remedy for posts without text.
    """
    posts: list[Post] = []
    places: list[str] = []
    faults: list[str] = []
    remedies: dict[str, None] = {}
    taken: set[str] = set()
    ids = ContentIds(taken)
    for where, item in rows:
        try:
            posts.append(_post(item, columns, ids))
            places.append(where)
            taken.add(posts[-1].id)
        except _WrongTypeError:
            faults.append(f"{where} is {type_name(item)}")
            remedies.setdefault(_expected(item))
        except LineError as error:
            faults.append(f"{where}: {error}")
            if error.reason == "empty text" and if_empty:
                remedies.setdefault(if_empty)
    total = len(posts) + len(faults)
    if not total:
        raise DataError("no post was given")
    for ours, style in columns.date_styles.items():
        for note in style.notes(columns.names(ours)[0]):
            _note(f"the posts: {note}")
    faults += _repeated(posts, places)
    if faults:
        raise DataError("; ".join([_several(faults, total), *remedies]))
    return posts


class _WrongTypeError(LineError):
    pass


def _post(item: Any, columns: PostColumns, ids: ContentIds) -> Post:
    """Return a post.

    Raises:
        LineError: if it is invalid; `_WrongTypeError` if it is not a post.
    """
    if isinstance(item, Post):
        return item
    row = {columns.names("text")[-1]: item} if isinstance(item, str) else row_of(item)
    if row is None:
        raise _WrongTypeError(type_name(item))
    if columns.id == "id" and "id" not in row:
        columns = _without_id(columns)
    return post_from_row(dict(row), columns, ids=ids)


# All rows of an input have the same columns.
@lru_cache(maxsize=4)
def _without_id(columns: PostColumns) -> PostColumns:
    found = columns.of_file({"id": None}, columns.date_styles)
    assert isinstance(found, PostColumns)
    return found


def _repeated(posts: Sequence[Post], places: Sequence[str]) -> Iterator[str]:
    first: dict[str, str] = {}
    for post, where in zip(posts, places):
        if (before := first.setdefault(post.id, where)) != where:
            kind, _, label = where.partition(" ")
            yield f"{kind}s {before.partition(' ')[2]} and {label} have the same id {post.id!r}; ids must differ"


def _several(faults: Sequence[str], total: int) -> str:
    if len(faults) == 1:
        return faults[0]
    shown = [*faults[:_SHOWN_FAULTS], *(["…"] if len(faults) > _SHOWN_FAULTS else [])]
    return f"{len(faults):,} faults in {total:,} posts:" + "".join(f"\n  {fault}" for fault in shown)


def _expected(item: Any) -> str:
    if isinstance(item, (bytes, bytearray)):
        return "give texts: post.decode()"
    if isinstance(item, tuple) and hasattr(item, "_fields"):
        return "give the data frame itself, or dicts: row._asdict()"
    return "give texts, dicts with a text, linker.Post objects, or nothing but Path objects"


AnyArticle: TypeAlias = "str | Path | Article | Mapping[str, Any]"
AnyArticles: TypeAlias = "AnyArticle | Iterable[AnyArticle] | ArrowStream"
AnyPost: TypeAlias = "str | Path | Post | Mapping[str, Any]"
AnyPosts: TypeAlias = "AnyPost | Iterable[AnyPost] | ArrowStream"
AnyColumns: TypeAlias = "PostColumns | Mapping[str, str | list[str] | None]"

_EXPECTED_ARTICLE = (
    "give a web address, the path of a file, a text, a linker.Article, or a dict with title and text"
)


def as_articles(given: AnyArticles, published: Published | None = None) -> list[Article]:
    """Return articles from anything that `Ranker.rank` accepts.

    Args:
        given: the articles.
        published: date of the article, or of those of several that have none.

    Raises:
        LinkerError: if an article cannot be fetched or read, or there is none.
    """
    articles: list[Article] = []
    for number, item in enumerate(_article_items(given), 1):
        if isinstance(item, Article):
            articles.append(item)
        elif (row := row_of(item)) is not None:
            try:
                articles.append(article_from_row({"id": f"article-{number}", **row}, ArticleColumns()))
            except LineError as error:
                raise DataError(f"article {number}: {error}") from error
        elif not isinstance(item, (str, Path)):
            raise DataError(f"article {number} is {type_name(item)}; {_EXPECTED_ARTICLE}")
        elif isinstance(item, Path) or names_source(item):
            articles += load_articles(item)
        elif item.strip():
            articles.append(article_from_text(item, f"article-{number}"))
        else:
            raise DataError("the article is empty")
    if not articles:
        raise DataError("no article was given")
    if published is not None:
        articles = dated(articles, publication_date(published, "published"), "published")
    return articles


def _article_items(given: AnyArticles) -> Iterable[Any]:
    if isinstance(given, (str, Path, Article)) or row_of(given) is not None:
        return [given]
    if (frame := frame_of(given)) is not None:
        columns = ArticleColumns()
        columns.check(["id", *frame.columns], f"the {frame.kind} of articles")
        return frame.rows()
    if isinstance(given, (bytes, bytearray, set, frozenset)) or not isinstance(given, Iterable):
        raise DataError(f"the article is {type_name(given)}; {_EXPECTED_ARTICLE}")
    return given


def type_name(value: object) -> str:
    """Return the type of a value with an indefinite article: `an int`, `a pandas.Series`."""
    kind = type(value)
    name = (
        kind.__name__
        if kind.__module__ == "builtins"
        else f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
    )
    if value is None or isinstance(value, bytes):
        return "None" if value is None else "bytes"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
