"""Convert the arguments of `Ranker.rank` to articles and posts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from types import NoneType
from typing import Any, TypeAlias, TypeVar

from linker.articles.extraction import article_from_text
from linker.articles.loading import load_articles, names_source
from linker.articles.publication import Published, dated, publication_date
from linker.common.console import info
from linker.common.errors import DataError, LinkerError
from linker.data.files.line_errors import LineError
from linker.data.files.rows import Row, Table
from linker.data.identity import ContentIds
from linker.data.io.column_detection import columns_of
from linker.data.io.columns import ArticleColumns, PostColumns
from linker.data.io.fields import date_of, id_of
from linker.data.io.input_files import check_inputs
from linker.data.io.records import article_from_row, post_from_row, posts_of_records, spool_posts
from linker.data.platforms.recognition import BY_COLUMNS, check_format
from linker.data.types import Article, Post
from linker.ranking.data_frames import (
    EMPTY_IN_SERIES,
    ArrowStream,
    Frame,
    frame_of,
    kind_of,
    plain,
    row_of,
    series_of,
)

_FILE_OF_POSTS = re.compile(
    r"[^\s]+\.(jsonl?|ndjson|csv|tsv|parquet|xlsx|txt)(\.(gz|bz2|xz|zst))?", re.IGNORECASE
)
_SHOWN_FAULTS = 5
_EXPECTED = (
    "give a text or path, a list of texts, paths, dicts or linker.Post objects, a Series or a data frame"
)


def as_posts(
    given: AnyPosts | Frame, columns: AnyColumns | None = None, format: str | None = None
) -> Sequence[Post]:
    """Return posts from anything that `Ranker.rank` accepts.

    Args:
        given: the path of a file; a text, Post or dict; a list or any other iterable of texts, Posts and dicts, or of
            nothing but paths of files; a data frame, or a Series of texts, of pandas, polars or PyArrow.
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
        with suppress(LineError):  # reported below, with the place
            posts = [*map(_typed, given)]  # a copy: rankings read posts when they are accessed
            if len({post.id for post in posts}) == len(posts):
                return posts
    known = post_columns(columns)
    if format is not None:
        check_format(str(format))
        known = copy(known)
        known.format = format
    if isinstance(given, Path) or (isinstance(given, str) and _names_file(given)):
        check_inputs([str(given)])
        return spool_posts(str(given), known)
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
    paths = [str(item) for _, item in items if isinstance(item, (str, Path))]
    if items and all(
        isinstance(x, Path) or (isinstance(x, str) and _FILE_OF_POSTS.fullmatch(x)) for _, x in items
    ):
        check_inputs(paths)
        return spool_posts(paths, known)
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


def _names_file(text: str) -> bool:
    """Return whether a string is a path or an address, not the text of a post: a single word, or named like a file."""
    words, text = len(text.split()), text.strip()
    is_path = re.search(f"{_FILE_OF_POSTS.pattern}$", text, re.IGNORECASE) or (words and os.path.exists(text))
    return words == 1 or ("\n" not in text and bool(is_path))


