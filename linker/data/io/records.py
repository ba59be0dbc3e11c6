"""Read articles and posts from files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple, Protocol, TypeVar

from linker.common.errors import DataError
from linker.data.files.line_errors import DUPLICATES, BadLines, InputFile, LineError, OnError
from linker.data.files.rows import Row, Table
from linker.data.files.streams import shown_name
from linker.data.html_text import plain_text
from linker.data.identity import ContentIds, content_id_of
from linker.data.io.column_detection import columns_of, open_records
from linker.data.io.columns import ArticleColumns, Columns, PostColumns, report_left_out
from linker.data.io.fields import (
    Values,
    date_of,
    first_of,
    id_of,
    label_of,
    labels_of,
    required_text,
    seems_rounded,
)
from linker.data.io.folders import files_with_records
from linker.data.io.platform_rows import deleted_by, deleted_in, post_rows, recognized
from linker.data.types import Article, Post


class _Identified(Protocol):
    @property
    def id(self) -> str: ...


Record = TypeVar("Record", bound=_Identified)
FileRow = tuple[InputFile, Columns, Row]


def read_articles(
    paths: str | Sequence[str],
    columns: ArticleColumns | None = None,
    on_error: OnError = "strict",
) -> list[Article]:
    """Read all articles of some files (`-`: standard input), in order.

    Args:
        paths: JSON lines, JSON, CSV, TSV, Parquet or Excel files, plain or compressed; also folders, patterns and
            addresses, see `linker.data.files.paths.input_files`.
        columns: names of the columns in the files.
        on_error: "strict" refuses files with bad lines, "skip" sets these lines aside.

    Raises:
        DataError: if a file cannot be read, has bad lines (in strict mode; up to 20 are listed), or contains no
            article.
    """
    with BadLines(on_error) as bad_lines:
        articles = list(iter_articles(paths, columns or ArticleColumns(), bad_lines))
    if not articles:
        raise empty_input_error(paths, "article")
    return articles


def read_posts(
    paths: str | Sequence[str],
    columns: PostColumns | None = None,
    on_error: OnError = "strict",
) -> list[Post]:
    """Read all posts of some files (`-`: standard input), in order; they need no article ids.

    Files may also be plain text (.txt), one post per line. Posts without ids get ids made from their content, see
    `linker.data.identity`. Of posts with the same id, the first is kept and the others are counted. For the arguments
    and errors see `read_articles`.
    """
    with BadLines(on_error) as bad_lines:
        posts = list(iter_posts(paths, columns or PostColumns(), bad_lines))
    if not posts:
        raise empty_input_error(paths, "post")
    return posts


def iter_articles(
    paths: str | Sequence[str], columns: ArticleColumns, bad_lines: BadLines
) -> Iterator[Article]:
    """Yield the articles of some files; bad lines are reported when the iterator passes them."""
    return iter_records(
        paths, columns, bad_lines, lambda row, columns, source, ids: article_from_row(row.values, columns)
    )


def iter_posts(
    paths: str | Sequence[str],
    columns: PostColumns,
    bad_lines: BadLines,
    known: set[str] | None = None,
    each: Callable[[Post], Post] | None = None,
) -> Iterator[Post]:
    """Yield the posts of some files, each id once.

    Args:
        paths: see `read_articles`.
        columns: names of the columns in the files.
        bad_lines: where bad lines are reported.
        known: ids of the articles; a line with any other article id is bad. None: not checked.
        each: takes the post of every row, also repeated ones, and returns the post to use.
    """

    def parse(row: Row, columns: Columns, source: str, ids: ContentIds) -> Post:
        post = post_from_row(row.values, columns, source, ids)
        post = each(post) if each else post
        unknown = [] if known is None else [i for i in post.article_ids if i not in known]
        if unknown:
            raise LineError("unknown article id", ", ".join(unknown))
        return post

    return iter_records(paths, columns, bad_lines, parse)


def stream_posts(paths: str | Sequence[str], columns: PostColumns, bad_lines: BadLines) -> Iterator[Post]:
    """Yield the posts of some files in constant memory; repeated ids, and repeats without ids, are not detected.

    Args:
        paths: see `read_articles`.
        columns: names of the columns in the files.
        bad_lines: where bad lines are reported.
    """
    files = files_with_records(as_list(paths), columns, bad_lines)
    yield from posts_of_files(files, columns, bad_lines, deleted_in(files, columns))


def posts_of_files(
    files: Sequence[str],
    columns: PostColumns,
    bad_lines: BadLines,
    deleted: set[bytes],
) -> Iterator[Post]:
    """Yield the posts of some files as `stream_posts` does.

    Args:
        files: some of the files that `input_files` returns.
        columns: names of the columns in the files.
        bad_lines: where bad lines are reported.
        deleted: what all the files delete, see `deleted_in`.
    """
    rows = chain.from_iterable(iter_rows(path, columns, bad_lines, deleted) for path in files)
    return _records(rows, lambda row, columns, source: post_from_row(row.values, columns, source))


def posts_of_records(shown: str, records: Sequence[Values], columns: PostColumns) -> list[Post] | None:
    """Return the posts of a platform's records, each id once; None if they are recognized as those of none.

    Raises:
        DataError: if a record is neither a post nor known to be none; up to 20 are listed.
    """
    with BadLines() as bad_lines:
        file = bad_lines.file(shown)
        rows = (Row(number, dict(record), "") for number, record in enumerate(records, 1))
        formats, table = recognized(Table("json", None, rows), columns)
        if formats is None:
            return None
        file.lines = len(records)
        rows_of_posts = post_rows(file, table, formats, columns, deleted_by(formats, records))
        file_rows = ((file, flat, row) for flat, row in rows_of_posts)
        posts = list(_records(file_rows, lambda row, flat, source: post_from_row(row.values, flat), {}))
    return posts


def iter_records(
    paths: str | Sequence[str],
    columns: Columns,
    bad_lines: BadLines,
    parse: Callable[[Row, Columns, str, ContentIds], Record],
) -> Iterator[Record]:
    """Yield the records that `parse` makes of the rows, each id once.

    Of posts with the same id, as in two crawls, the first is kept and the others are counted. Any other repeated id,
    and a post with a link that the first one does not have, makes a line bad.

    Args:
        paths: see `read_articles`.
        columns: names of the columns in the files.
        bad_lines: where bad lines are reported.
        parse: takes a row, its file's columns, where it was read, and what numbers exact repeats of records without an
            id; raises LineError.
    """
    first: dict[str, _First] = {}
    ids = ContentIds(first)
    files = files_with_records(as_list(paths), columns, bad_lines)
    deleted = deleted_in(files, columns)
    rows = chain.from_iterable(iter_rows(path, columns, bad_lines, deleted) for path in files)
    yield from _records(rows, lambda row, columns, source: parse(row, columns, source, ids), first)


class _First(NamedTuple):
    """What is remembered of the first record with an id."""

    file: str
    line: int
    text: int
    article_ids: tuple[str, ...]


def _records(
    rows: Iterable[FileRow],
    parse: Callable[[Row, Columns, str], Record],
    first: dict[str, _First] | None = None,
) -> Iterator[Record]:
    """Yield the records that `parse` makes of rows; with `first`, which is filled, each id once."""
    for file, columns, row in rows:
        shown = file.shown
        try:
            record = parse(row, columns, f"{shown}:{row.line}")
            if first is not None:
                new = _First(
                    shown, row.line, hash(getattr(record, "text", None)), getattr(record, "article_ids", ())
                )
                if (before := first.setdefault(record.id, new)) is not new:
                    # A link to another article must not be lost.
                    if isinstance(record, Post) and set(new.article_ids) <= set(before.article_ids):
                        file.left_out[DUPLICATES] += 1
                        file.other_texts += new.text != before.text
                        continue
                    earlier = f"{before.file}, " * (before.file != shown) + f"line {before.line}"
                    raise LineError("duplicate id", f"{record.id} (first in {earlier})")
        except LineError as error:
            file.bad(row.line, error, row.raw)
            continue
        file.posts += 1
        if len(record.id) > 16 and record.id.isdecimal():
            file.count_id("long", record.id)
            if seems_rounded(record.id):
                file.count_id("rounded", record.id)
        for name in columns.names("id"):
            if (written := row.values.get(name)) is not None and str(written).strip() != record.id:
                file.count_id("restored", f"{written} is {record.id}")
        yield record


def iter_rows(path: str, columns: Columns, bad_lines: BadLines, deleted: set[bytes]) -> Iterator[FileRow]:
    """Yield the rows of one file, each with the file and its columns; of a platform's records, its posts.

    Args:
        path: the file.
        columns: names of its columns.
        bad_lines: where bad lines are reported.
        deleted: what all the files delete, see `deleted_in`.

    Raises:
        DataError: if a required column is in no line, or the file cannot be read.
    """
    file = bad_lines.file(path)
    shown = shown_name(path)
    with open_records(file, columns) as table:
        if table.format == "txt":
            columns = columns.plain_text(shown)
        formats, table = recognized(table, columns)
        if formats is not None:
            assert isinstance(columns, PostColumns)
            for flat, row in post_rows(file, table, formats, columns, deleted):
                yield file, flat, row
            return
        detected = columns_of(columns, table)
        if table.columns is not None:
            detected.check(shown)
        bad_lines.note(shown, [*table.notes, *detected.notes])
        present: dict[str, None] = {}
        for row in detected.rows:
            if table.columns is None and not row.values.keys() <= present.keys():
                present.update(dict.fromkeys(row.values))
            yield file, detected.columns, row
        if present:
            detected.columns.check(list(present), shown, detected.likely)
        report_left_out(file, detected.columns, bad_lines)


def article_from_row(values: Values, columns: Columns) -> Article:
    """Make an article of a row.

    Raises:
        LineError: if a value is missing or of the wrong type.
    """
    return Article(
        id=id_of(values, columns),
        **required_text(values, columns),
        url=label_of(values, columns, "url"),
        published=date_of(values, columns, "published"),
        story=label_of(values, columns, "story"),
        split=label_of(values, columns, "split"),
    )


def post_from_row(values: Values, columns: Columns, source: str = "", ids: ContentIds | None = None) -> Post:
    """Make a post of a row; if the file has no column of ids, its id is made from its content.

    Args:
        values: the row, by column of the file.
        columns: names of the columns in the file.
        source: where the row was read, see `Post`.
        ids: numbers exact repeats; None: they get the same id.

    Raises:
        LineError: if a value is missing or of the wrong type.
    """
    article_id = label_of(values, columns, "article_id")
    article_ids = [*([article_id] if article_id else []), *labels_of(values, columns, "article_ids")]
    taken = columns.all_names()
    extra = {name: value for name, value in values.items() if name not in taken}
    if columns.names("lang") not in ([], ["lang"]):
        language = first_of(values, columns, "lang")
        for name in columns.names("lang"):
            if "." in name:  # a copy of a nested value
                extra.pop(name, None)
        if language is not None:
            extra.setdefault("lang", language)
    text = required_text(values, columns)["text"]
    if not (isinstance(columns, PostColumns) and columns.plain):
        text = plain_text(text)
    if not text:
        raise LineError("empty text", "only HTML tags")
    post = Post(
        id=id_of(values, columns) if columns.names("id") else "",
        text=text,
        article_ids=tuple(dict.fromkeys(article_ids)),
        created_at=date_of(values, columns, "created_at"),
        split=label_of(values, columns, "split"),
        extra=extra,
        source=source,
    )
    return post if post.id else identified(post, ids)


def identified(post: Post, ids: ContentIds | None = None) -> Post:
    """Return a post with an id made from its content; exact repeats are numbered if there are `ids`."""
    made = content_id_of(post)
    return replace(post, id=made if ids is None else ids.numbered(made))


def as_list(paths: str | Sequence[str]) -> list[str]:
    """Return one path or several as a list."""
    return [paths] if isinstance(paths, str) else list(paths)


def empty_input_error(paths: str | Sequence[str], kind: str) -> DataError:
    """Make the error for files without a single record of a kind, such as "post"."""
    return DataError(f"{', '.join(map(shown_name, as_list(paths)))}: does not contain a single {kind}")