def _post_items(given: Any, columns: PostColumns) -> list[tuple[str, Any]]:
    """Return the single posts, each with its place in messages."""
    row = row_of(given)
    if isinstance(given, (str, Post, Mapping)) or (row is not None and set(columns.names("text")) & set(row)):
        return [("post 1", given)]
    if (series := series_of(given)) is not None:
        return [
            (f"post {label}", value) for label, value in zip(series[1] or range(len(series[0])), series[0])
        ]
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
    """Detect the columns as in files, and report what was guessed; `shown` names the posts.

    Raises:
        MissingColumnsError: if a column is missing, unless `check` is false.
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
    """Return the posts in rows of (name in messages, item); `if_empty` is the remedy for posts without text."""
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
        raise DataError("; ".join([several(faults, f"{total:,} posts"), *remedies]))
    return posts


class _WrongTypeError(LineError):
    pass


_Record = TypeVar("_Record", Article, Post)


#: Fields of articles and posts, and what they may be.
_FIELDS: tuple[tuple[str, Any, str], ...] = (
    ("title", str, "a string"),
    ("text", str, "a string"),
    ("article_ids", (tuple, list), "a tuple of ids"),
    ("extra", dict, "a dict"),
)


def _typed(given: _Record) -> _Record:
    """Return an article or post whose fields have their types, which Python does not check.

    Raises:
        LineError: if a field has another type, or the id or the date cannot be converted.
    """
    for name, kinds, expected in _FIELDS:
        if hasattr(given, name) and not isinstance(value := getattr(given, name), kinds):
            raise LineError("wrong type", f"the {name} is {type_name(value)}, expected {expected}")
    columns = ArticleColumns() if isinstance(given, Article) else PostColumns()
    time = "published" if isinstance(given, Article) else "created_at"
    if isinstance(given.id, str) and type(getattr(given, time)) in (datetime, NoneType):
        return given
    values = {"id": plain(given.id), time: plain(getattr(given, time))}
    changed: dict[str, Any] = {"id": id_of(values, columns), time: date_of(values, columns, time)}
    return replace(given, **changed)


def _post(item: Any, columns: PostColumns, ids: ContentIds) -> Post:
    """Return a post.

    Raises:
        LineError: if it is invalid; `_WrongTypeError` if it is not a post.
    """
    if isinstance(item, Post):
        return _typed(item)
    row = {columns.names("text")[-1]: item} if isinstance(item, str) else row_of(item)
    if row is None:
        raise _WrongTypeError(type_name(item))
    if columns.id == "id" and "id" not in row:
        columns = _without_id(columns)
    return post_from_row(dict(row), columns, ids=ids)


# All rows of an input have the same columns.
@lru_cache(maxsize=4)
def _without_id(columns: PostColumns) -> PostColumns:
    return columns.of_file({"id": None}, columns.date_styles)


def _repeated(posts: Sequence[Post], places: Sequence[str]) -> Iterator[str]:
    first: dict[str, str] = {}
    for post, where in zip(posts, places):
        if (before := first.setdefault(post.id, where)) != where:
            kind, _, label = where.partition(" ")
            yield f"{kind}s {before.partition(' ')[2]} and {label} have the same id {post.id!r}; ids must differ"


def several(faults: Sequence[str], among: str) -> str:
    """Return a message of one or several faults `among` records, such as `12 posts`."""
    if len(faults) == 1:
        return faults[0]
    shown = [*faults[:_SHOWN_FAULTS], *(["…"] if len(faults) > _SHOWN_FAULTS else [])]
    return f"{len(faults):,} faults in {among}:" + "".join(f"\n  {fault}" for fault in shown)


def _expected(item: Any) -> str:
    if item is None:
        return f"give a text; {EMPTY_IN_SERIES}"
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
        row = row_of(item)
        if isinstance(item, Article) or row is not None:
            try:
                if row is not None:
                    item = article_from_row({"id": f"article-{number}", **row}, ArticleColumns())
                articles.append(_typed(item))
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
    columns = ArticleColumns()
    row = row_of(given)
    if isinstance(given, (str, Path, Article, Mapping)) or (row is not None and {*columns.any_of} & {*row}):
        return [given]
    if (frame := frame_of(given)) is not None:
        columns.check(["id", *frame.columns], f"the {frame.kind} of articles")
        return frame.rows()
    if (series := series_of(given)) is not None:
        return series[0]
    if isinstance(given, (bytes, bytearray, set, frozenset)) or not isinstance(given, Iterable):
        raise DataError(f"the article is {type_name(given)}; {_EXPECTED_ARTICLE}")
    return given


def check_path(given: object, name: str) -> None:
    """Check that an argument is a path; `name` is its name.

    Raises:
        LinkerError: if it is not.
    """
    if not isinstance(given, (str, os.PathLike)):
        raise LinkerError(f"{name} is {type_name(given)}; give a string or Path")


def type_name(value: object) -> str:
    """Return the type of a value with an indefinite article: `an int`, `a pandas.Series`."""
    if value is None or isinstance(value, bytes):
        return "None" if value is None else "bytes"
    name = kind_of(value)
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
